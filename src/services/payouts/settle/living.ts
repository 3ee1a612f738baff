// A payout that is under way, as rows say it, and the steps that change nothing but rows.

import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import { addressKeyOf } from '../../../chains/addresses.ts';
import type { Spending } from '../../../chains/spending.ts';
import { Payout, type SentMove } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, literals, rows, run, sql } from '../../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import { roomSaid } from '../../../domain/payouts/asked.ts';
import type { LivingFacts, SentFacts } from '../../../domain/payouts/facts.ts';
import { describePause } from '../../../domain/payouts/pause.ts';
import { MONEY_PURPOSES } from '../../../domain/payouts/purpose.ts';
import { decideLiving, type LivingStep } from '../../../domain/payouts/step.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { retriedAt } from '../decisions.ts';
import type { GasWallet } from '../gas.ts';
import { readPause } from '../pauses.ts';
import { fitting, movePayout, Outdated } from '../plan.ts';

import type { Ready, SettlementInput } from './context.ts';

/** The payout of an address that is under way; an address has one at most. */
export async function livingPayout(
  em: Em,
  { network, addressKey }: Pick<SettlementInput, 'network' | 'addressKey'>,
): Promise<Payout | null> {
  const state = { $in: [...LIVING_PAYOUTS] };
  return await em.findOne(Payout, { network, addressKey, state, simulated: false });
}

/** One that is over, of which signed bytes may land: the block that ended it was replaced. */
export async function looseOf(
  em: Em,
  { network, addressKey }: Pick<SettlementInput, 'network' | 'addressKey'>,
): Promise<Payout | null> {
  const found = await firstRow(
    em,
    sql<{ id: string }>`select p.id from payouts p join sent_transactions s on s.payout_id = p.id
      where p.network = ${network} and p.address_key = ${addressKey} and not p.simulated
        and not p.state in ${literals(LIVING_PAYOUTS)} and s.purpose in ${literals(MONEY_PURPOSES)}
        and ${IS_LOOSE}
      order by s.nonce, p.id limit 1`,
  );
  return found ? await em.findOneOrFail(Payout, found.id) : null;
}

/** Of a transaction `s`: another one has its place in a block that was read twice. */
const PLACE_TAKEN = sql<boolean>`exists (select 1 from sent_transactions o where o.network = s.network
  and o.from_key = s.from_key and o.nonce = s.nonce and o.hash <> s.hash and o.block_hash is not null
  and o.verified_at is not null)`;
/**
 * Of a transaction `s`: it is in no block, and the last of those that were all read twice is one that could
 * not have taken it any more, nor can any after it.
 */
const EXPIRED = sql<boolean>`(s.block_hash is null and s.expires_at is not null and exists (
  select 1 from chain_cursors c join chain_blocks b on b.network = c.network and b.number = c.verified_number
  where c.network = s.network and b.mined_at >= s.expires_at))`;

/** Of a transaction `s`: it would pay deposits that went to another payout, because its own has failed. */
const HAS_FAILED = sql<boolean>`(s.purpose is not distinct from 'payout' and exists (
  select 1 from payouts f where f.id = s.payout_id and f.state = 'failed'))`;
/** Of a transaction `s`: it is signed and in no block, may land, and is to. */
export const IS_LOOSE = sql<boolean>`(s.state in ('signed', 'sent') and not ${PLACE_TAKEN}
  and not ${EXPIRED} and not ${HAS_FAILED})`;

type Paced = TxDeps & { readonly spending: Pick<Spending, 'resendMs' | 'finalLookMs'> };

