import { bad, type Finding, good } from '../../base/finding.ts';
import type { ChainSettings } from '../../chains/chain.ts';
import { CHAINS } from '../../chains/index.ts';
import type { Config } from '../../config/index.ts';
import { ChainRequests } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';

/** From this share of a day's requests on an operator has to know. */
const NEARLY_ALL = 0.97;

/** What the watching of each chain has cost today, where its providers count requests. */
export async function checkRequests(em: Em, config: Config): Promise<Finding[]> {
  const counted = await em.find(ChainRequests, {});
  const today = new Date().toISOString().slice(0, 10);
  return CHAINS.flatMap(({ network }) => {
    const { enabled, requestsPerDay }: ChainSettings = config.chains[network];
    if (!enabled || requestsPerDay === undefined) return [];
    const used = counted.find((row) => row.network === network && row.day === today)?.used ?? 0;
    const detail = `${used.toLocaleString('en-US')} of ${requestsPerDay.toLocaleString('en-US')} requests taken today (UTC), in portions and before they are sent`;
    const name = `requests_today_${network}`;
    if (used < NEARLY_ALL * requestsPerDay) return [good(name, detail)];
    return [
      bad(
        name,
        detail,
        'Allow more where the key does; else the chain is read on from midnight, and nothing is lost',
      ),
    ];
  });
}
