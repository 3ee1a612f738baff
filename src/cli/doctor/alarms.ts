import { randomBytes } from 'node:crypto';
import { composeGateway } from '../../app/compose.ts';
import type { Run } from '../../base/data-dir.ts';
import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import { byNetwork } from '../../chains/index.ts';
import type { Config } from '../../config/index.ts';
import { byMode } from '../../domain/assets.ts';
import { type Alarm, type AlarmKind, readAlarms } from '../../services/alarms/alarms.ts';
import { listLoopRuns } from '../../services/loop-runs.ts';
import { readSchema } from './stores.ts';

const NO_KEYS = byMode(() => byNetwork(() => ''));
const WELL: Readonly<Record<AlarmKind, string>> = {
  chain: 'every part of every watched chain goes on',
  balances: 'the comparison with the chain goes on, and nothing differs',
  deposits: 'none is stuck',
  wallets: 'none of ours was used by anybody else',
  payouts: 'none waits for a person',
  payment_links: 'none is overdue',
  webhooks: 'each is tried when it is due',
  outbox: 'nothing waits for Temporal',
  loops: 'every background loop ran well lately',
};

/**
 * Everything that does not go on by itself, one check for each kind, from rows alone. No check where there is
 * no database or its schema is another one: other checks say that.
 */
export async function checkAlarms(config: Config, run: Run | undefined, log: Logger): Promise<Finding[]> {
  const databaseUrl = config.database.kind === 'url' ? config.database.url : run?.databaseUrl;
  if (databaseUrl === undefined) return [];
  const environment = { databaseUrl, temporal: undefined, xpubs: NO_KEYS, secretsKey: randomBytes(32) };
  const gateway = await composeGateway({ config, environment, log, name: 'doctor', poolSize: 2 });
  try {
    const { missing, ahead } = await readSchema(gateway.deps.orm.em.fork());
    if (missing.length + ahead.length > 0) return [];
    const workersRan = (await listLoopRuns(gateway.deps)).length > 0;
    return (await readAlarms(gateway.deps)).map((alarm) => checkOf(alarm, workersRan));
  } finally {
    await gateway.close();
  }
}

function checkOf({ kind, count, reason, action }: Alarm, workersRan: boolean): Finding {
  if (count !== 0) return bad(kind, reason, action);
  return good(
    kind,
    kind === 'loops' && !workersRan ? 'no worker has run over this database yet' : WELL[kind],
  );
}