/** What decides its next step. */
export async function livingFacts(em: Em, deps: Paced, payout: Payout): Promise<LivingFacts> {
  const { id, merchantId, network, destination, state } = payout;
  const pause = await readPause(em, merchantId);
  const sent = await sentFor(em, network, id);
  const still = await firstRow(
    em,
    sql<{ same: boolean; whole: boolean }>`select exists (select 1 from withdraw_addresses
        where merchant_id = ${merchantId} and network = ${network} and address = ${destination}) as same,
      not exists (select 1 from deposits where payout_id = ${id}
        and (status <> 'completed' or block_hash is null or verified_at is null)) as whole`,
  );
  const room = sent.filter((one) => one.state === 'asked').map(roomSaid)[0];
  const part = room === undefined ? 0n : (await fitting(em, payout, room)).units;
  const least = deps.settings.payouts.minUnits.get(`${payout.currency}.${network}`) ?? 0n;
  return {
    state,
    sent,
    // Less than the whole, or the same would be asked for again and again.
    goesInPart: part > 0n && part >= least && part < payout.grossUnits,
    obsolete: obsoleteWhy(still),
    paused: pause ? describePause(pause) : null,
    retriedAt: await retriedAt(em, payout),
    signer: await signerFacts(em),
    now: deps.now(),
    resendMs: deps.spending.resendMs,
    blockLookMs: deps.spending.finalLookMs,
  };
}

/** Every transaction that was asked for a payout, in order. */
export async function sentFor(em: Em, network: Network, payoutId: string): Promise<readonly SentFacts[]> {
  const found = await rows(
    em,
    sql<SentRow>`
      select s.id, s.purpose, s.attempt, s.state, s.ok, s.refused, s.created_at as asked_at, s.signed_at,
        s.sent_at, s.moves, s.to_key, s.currency, s.amount_units::text as units,
        ${PLACE_TAKEN} as place_taken, ${EXPIRED} as expired
      from sent_transactions s where s.payout_id = ${payoutId} order by s.purpose, s.attempt`,
  );
  return found.map((row) => sentFacts(network, row));
}

/** When a signer was seen last, and why it signs nothing. */
export async function signerFacts(em: Em): Promise<LivingFacts['signer']> {
  const row = await firstRow(
    em,
    sql<{ seenAt: string | null; sealedReason: string | null }>`
      select seen_at, sealed_reason from signer_state where name = 'signer'`,
  );
  return {
    seenAt: row?.seenAt == null ? null : new Date(row.seenAt),
    sealedReason: row?.sealedReason ?? null,
  };
}

type SentRow = Omit<SentFacts, Times | 'asAsked'> &
  Record<Times, string | null> & {
    readonly moves: readonly SentMove[] | null;
    readonly toKey: AddressKey;
    readonly currency: Currency;
    readonly units: string;
  };

function sentFacts(network: Network, row: SentRow): SentFacts {
  const { askedAt, signedAt, sentAt, moves, toKey, currency, units, ...rest } = row;
  const [move, ...others] = moves ?? [];
  const asAsked =
    move !== undefined &&
    others.length === 0 &&
    addressKeyOf(network, move.to) === toKey &&
    move.currency === currency &&
    move.units === units;
  return {
    ...rest,
    asAsked: moves === null ? null : asAsked,
    askedAt: new Date(askedAt ?? 0),
    signedAt: signedAt === null ? null : new Date(signedAt),
    sentAt: sentAt === null ? null : new Date(sentAt),
  };
}

function obsoleteWhy(still: { readonly same: boolean; readonly whole: boolean } | undefined): string | null {
  if (!still?.same)
    return 'the merchant has another withdraw address by now, or none: nothing goes to the old one';
  return still.whole ? null : 'a deposit of it is not completed, or in no block, any more';
}

type Times = 'askedAt' | 'signedAt' | 'sentAt';

/**
 * Locks a payout, in the caller's transaction, and makes sure that its next step is still the one that was
 * decided. Throws {@link Outdated} where it is not.
 */
