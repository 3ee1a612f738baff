import { chainOf, explorerLink } from '../../chains/index.ts';
import type { SeenMove, SeenTransaction } from '../../chains/seen.ts';
import { DepositAddress, GasWallet } from '../../db/entities/index.ts';
import { assetOf, NATIVE_CURRENCY, NETWORKS, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import type { Looking } from './found.ts';
import type { Given } from './given.ts';
import { type ReadSoFar, readHeights } from './money.ts';

/** What a chain says of a transaction that no row knows, in words for who has to answer a customer. */
export type ChainAnswer = {
  readonly network: Network;
  readonly outcome: 'off' | 'no_answer' | 'unknown' | 'waits' | 'failed' | 'succeeded';
  readonly block_number: number | null;
  readonly from: string | null;
  readonly moves: readonly MoveView[];
  readonly says: string;
  readonly action: string;
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
      if (!chain) {
        return {
          ...facts,
          outcome: 'off',
          says: 'it is not watched by this configuration, so it was not asked',
          action: `set ${chainOf(network).watchedBy} here and ask again, or look at an explorer`,
        };
      }
      try {
        const seen = await chain.lookUp(hash, signal);
        if (!seen)
          return {
            ...facts,
            outcome: 'unknown',
            says: 'no endpoint knows this transaction',
            action: UNKNOWN,
          };
        const read = heights.find((one) => one.network === network);
        return { ...facts, ...(await judge(looking, { network, hash, seen, read })) };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return {
          ...facts,
          outcome: 'no_answer',
          says: `it could not be asked: ${reason}`,
          action: 'see "doctor", and ask again',
        };
      }
    }),
  );
}

const UNKNOWN =
  'where another network knows it, see there; else ask the customer for the hash once more and for the network: what was just sent is there within minutes, and what a wallet dropped never';

type Case = {
  readonly network: Network;
  readonly hash: string;
  readonly seen: SeenTransaction;
  readonly read: ReadSoFar | undefined;
};

async function judge(
  looking: Looking,
  { network, hash, seen, read }: Case,
): Promise<Omit<ChainAnswer, 'network' | 'explorer'>> {
  const { blockNumber: block, outcome } = seen;
  const { format } = chainOf(network).addresses;
  const moves = await viewsOf(looking, network, seen.moves);
  const facts = {
    outcome,
    block_number: block,
    from: seen.from === null ? null : format(seen.from),
    moves: moves.map(({ to, amount, of, ours }) => ({ to, amount, of, ours })),
  };
  if (outcome === 'waits')
    return {
      ...facts,
      says: 'it was sent, and is in no block yet',
      action: "wait until a block holds it: that is up to its sender's fee; it is recorded by itself then",
    };
  if (outcome === 'failed')
    return {
      ...facts,
      says: `block ${block} holds it, and it failed: it moved nothing`,
      action: 'tell the customer that this payment failed on the chain, and that the money never left',
    };
  const ours = moves.filter((move) => move.ours !== null);
  if (ours.length === 0)
    return {
      ...facts,
      says: `it succeeded in block ${block} and pays none of our addresses`,
      action:
        'compare the receivers with the customer\'s address ("find EMAIL"): money that went elsewhere is not here',
    };
  const known = ours.find(({ kind }) => kind === 'credited');
  if (!known) return { ...facts, ...wrong(block, ours[0]?.kind ?? 'token') };
  return { ...facts, ...due(network, hash, block ?? 0, read) };
}

type Kind = 'credited' | 'token' | 'test' | 'elsewhere' | 'gas';

/** What pays us, and is no deposit all the same. */
function wrong(block: number | null, kind: Kind): { readonly says: string; readonly action: string } {
  const at = `it succeeded in block ${block}`;
  if (kind === 'test')
    return {
      says: `${at} and pays an address of test mode: real money there is credited to nobody`,
      action: 'it lies under the wallet of test mode, from which its owner can move it by hand',
    };
  if (kind === 'elsewhere')
    return {
      says: `${at} and pays an address that is ours on another network: wrong network`,
      action:
        'nothing is credited for it; the money lies under the key of that address, from which the owner of the wallet phrase can move it by hand',
    };
  if (kind === 'gas')
    return {
      says: `${at} and pays our gas wallet, where nothing is credited`,
      action: 'settle it with whoever sent it',
    };
  return {
    says: `${at} and pays an address of ours with a token that is not credited here`,
    action:
      'tell the merchant: the token lies on the address, and can be moved by hand by the owner of the wallet phrase',
  };
}

/** What should be a deposit, and is none yet. */
function due(
  network: Network,
  hash: string,
  block: number,
  read: ReadSoFar | undefined,
): { readonly says: string; readonly action: string } {
  const at = `it succeeded in block ${block} and pays an address of ours`;
  if (!read)
    return {
      says: `${at}, and ${network} was never read`,
      action:
        'start a worker with its RPC URLs; what came before its first block is recorded with "deposit claim"',
    };
  if (block > read.scanned)
    return {
      says: `${at}; blocks are read up to ${read.scanned}`,
      action: 'nothing to do: its block is read next; where that lasts, see "doctor" and "deposit stuck"',
    };
  if (block < read.first_block)
    return {
      says: `${at}, before block ${read.first_block}, the first that was ever read`,
      action: `"deposit claim --tx ${hash} --network ${network}"`,
    };
  const final = block <= read.finalized ? '' : ' (it is not final yet)';
  return {
    says: `${at}, its block was read${final}, and no deposit is recorded`,
    action: `read it again: "rescan --network ${network} --from ${block} --to ${block}"; where that finds nothing, "deposit claim --tx ${hash} --network ${network}" says why`,
  };
}

async function viewsOf(
  { em, deps }: Looking,
  network: Network,
  moves: readonly SeenMove[],
): Promise<(MoveView & { readonly kind: Kind })[]> {
  const addressKey = { $in: [...new Set(moves.map(({ to }) => to))] };
  const anywhere = { network: { $in: [...NETWORKS] }, addressKey };
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
    return {
      to: format(to),
      amount: isOther ? units.toString() : formatUnits(units, asset.decimals),
      of: isOther ? `base units of token ${format(contract)}` : asset.currency,
      ours: here
        ? `the ${here.network} address of customer ${here.customerId} (${here.mode})`
        : isGas
          ? 'our gas wallet'
          : null,
      kind: kindOf(network, { here, isOther }),
    };
  });
}

function kindOf(
  network: Network,
  { here, isOther }: { readonly here: DepositAddress | undefined; readonly isOther: boolean },
): Kind {
  if (!here) return 'gas';
  if (here.network !== network) return 'elsewhere';
  if (here.mode === 'test') return 'test';
  return isOther ? 'token' : 'credited';
}
