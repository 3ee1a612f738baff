import { chainOf, explorerLink } from '../../chains/index.ts';
import type { SeenMove, SeenTransaction } from '../../chains/seen.ts';
import { ChainCursor, DepositAddress, GasWallet } from '../../db/entities/index.ts';
import { assetOf, NATIVE_CURRENCY, NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Looking } from './found.ts';
import type { Given } from './given.ts';

/** What is made of a transaction, in words for who has to answer a customer. */
type Verdict = { readonly says: string; readonly action: string };

/** What a chain says of a transaction that no row knows. */
export type ChainAnswer = Verdict & {
  readonly network: Network;
  readonly outcome: 'off' | 'no_answer' | 'unknown' | 'waits' | 'failed' | 'succeeded';
  readonly block_number: number | null;
  readonly from: string | null;
  readonly moves: readonly MoveView[];
  /** Where to look with one's own eyes. */
  readonly explorer: string | null;
};

type MoveView = {
  readonly to: string;
  readonly amount: string;
  /** A currency of ours, or a token that is not credited. */
  readonly of: string;
  /** Whose address that is, if it is one of ours. */
  readonly ours: string | null;
};

/** The chains that can be asked about a transaction: those that are configured. */
export type AskedForTransactions = ReadonlyMap<
  Network,
  { lookUp(txHash: string, signal: AbortSignal): Promise<SeenTransaction | undefined> }
>;

const UNKNOWN: Verdict = {
  says: 'no endpoint knows this transaction',
  action:
    'where another network knows it, see there; else ask the customer for the hash once more and for the network: what was just sent is there within minutes, and what a wallet dropped never',
};

/**
 * Asks every configured chain for a transaction that no row knows, and says for each what that means and what
 * to do: the one that was off or did not answer is named as well.
 */
export async function askChains(
  looking: Looking,
  chains: AskedForTransactions,
  { hashes }: Given,
  signal: AbortSignal,
): Promise<ChainAnswer[]> {
  const heights = await readHeights(looking);
  return await Promise.all(
    hashes.map(async ({ network, hash }): Promise<ChainAnswer> => {
      const explorer = explorerLink(looking.pages.explorers, network, 'transaction', hash);
      const facts = { network, block_number: null, from: null, moves: [], explorer } as const;
      const chain = chains.get(network);
      if (!chain)
        return {
          ...facts,
          outcome: 'off',
          says: 'it is not watched by this configuration, so it was not asked',
          action: `set ${chainOf(network).watchedBy} here and ask again, or look at an explorer`,
        };
      try {
        const seen = await chain.lookUp(hash, signal);
        if (!seen) return { ...facts, outcome: 'unknown', ...UNKNOWN };
        const { format } = chainOf(network).addresses;
        const moves = await viewsOf(looking, network, seen.moves);
        const read = heights.find((one) => one.network === network);
        return {
          ...facts,
          outcome: seen.outcome,
          block_number: seen.blockNumber,
          from: seen.from === null ? null : format(seen.from),
          moves: moves.map(({ kind: _, ...move }) => move),
          ...judge(
            { network, hash, seen, read },
            moves.flatMap(({ kind }) => kind ?? []),
          ),
        };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const says = `it could not be asked: ${reason}`;
        return { ...facts, outcome: 'no_answer', says, action: 'see "doctor", and ask again' };
      }
    }),
  );
}

type Case = {
  readonly network: Network;
  readonly hash: string;
  readonly seen: SeenTransaction;
  readonly read: ReadSoFar | undefined;
};

/** What pays us: `credited` is to be a deposit, and nothing else is. */
type Kind = 'credited' | 'token' | 'test' | 'elsewhere' | 'gas';

/** By what it pays of ours, in the order of its moves. */
function judge({ network, hash, seen, read }: Case, paid: readonly Kind[]): Verdict {
  const { blockNumber, outcome } = seen;
  if (outcome === 'waits')
    return {
      says: 'it was sent, and is in no block yet',
      action: "wait until a block holds it: that is up to its sender's fee; it is recorded by itself then",
    };
  if (outcome === 'failed')
    return {
      says: `block ${blockNumber} holds it, and it failed: it moved nothing`,
      action: 'tell the customer that this payment failed on the chain, and that the money never left',
    };
  const kind = paid.includes('credited') ? 'credited' : paid[0];
  const at = `it succeeded in block ${blockNumber} and pays`;
  if (kind === undefined)
    return {
      says: `${at} none of our addresses`,
      action:
        'compare the receivers with the customer\'s address ("find EMAIL"): money that went elsewhere is not here',
    };
  if (kind !== 'credited') return { says: `${at} ${WRONG[kind].says}`, action: WRONG[kind].action };
  const { says, action } = due(network, hash, blockNumber ?? 0, read);
  return { says: `${at} an address of ours${says}`, action };
}

