// Decisions of people about payouts: each is a row before anybody acts by it (docs/adr/0013). An address is
// named by itself or by a payout of it.
import type { AddressKey } from '../../chains/address-key.ts';
import { CHAINS } from '../../chains/index.ts';
import { DepositAddress, Payout } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, literals, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import type { PayoutDecisionKind } from '../../domain/payouts/pause.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
import { type SettlementPlace, wakeAddress } from './wakes.ts';

export type DecisionPlace = { readonly network: Network; readonly addressKey: AddressKey };

/** Writes a decision down under the name of whoever acts, which it returns. */
export async function writeDecision(
  em: Em,
  { actor, now }: Pick<TxDeps, 'actor' | 'now'>,
  {
    kind,
    merchantId,
    place,
    reason,
    resumed,
  }: {
    readonly kind: PayoutDecisionKind;
    readonly merchantId: string | null;
    readonly place: DecisionPlace | null;
    readonly reason: string | null;
    /** Of what lets payouts go on: when, and the seal by which the signer knows who said so. */
    readonly resumed?: { readonly at: Date; readonly seal: Buffer };
  },
): Promise<string> {
  const byName =
    actor?.kind === 'operator' ? actor.name : actor?.kind === 'user' ? actor.userId : 'the gateway';
  // A restore pauses payouts in the database of an older version, which knows no seals of decisions.
  const [column, seal] = resumed ? [sql`, seal`, sql`, ${resumed.seal}`] : [sql``, sql``];
  await run(
    em,
    sql`insert into payout_decisions (kind, merchant_id, network, address_key, by_name, reason, at${column})
      values (${kind}, ${merchantId}::uuid, ${place?.network ?? null}, ${place?.addressKey ?? null},
        ${byName}, ${reason}, ${resumed?.at ?? now()}${seal})`,
  );
  // The signer notes it at once: from then on nobody takes a pause back who has no key.
  if (kind !== 'retry') await run(em, sql`select pg_notify('signer', '')`);
  return byName;
}

/** When a person last asked for another look at an address; null where nobody did. */
export async function retriedAt(em: Em, { network, addressKey }: DecisionPlace): Promise<Date | null> {
  const row = await firstRow(
    em,
    sql<{ at: string | null }>`select max(at) as at from payout_decisions
      where network = ${network} and address_key = ${addressKey}`,
  );
  return row?.at == null ? null : new Date(row.at);
}

/** The address of a payout, or one that was named itself: then `payout` is null. */
export type NamedPlace = SettlementPlace & { readonly payout: Payout | null };

/**
 * The place of a payout by its id, or an address of ours in live mode. Throws a `Refusal` for all else, and
 * for a payout of test mode.
 */
export async function namedPlace(em: Em, given: string): Promise<NamedPlace> {
  const id = given.toLowerCase();
  const payout = isUuid(id) ? await em.findOne(Payout, { id }) : null;
  if (payout?.simulated)
    throw new Refusal(
      'INVALID',
      `Payout ${payout.id} is one of test mode, which moves no money. Look at it with "payout show ${payout.id}".`,
    );
  if (payout) return { ...placeOf(payout), payout };
  for (const { network, addresses } of CHAINS) {
    const addressKey = addresses.parse(given);
    const row = addressKey && (await em.findOne(DepositAddress, { network, addressKey, mode: 'live' }));
    if (row) return { ...placeOf(row), payout };
  }
  throw noPayout(given);
}

/** The refusal of an id that no payout has. */
export function noPayout(id: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `There is no payout ${id.slice(0, 100)}. List the payouts with "payout list".`,
  );
}

const placeOf = ({ network, addressKey, address, merchantId }: SettlementPlace): SettlementPlace => ({
  network,
  addressKey,
  address,
  merchantId,
});

/**
 * Writes down that a person wants an address to be looked at again now, and tells its actor, in one
 * transaction: by the id of a payout, or by an address of ours where nothing is planned. What the signer has
 * refused for good is asked for anew at once. Throws a `Refusal` where there is nothing to look at.
 */
export async function retryPayout(
  deps: Deps,
  { id, reason }: { readonly id: string; readonly reason: string | null },
): Promise<SettlementPlace & { readonly byName: string }> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const place = await namedPlace(em, id);
    await requireWaiting(em, place);
    const { merchantId, network, addressKey, address } = place;
    const byName = await writeDecision(em, deps, {
      kind: 'retry',
      merchantId,
      place: { network, addressKey },
      reason,
    });
    await recordAction(em, deps, {
      action: 'payout.retry',
      merchantId,
      subject: id,
      after: { network, address },
      reason,
    });
    await wakeAddress(em, deps, place);
    return { merchantId, network, addressKey, address, byName };
  });
}

/** Throws a `Refusal` where nothing waits; what a payout was lent is taken back after it was settled, too. */
async function requireWaiting(em: Em, { payout, network, addressKey, address }: NamedPlace): Promise<void> {
  const about = payout
    ? sql`select 1 where ${payout.state} <> 'settled'
        union all select 1 from settlement_waits where payout_id = ${payout.id}::uuid`
    : sql`select 1 from settlement_waits where network = ${network} and address_key = ${addressKey}
        union all select 1 from payouts where network = ${network} and address_key = ${addressKey}
          and not simulated and state in ${literals(LIVING_PAYOUTS)}`;
  if (await firstRow(em, about)) return;
  throw new Refusal(
    'INVALID',
    payout
      ? `Payout ${payout.id} is settled, so there is nothing to try again. Look at it with "payout show ${payout.id}".`
      : `Nothing waits at ${address} to be paid out. If something was completed there, run "repair".`,
  );
}
