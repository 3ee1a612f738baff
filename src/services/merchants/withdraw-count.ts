// Changes of withdraw addresses become the address when they are due.
import { LockMode } from '@mikro-orm/core';
import { normaliseAddress } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import { WithdrawAddress, WithdrawChange } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { readSeal } from '../../domain/payouts/direction.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { holdUser } from '../within.ts';
import { lockMerchant } from './known.ts';
import { type AskedChains, applyWithdraw, codeAt, notTheirs } from './withdraw-addresses.ts';
import { endChange, subjectOf } from './withdraw-changes.ts';

const PAGE = 100;
/** Of what does not count although it is due, the loop's row names this many. */
const NAMED = 3;

/** A change that cannot count yet or must not: a sentence for the operator. */
class Held extends Error {}

/**
 * Makes every change count that is due, each in a transaction of its own; one that cannot hinders no other.
 * It is due when its time has come by the clock of this process and by the database's: a clock that runs
 * ahead makes nothing count early. Returns how many ended. Throws when some are left that are due: what they
 * wait for, or that somebody without the key wrote them.
 */
export async function countWithdrawChanges(deps: Deps, chains: AskedChains): Promise<number> {
  const held: string[] = [];
  const silent = new Set<Network>();
  let [ended, after] = [0, { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }];
  for (;;) {
    const page = await duePage(deps, after);
    for (const { id } of page)
      try {
        if (await countOne(deps, chains, silent, id)) ended += 1;
      } catch (error) {
        if (!(error instanceof Held)) deps.log.error({ err: error, id }, 'a withdraw address does not count');
        held.push(`${id}: ${error instanceof Error ? error.message : String(error)}`);
      }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last;
  }
  if (held.length === 0) return ended;
  const more = held.length > NAMED ? `; and ${held.length - NAMED} more` : '';
  throw new Error(
    `changed withdraw addresses are due and do not count: ${held.slice(0, NAMED).join('; ')}${more}`,
  );
}

async function duePage(
  deps: Deps,
  after: { readonly at: string; readonly id: string },
): Promise<{ readonly id: string; readonly at: string }[]> {
  return await rows(
    deps.orm.em.fork(),
    sql<{ id: string; at: string }>`select id, counts_at::text as at from withdraw_changes
      where ${isDue(deps)} and (counts_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
      order by counts_at, id limit ${PAGE}`,
  );
}

const isDue = ({ now }: Pick<Deps, 'now'>) =>
  sql`ended_at is null and counts_at <= ${now()} and counts_at <= clock_timestamp()`;

/** False where it ended meanwhile, or is not due by the clocks of the moment. */
async function countOne(deps: Deps, chains: AskedChains, silent: Set<Network>, id: string): Promise<boolean> {
  const found = await deps.orm.em.fork().findOne(WithdrawChange, id);
  if (!found || found.endedAt) return false;
  requireSealed(deps, found);
  const isContract = await askedAgain(chains, silent, found);
  const { askedBy: userId, askedFrom: from, merchantId } = found;
  const acting: Deps = { ...deps, actor: { kind: 'user', userId, from } };
  return await deps.orm.em.fork().transactional(async (em) => {
    await holdUser(em, userId);
    const merchant = await lockMerchant(em, merchantId);
    // Both clocks once more, behind the locks: one may have been put back while they were waited for.
    const due = await firstRow(
      em,
      sql`select 1 from withdraw_changes where id = ${id} and ${isDue(deps)} for update`,
    );
    if (!due) return false;
    const change = await em.findOneOrFail(WithdrawChange, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    // What was read before the locks might have been another row.
    requireSealed(deps, change);
    const wrong = isContract ? 'a contract by now' : await wrongBy(em, deps, change);
    if (wrong) {
      const reason = `${change.address} on ${chainOf(change.network).name} did not become the withdraw address, because it is ${wrong}: ask for another one.`;
      await endChange(em, acting, change, { outcome: 'refused', reason });
    } else {
      await count(em, acting, change);
      merchant.updatedAt = deps.now();
    }
    return true;
  });
}

async function count(em: Em, deps: Deps, change: WithdrawChange): Promise<void> {
  const { merchantId, network, address = null } = change;
  const name = `withdraw_${network}`;
  const before = { [name]: (await em.findOne(WithdrawAddress, { merchantId, network }))?.address ?? null };
  await applyWithdraw(em, deps, merchantId, [{ network, address }]);
  change.endedAt = deps.now();
  change.outcome = 'counted';
  await em.flush();
  await recordAction(em, deps, {
    ...subjectOf(change, 'withdraw_address.changed'),
    before,
    after: { [name]: address, asked_at: isoSeconds(change.askedAt) },
  });
}

/** Throws where these terms are not sealed by whoever holds the key: nothing is done by such a row. */
function requireSealed({ secretBox }: Deps, change: WithdrawChange): void {
  const { previous } = secretBox;
  const { id, network, merchantId, address = null, contractAllowed, askedBy, askedFrom, countsAt } = change;
  const terms = { id, network, merchantId, address, contractAllowed, askedBy, askedFrom, countsAt };
  const keys = previous ? [secretBox, previous] : [secretBox];
  const sealedAt = readSeal(keys, { kind: 'asked', ...terms }, change.seal);
  if (sealedAt?.getTime() === change.askedAt.getTime()) return;
  const known = keys.some(({ mark }) => mark.equals(change.seal.subarray(0, mark.length)));
  throw new Held(
    known
      ? 'it was changed by somebody who does not have SECRETS_KEY: find out who writes to the database, and take it back with "merchant changes --cancel"'
      : 'it is sealed under another SECRETS_KEY than this worker\'s, or not at all: give every process the same SECRETS_KEY, or take it back with "merchant changes --cancel"',
  );
}

/** Whether it is a contract by now though nobody said that it may be one. Throws while nobody can say so. */
async function askedAgain(
  chains: AskedChains,
  silent: Set<Network>,
  { network, address, contractAllowed }: WithdrawChange,
): Promise<boolean> {
  if (address == null || contractAllowed) return false;
  const found = silent.has(network) ? 'silent' : await codeAt(chains, network, address);
  if (found !== 'silent') return found === 'code';
  // The others of this turn do not wait for the same silence.
  silent.add(network);
  throw new Held(
    `no RPC endpoint of ${network} says whether it is a contract: see with "doctor" that they answer`,
  );
}

/** The checks of the moment at which it was asked for, once more. */
async function wrongBy(
  em: Em,
  deps: Deps,
  { network, address }: WithdrawChange,
): Promise<string | undefined> {
  if (address == null) return undefined;
  if (normaliseAddress(network, address) !== address) return 'no address there';
  return await notTheirs(em, deps, network, address);
}
