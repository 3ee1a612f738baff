import { OperatorError, UsageError } from '../../base/errors.ts';
import { WATCH_VARIABLES } from '../../chains/index.ts';
import { assetOf, type Currency, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import {
  listMisattributed,
  type Misattributed,
  misattributionText,
} from '../../services/reconciliation/explained.ts';
import { type Listed, listDifferences, reconcileNow } from '../../services/reconciliation/pass.ts';
import { compareUnscanned, isFollowed, unscannedBlocks } from '../../services/reconciliation/unscanned.ts';
import { type ViewColumn, viewTable } from '../print.ts';
import { type CommandGateway, withGateway } from '../process.ts';
import { rateReporter } from '../rate.ts';
import { type CommandCall, type CommandResult, type Explained, progress } from '../run.ts';
import { chainOf, untilInterrupted } from './chain.ts';
import { reconcileBooks } from './ledger-audit.ts';

type Options = Explained & {
  readonly network?: Network;
  readonly books?: true;
  readonly rebuildTotals?: true;
};

/** Compares the chains, or the books, with the ledger; a difference is a problem. */
export async function reconcile({ options }: CommandCall<Options>): Promise<CommandResult> {
  const { network, books, rebuildTotals, by, reason } = options;
  if (rebuildTotals && reason === undefined) throw new UsageError('--rebuild-totals needs --reason');
  if (!rebuildTotals && (by ?? reason) !== undefined)
    throw new UsageError('--by and --reason need --rebuild-totals');
  if (books && network !== undefined) throw new UsageError('--network has no meaning with --books');
  if (rebuildTotals && !books) throw new UsageError('--rebuild-totals needs --books');
  if (books) return await reconcileBooks(reason === undefined ? undefined : { by, reason });
  return await untilInterrupted('it was interrupted; the next run goes on from there', (signal) =>
    withGateway({}, (gateway) => compareChains(gateway, network, signal)),
  );
}

async function compareChains(
  gateway: CommandGateway,
  network: Network | undefined,
  signal: AbortSignal,
): Promise<CommandResult> {
  const enabled = network ? [network] : gateway.deps.settings.payments.watchedNetworks;
  if (enabled.length === 0) throw new OperatorError('No chain is on', `Set ${WATCH_VARIABLES} and try again`);
  const unread: Difference[] = [];
  for (const one of enabled) unread.push(...(await compareChain(gateway, one, signal)));
  const known = await listDifferences(gateway.deps, network);
  const differences = [...known.listed.map(present), ...unread];
  const total = known.total + unread.length;
  const misattributed = await listMisattributed(gateway.deps, network);
  for (const one of misattributed)
    progress(`Note: ${misattributionText(one)}; the sum of the address is what is compared.`);
  return {
    json: { ok: total === 0, total, differences, misattributed: misattributed.map(presentMisattributed) },
    text: viewTable(differences, COLUMNS) || 'Every balance agrees with the ledger.',
    problem: total === 0 ? undefined : problemOf(differences, total),
  };
}

const COLUMNS: readonly ViewColumn[] = [
  'network',
  'address',
  ['CHAIN LESS LEDGER', 'difference currency'],
  'since',
  [
    'REASON',
    ({ reason, explained_by: explained }) => [reason, ...(explained as readonly string[])].join('; '),
  ],
];

/**
 * Compares one chain as far as it was read, and what became final beyond that: only the differences of the
 * latter are returned, those of the former are kept in rows.
 */
async function compareChain(
  gateway: CommandGateway,
  network: Network,
  signal: AbortSignal,
): Promise<Difference[]> {
  const { deps } = gateway;
  const chain = await chainOf(gateway, network, signal);
  // Balances of this moment are compared when the watcher has read up to it: what it
  // has not read yet is no end of the blocks, and without one nothing is ever compared.
  const isOfNow = chain.reader.balances === undefined;
  if (isOfNow && !(await isFollowed(deps, network)))
    throw new OperatorError(
      `Balances could not be compared: ${network} tells only those of this moment, and no worker reads its blocks now`,
      'Start a worker, and run this again when it has caught up',
    );
  const blocks = isOfNow ? undefined : await unscannedBlocks(deps, chain, { signal }).catch(refused);
  // When the watcher is long behind, no endpoint tells the balances of that time
  // any more; those of now cover everything.
  const isNear = !blocks || blocks.to - blocks.from < chain.reader.pace.balanceBlocks;
  const watched = { signal, progress: rateReporter(network, 'addresses') };
  const leftOut = isNear ? await reconcileNow(deps, chain, watched).catch(refused) : 0;
  if (leftOut > 0)
    progress(
      `${network}: ${leftOut} ${leftOut === 1 ? 'address is' : 'addresses are'} paid so often that no balance could be compared; run this again, they come first then.`,
    );
  if (!blocks) return [];
  const say = rateReporter(`${network} after the last block that was read`, 'addresses');
  const found = await compareUnscanned(deps, chain, { blocks, signal, progress: say }).catch(refused);
  const reason = `no worker has read blocks ${blocks.from} to ${blocks.to} yet`;
  if (found.length === 0)
    progress(`${network}: ${reason}. The balances of its addresses have not changed in them.`);
  const since = isoSeconds(deps.now());
  return found.map((row) => ({
    network,
    address: row.address,
    currency: row.currency,
    ...amounts(row),
    from_block: blocks.from,
    to_block: blocks.to,
    reason: `${reason}; start one`,
    explained_by: [],
    since,
    unread: true,
  }));
}

function problemOf(differences: readonly Difference[], total: number): string {
  const shown = total > differences.length ? ` (the oldest ${differences.length} are shown)` : '';
  const count = `${total} ${total === 1 ? 'balance differs' : 'balances differ'}${shown}.`;
  if (differences.every((row) => row.unread))
    return `${count} Start a worker, and run this again when it has caught up.`;
  if (differences.every((row) => row.explained_by.length > 0))
    return `${count} Look at the deposits named with "gateway deposit stuck".`;
  return `${count} Find the transactions with an explorer and run "gateway deposit claim".`;
}

function refused(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new OperatorError(
    `Balances could not be compared: ${reason}`,
    'See "gateway doctor", and try again',
    { cause: error },
  );
}

type Difference = ReturnType<typeof amounts> & {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly from_block: number;
  readonly to_block: number;
  readonly reason: string;
  /** The alarms about deposits of this address that explain it; the difference remains all the same. */
  readonly explained_by: readonly string[];
  readonly since: string;
  /** True where it lies in blocks that the watcher will still read. */
  readonly unread: boolean;
};

function present({ kept, explained }: Listed): Difference {
  const { network, currency, address, reason } = kept;
  const differenceUnits = kept.differenceUnits - kept.replacedUnits;
  return {
    network,
    address,
    currency,
    ...amounts({ network, currency, differenceUnits }),
    from_block: kept.sinceNumber + 1,
    to_block: kept.foundNumber,
    reason,
    explained_by: explained,
    since: isoSeconds(kept.notedAt),
    unread: false,
  };
}

function presentMisattributed(row: Misattributed) {
  const { decimals } = assetOf(row.network, row.currency);
  return {
    deposit_id: row.depositId,
    network: row.network,
    address: row.address,
    transaction_hash: row.transactionHash,
    currency: row.currency,
    credited: formatUnits(row.creditedUnits, decimals),
    carried: formatUnits(row.provenUnits, decimals),
  };
}

function amounts(row: {
  readonly network: Network;
  readonly currency: Currency;
  readonly differenceUnits: bigint;
}) {
  return {
    difference: formatUnits(row.differenceUnits, assetOf(row.network, row.currency).decimals),
    difference_raw: row.differenceUnits.toString(),
  };
}