const WRONG: Readonly<Record<Exclude<Kind, 'credited'>, Verdict>> = {
  test: {
    says: 'an address of test mode: real money there is credited to nobody',
    action: 'it lies under the wallet of test mode, from which its owner can move it by hand',
  },
  elsewhere: {
    says: 'an address that is ours on another network: wrong network',
    action:
      'nothing is credited for it; the money lies under the key of that address, from which the owner of the wallet phrase can move it by hand',
  },
  gas: {
    says: 'our gas wallet, where nothing is credited',
    action: 'settle it with whoever sent it',
  },
  token: {
    says: 'an address of ours with a token that is not credited here',
    action:
      'tell the merchant: the token lies on the address, and can be moved by hand by the owner of the wallet phrase',
  },
};

/** What should be a deposit, and is none yet. */
function due(network: Network, hash: string, block: number, read: ReadSoFar | undefined): Verdict {
  const claim = `"deposit claim --tx ${hash} --network ${network}"`;
  if (!read)
    return {
      says: `, and ${network} was never read`,
      action:
        'start a worker with its RPC URLs; what came before its first block is recorded with "deposit claim"',
    };
  if (block > read.scanned)
    return {
      says: `; blocks are read up to ${read.scanned}`,
      action: 'nothing to do: its block is read next; where that lasts, see "doctor" and "deposit stuck"',
    };
  if (block < read.first_block)
    return { says: `, before block ${read.first_block}, the first that was ever read`, action: claim };
  return {
    says: `, its block was read${block <= read.finalized ? '' : ' (it is not final yet)'}, and no deposit is recorded`,
    action: `read it again: "rescan --network ${network} --from ${block} --to ${block}"; where that finds nothing, ${claim} says why`,
  };
}

/** The moves, each with what it is for us; `kind` is undefined where it pays a stranger. */
async function viewsOf(
  { em, deps }: Looking,
  network: Network,
  moves: readonly SeenMove[],
): Promise<(MoveView & { readonly kind: Kind | undefined })[]> {
  const anywhere = {
    network: { $in: [...NETWORKS] },
    addressKey: { $in: [...new Set(moves.map(({ to }) => to))] },
  };
  const addresses = await em.find(DepositAddress, anywhere);
  const wallets = await em.find(GasWallet, anywhere);
  const { parse, format } = chainOf(network).addresses;
  const token = parse(deps.settings.contracts[network]);
  return moves.map(({ to, contract, units }) => {
    const own = addresses.filter((row) => row.addressKey === to);
    const here = own.find((row) => row.network === network) ?? own[0];
    const isGas = wallets.some((row) => row.addressKey === to);
    const isOther = contract !== null && contract !== token;
    const asset = assetOf(network, contract === null ? NATIVE_CURRENCY[network] : 'USDT');
    const place = here && `the ${here.network} address of customer ${here.customerId} (${here.mode})`;
    return {
      to: format(to),
      amount: isOther ? units.toString() : formatUnits(units, asset.decimals),
      of: isOther ? `base units of token ${format(contract)}` : asset.currency,
      ours: place ?? (isGas ? 'our gas wallet' : null),
      kind: here ? kindOf(network, here, isOther) : isGas ? 'gas' : undefined,
    };
  });
}

function kindOf(network: Network, { network: own, mode }: DepositAddress, isOther: boolean): Kind {
  if (own !== network) return 'elsewhere';
  if (mode === 'test') return 'test';
  return isOther ? 'token' : 'credited';
}

/** How far a chain was read, as the watcher wrote it down. */
export type ReadSoFar = {
  readonly network: Network;
  readonly first_block: number;
  readonly scanned: number;
  readonly head: number;
  readonly finalized: number;
  /** When the watcher last asked it. */
  readonly polled_at: string;
};

/** How far each chain was read; one that never was is missing. */
export async function readHeights({ em }: Looking): Promise<ReadSoFar[]> {
  const cursors = await em.find(ChainCursor, {}, { orderBy: { network: 'asc' } });
  return cursors.map((row) => ({
    network: row.network,
    first_block: row.firstBlock,
    scanned: row.scannedNumber,
    head: row.headNumber,
    finalized: row.finalizedNumber,
    polled_at: isoSeconds(row.polledAt),
  }));
}
