import type { Command } from 'commander';
import type { BalanceDifference } from '../db/entities/index.ts';
import { assetOf, NETWORKS, type Network } from '../domain/assets.ts';
import { isoSeconds } from '../domain/events.ts';
import { formatUnits } from '../domain/money.ts';
import { OperatorError } from '../errors.ts';
import { oneOf } from './arguments.ts';
import { answering, leaf, progress } from './run.ts';
import { table } from './table.ts';

const SAY_EVERY = 2_000;

/** `reconcile`. */
export function addReconcileCommand(program: Command): void {
  leaf(program, 'reconcile', 'compares every balance on the chains with the ledger')
    .option('--network <network>', 'only this chain', oneOf(...NETWORKS))
    .action(answering(reconcile));
}

async function reconcile({ options }: { options: { readonly network?: Network } }) {
  const [{ withGateway }, { chainOf }, { listDifferences, reconcileNow }] = await Promise.all([
    import('./ground.ts'),
    import('./chain.ts'),
    import('../services/chain/round.ts'),
  ]);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new Error('it was interrupted; the next run goes on from there'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const differences = await withGateway({}, async (gateway) => {
      const enabled: readonly Network[] = options.network ? [options.network] : gateway.config.bsc.enabled ? ['bsc'] : [];
      if (enabled.length === 0) throw new OperatorError('No chain is on', 'Set BSC_RPC_URLS and try again');
      for (const network of enabled) {
        const chain = await chainOf(gateway, network, stop.signal);
        await reconcileNow(gateway.deps, chain, { signal: stop.signal, progress: reporter(network) }).catch(refused);
      }
      return (await listDifferences(gateway.deps, options.network)).map(present);
    });
    const rows = differences.map((row) => [row.network, row.address, `${row.difference} ${row.currency}`, row.since, row.reason]);
    return {
      json: { ok: differences.length === 0, differences },
      text: table(['NETWORK', 'ADDRESS', 'CHAIN LESS LEDGER', 'SINCE', 'REASON'], rows, 'Every balance agrees with the ledger.'),
      problem:
        differences.length === 0
          ? undefined
          : `${differences.length} ${differences.length === 1 ? 'balance differs' : 'balances differ'}. Find the transactions with an explorer and run "gateway deposit claim".`,
    };
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function refused(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new OperatorError(`Balances could not be compared: ${reason}`, 'See "gateway doctor", and try again', { cause: error });
}

function present(row: BalanceDifference) {
  const { decimals } = assetOf(row.network, row.currency);
  const { differenceUnits: units } = row;
  return {
    ...{ network: row.network, address: row.address, currency: row.currency },
    difference: `${units < 0n ? '-' : ''}${formatUnits(units < 0n ? -units : units, decimals)}`,
    ...{ difference_raw: units.toString(), from_block: row.sinceNumber + 1, to_block: row.foundNumber },
    ...{ reason: row.reason, since: isoSeconds(row.notedAt) },
  };
}

function reporter(network: Network): (checked: number) => void {
  let said = 0;
  return (checked) => {
    if (checked - said < SAY_EVERY) return;
    said = checked;
    progress(`${network}: ${checked} addresses compared`);
  };
}
