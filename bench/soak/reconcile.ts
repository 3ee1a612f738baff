import type { Network } from '../../src/domain/assets.ts';
import { listAll } from './api.ts';
import { judgedChains } from './oracle/judge.ts';
import { type BalanceDifference, isOwnSpending, type Reconciled, spendersOf } from './oracle/reconciled.ts';
import { creditKey, placeKey, together } from './oracle/truth.ts';
import { MERCHANTS } from './plan/plan.ts';
import { waitUntilQuiet } from './quiet.ts';
import type { Stage } from './stage.ts';

/**
 * What an operator does after such a day: has the balances compared, and claims by
 * its hash what arrived and could not be attributed; only for balances that the
 * gateway itself listed, so that nothing is helped along which it did not notice.
 */
export async function reconcile(stage: Stage, say: (line: string) => void): Promise<Reconciled> {
  const before = await countOf(stage);
  let compared = await compare(stage);
  let restless = await waitUntilQuiet(stage, say);
  const found = (await countOf(stage)) - before;
  let claimed = 0;
  const spenders = spendersOf(stage.customers);
  const unexplained = compared.left.filter((one) => !isOwnSpending(one, spenders));
  if (unexplained.some(({ difference }) => !difference.startsWith('-'))) {
    claimed = await claimListed(stage, unexplained, say);
    restless = await waitUntilQuiet(stage, say);
  }
  if (unexplained.length > 0 || found > 0) compared = await compare(stage);
  return {
    ...compared,
    ...(restless === undefined ? {} : { refused: `it did not come to rest: ${restless}` }),
    found,
    claimed,
  };
}

/** Each chain in turn, as an operator would. */
async function compare(stage: Stage): Promise<Pick<Reconciled, 'left' | 'refused'>> {
  const left: BalanceDifference[] = [];
  const refused: string[] = [];
  for (const { network } of stage.chains) {
    const { json, said } = await stage.operate(['reconcile', '--network', network]);
    if (json['ok'] === undefined) refused.push(`${network}: ${said.slice(-500) || 'no answer'}`);
    else left.push(...(json['differences'] as BalanceDifference[]));
  }
  return { left, refused: refused.length === 0 ? undefined : refused.join('; ') };
}

async function countOf(stage: Stage): Promise<number> {
  const [row] = await stage.sql<{ n: number }>('select count(*)::int as n from deposits where not simulated');
  return row?.n ?? 0;
}

async function claimListed(
  stage: Stage,
  listed: readonly BalanceDifference[],
  say: (line: string) => void,
): Promise<number> {
  const rows = await Promise.all(
    MERCHANTS.map((merchant) => listAll(stage.api, '/deposits', stage.keys[merchant].live)),
  );
  const known = new Set(
    rows
      .flat()
      .map((row) =>
        creditKey(
          String(row['network']),
          String(row['transaction_hash']),
          String(row['address']),
          String(row['currency']),
        ),
      ),
  );
  const places = new Set(
    listed.map(({ network, address, currency }) => placeKey(network, address, currency)),
  );
  const truth = together([...(await judgedChains(stage)).values()]);
  const hashes = new Map<string, Network>();
  for (const [key, { network, hash, address, currency }] of truth.credits)
    if (!known.has(key) && places.has(placeKey(network, address, currency))) hashes.set(hash, network);
  for (const [hash, network] of hashes) {
    const { status, said } = await stage.operate(['deposit', 'claim', '--tx', hash, '--network', network]);
    say(
      status === 0
        ? `claimed ${hash} on ${network}`
        : `the claim of ${hash} on ${network} was refused: ${said.slice(-300)}`,
    );
  }
  return hashes.size;
}