export async function holdStep(
  em: Em,
  deps: Paced,
  decided: {
    readonly payoutId: string;
    readonly step: LivingStep;
    /** How many transactions the payout had. */
    readonly rows: number;
  },
): Promise<Payout> {
  const payout = await em.findOne(Payout, decided.payoutId, {
    lockMode: LockMode.PESSIMISTIC_WRITE_OR_FAIL,
    refresh: true,
  });
  if (!payout || !LIVING_PAYOUTS.includes(payout.state)) throw new Outdated('the payout has ended meanwhile');
  const facts = await livingFacts(em, deps, payout);
  const now = decideLiving(facts);
  // The same step over again is another one: what it took was found out before the last one was made.
  const same =
    facts.sent.length === decided.rows &&
    now.does === decided.step.does &&
    (!('id' in now) || !('id' in decided.step) || now.id === decided.step.id);
  if (!same) throw new Outdated('the payout went on meanwhile');
  return payout;
}

/** It pays from now on: its bytes may be in a block at any time. */
export async function beginPaying(em: Em, deps: TxDeps, payout: Payout): Promise<void> {
  movePayout(deps, payout, 'paying');
  await em.flush();
}

/** What was asked for and refused is asked for no more. One that was signed meanwhile stays. */
export async function giveUp(em: Em, deps: TxDeps, id: string): Promise<boolean> {
  const changed = await run(
    em,
    sql`update sent_transactions set state = 'dead', updated_at = ${deps.now()}
      where id = (select id from sent_transactions where id = ${id} and state = 'asked' and raw is null
        and refused is not null for update nowait)`,
  );
  return changed > 0;
}

/** Ends what was asked for of a payout that is settled: another attempt in the same place has paid it. */
export async function endAsked(em: Em, deps: TxDeps, payoutId: string): Promise<void> {
  await run(
    em,
    sql`update sent_transactions set state = 'dead', updated_at = ${deps.now()}
      where payout_id = ${payoutId} and purpose = 'payout' and state = 'asked'`,
  );
}

/**
 * Ends the attempts that can land no more: another transaction has their place in a final block, or their
 * time was over before one.
 */
export async function endOthers(em: Em, deps: Deps | TxDeps, payoutId: string): Promise<void> {
  await run(
    em,
    sql`update sent_transactions s set state = 'dead', updated_at = ${deps.now()}
      where s.payout_id = ${payoutId} and s.state in ('signed', 'sent')
        and (${PLACE_TAKEN} or ${EXPIRED})`,
  );
}

const PURPOSE = { pay_out: 'payout', top_up: 'gas', lend: 'delegate', take_back: 'reclaim' } as const;
/** What is taken back of what was lent for a payout. */
type TakenBack = Omit<Extract<Ready, { from: GasWallet }>, 'does'> & { readonly does: 'take_back' };

/**
 * Asks the signer for a transaction, in the transaction that holds the payout locked: the next attempt of its
 * purpose. The signer reads everything again and may refuse it.
 */
export async function ask(em: Em, deps: TxDeps, payout: Payout, ready: Ready | TakenBack): Promise<void> {
  const { id: payoutId, network, address, addressKey, destination } = payout;
  const purpose = PURPOSE[ready.does];
  const way =
    ready.does === 'pay_out'
      ? { from: { address, addressKey }, to: destination, currency: payout.currency }
      : { from: ready.from, to: address, currency: NATIVE_CURRENCY[network] };
  const before = await firstRow(
    em,
    sql<{ attempts: number }>`select coalesce(max(attempt), 0)::int as attempts from sent_transactions
      where payout_id = ${payoutId} and purpose = ${purpose}`,
  );
  const now = deps.now();
  await run(
    em,
    sql`insert into sent_transactions (id, network, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, terms, created_at, updated_at)
      values (${deps.newId()}, ${network}, ${purpose}, ${payoutId}, ${(before?.attempts ?? 0) + 1}, 'asked',
        ${way.from.address}, ${way.from.addressKey}, ${way.to}, ${addressKeyOf(network, way.to)},
        ${way.currency}, ${ready.units.toString()}::numeric, ${JSON.stringify(ready.terms)}::jsonb,
        ${now}, ${now})`,
  );
}
