import { randomBytes } from 'node:crypto';
import { composeGateway } from '../../app/compose.ts';
import type { Run } from '../../base/data-dir.ts';
import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import { byNetwork } from '../../chains/index.ts';
import type { Config } from '../../config/index.ts';
import { byMode } from '../../domain/assets.ts';
import type { Deps } from '../../services/deps.ts';
import { sentenceOf } from '../../services/operations/conditions/condition.ts';
import {
  CONDITIONS,
  type ReadKind,
  readAlarms,
  readKinds,
} from '../../services/operations/conditions/conditions.ts';
import { readSchema } from './stores.ts';

const NO_KEYS = byMode(() => byNetwork(() => ''));

/**
 * Everything that does not go on by itself, from rows alone: one check for each kind that is counted, and
 * those that the other kinds name. No check where there is no database or its schema is another one: other
 * checks say that.
 */
export async function checkConditions(config: Config, run: Run | undefined, log: Logger): Promise<Finding[]> {
  const databaseUrl = config.database.kind === 'url' ? config.database.url : run?.databaseUrl;
  if (databaseUrl === undefined) return [];
  const environment = { databaseUrl, temporal: undefined, xpubs: NO_KEYS, secretsKey: randomBytes(32) };
  const gateway = await composeGateway({ config, environment, log, name: 'doctor', poolSize: 2 });
  try {
    const { missing, ahead } = await readSchema(gateway.deps.orm.em.fork());
    return missing.length + ahead.length > 0 ? [] : await findingsOf(gateway.deps);
  } finally {
    await gateway.close();
  }
}

/** The same over an open gateway of this schema. */
export async function findingsOf(deps: Deps): Promise<Finding[]> {
  const alarms = (await readAlarms(deps)).map(async ({ kind: label, count, reason, action }) => {
    if (count !== 0) return bad(label, reason, action);
    const well = CONDITIONS.find((kind) => kind.label === label)?.well ?? '';
    return good(label, typeof well === 'string' ? well : await well(deps));
  });
  const others = await readKinds(deps, ({ label }) => label === undefined);
  return [...(await Promise.all(alarms)), ...others.flatMap(checksOf)];
}

function checksOf({ found, well = {}, unread }: ReadKind): Finding[] {
  const failed = Map.groupBy(unread ? [unread] : found, ({ check }) => check);
  const names = new Set([...Object.keys(well), ...failed.keys()]);
  return [...names].flatMap((name) => {
    if (name === undefined) return [];
    const [first, ...more] = failed.get(name) ?? [];
    if (!first) return [good(name, well[name] ?? '')];
    const others = more.length > 0 ? `; and ${more.length} more` : '';
    return [bad(name, `${sentenceOf(first)}${others}`, first.action)];
  });
}
