import { bad, type Finding } from '../../base/finding.ts';
import { watchedChains } from '../../chains/index.ts';
import type { Config } from '../../config/index.ts';
import type { Em } from '../../db/orm.ts';
import { openRestore, unknownSinceRestore } from '../../services/restores/hold.ts';
import { hasTable } from './tables.ts';

/** Whether payouts are held since a restore, and what is still unknown; nothing where none was restored. */
export async function checkRestore(em: Em, config: Config): Promise<Finding[]> {
  if (!(await hasTable(em, 'restores'))) return [];
  const restore = await openRestore(em);
  if (!restore) return [];
  const watchedNetworks = watchedChains(config.chains).map(({ network }) => network);
  const unknown = await unknownSinceRestore(em, watchedNetworks, restore);
  const since = `payouts are held since the restore of ${restore.restoredAt.toISOString().slice(0, 19)}Z`;
  return [
    unknown.length === 0
      ? bad('restore', `${since}, and everything since is known`, 'Let them go on with "payout resume"')
      : bad(
          'restore',
          `${since}: ${unknown.join('; ')}`,
          'Do what it says, in this order; then "payout resume"',
        ),
  ];
}
