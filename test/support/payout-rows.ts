// What the signer and the chain will say of a payout, as statements past every use case.
import { randomBytes, randomUUID } from 'node:crypto';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { chainOf } from '../../src/chains/index.ts';
import { Deposit } from '../../src/db/entities/index.ts';
import { assetOf } from '../../src/domain/assets.ts';
import type { Deps } from '../../src/services/deps.ts';
import { settlePayout } from '../../src/services/payouts/finish.ts';
import { planPayout } from '../../src/services/payouts/plan.ts';
import { transact } from '../../src/services/transact.ts';

export type Statement = { readonly text: string; readonly params: unknown[] };

export const DESTINATION = '0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1';
const newHash = (): string => `0x${randomBytes(32).toString('hex')}`;

/** A planned payout of one deposit, which is read twice by it. */
export const planned = (payoutId: string, depositId: string): Statement[] => [
  {
    text: `insert into payouts (id, merchant_id, mode, simulated, network, currency, contract_address, address,
        address_key, destination, gross_units, state, state_since, created_at, updated_at)
      select ?, merchant_id, mode, false, network, currency, contract_address, address, address_key, ?,
        amount_units, 'planned', now(), now(), now() from deposits where id = ?`,
    params: [payoutId, DESTINATION, depositId],
  },
  {
    text: 'update deposits set payout_id = ?, verified_at = now() where id = ?',
    params: [payoutId, depositId],
  },
];

/** A payout of nothing that was given up, for what only has to belong to one. */
export const emptyPayout = (payoutId: string, network: string): Statement[] => [
  {
    text: `insert into payouts (id, merchant_id, mode, simulated, network, currency, address, address_key,
        destination, gross_units, state, state_since, created_at, updated_at)
      select ?, (select id from merchants limit 1), 'live', false, ?, 'USDT', 'a', ?, 'd', 1, 'planned', now(),
        now(), now()`,
    params: [payoutId, network, payoutId.slice(0, 8)],
  },
  { text: "update payouts set state = 'cancelled', reason = 'test' where id = ?", params: [payoutId] },
];

/** What waits, was refused and was decided about every payout, in texts as long as the columns hold. */
export const filled = (text: (most: number) => string, needsAddress: string): Statement[] => [
  {
    text: `insert into settlement_waits (network, address_key, merchant_id, payout_id, address, currency, code,
        reason, needs_units, needs_address, since, updated_at)
      select 'bsc', k, merchant_id, case k when 'a' then id end, address, 'USDT', 'waiting_for_gas', ?, ?, ?,
        now(), now() from payouts, (values ('a'), ('b')) keys (k)`,
    params: [text(500), '9'.repeat(78), needsAddress],
  },
  {
    text: `insert into sent_transactions (id, network, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, refused, created_at, updated_at)
      select gen_random_uuid(), 'bsc', 'payout', id, 1, 'asked', address, address_key, destination, 'd',
        currency, ?, ?, now(), now() from payouts`,
    params: ['9'.repeat(78), text(500)],
  },
  {
    text: "insert into payout_decisions (kind, by_name, reason, at) values ('pause', ?, ?, now())",
    params: [text(120), text(500)],
  },
];

/** The signer's bytes for a payout, which keeps `withheldUnits` of a coin back for its own fee. */
export const signed = (
  payoutId: string,
  { hash = newHash(), attempt = 1, withheldUnits = 0n } = {},
): Statement[] => [
  {
    text: `insert into sent_transactions (id, network, hash, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, raw, signed_at, created_at, updated_at)
      select ?, network, ?, 'payout', id, ?, 'signed', address, address_key, destination, 'd', currency,
        gross_units - ?, '\\x00', now(), now(), now() from payouts where id = ?`,
    params: [randomUUID(), hash, attempt, withheldUnits.toString(), payoutId],
  },
  { text: "update payouts set state = 'paying' where id = ? and state = 'planned'", params: [payoutId] },
];

/** Of a row: it moved what it was to move. */
const AS_ASKED = `jsonb_build_array(jsonb_build_object('to', to_address, 'currency', currency, 'units',
  amount_units::text))`;

/** A transaction that somebody else sent and that has paid a payout out, as a person has decided. */
export const paidByOthers = (payoutId: string): Statement => ({
  text: `insert into sent_transactions (id, network, hash, state, from_address, from_key, to_address, to_key,
      currency, amount_units, payout_id, decided_at, decided_by, decided_reason, block_number, block_hash,
      verified_at, ok, fee_units, moves, created_at, updated_at)
    select ?, network, ?, 'foreign', address, address_key, destination, 'd', currency, gross_units, id, now(), 'a',
      'b', -1, '0x9', now(), true, 7, jsonb_build_array(jsonb_build_object('to', destination, 'currency', currency,
      'units', gross_units::text)), now(), now() from payouts where id = ?`,
  params: [randomUUID(), newHash(), payoutId],
});

/** A block that holds everything that was signed for a payout, read twice; no watcher of a test reads it. */
export const final = (payoutId: string, { ok = true, feeUnits = 7n } = {}): Statement[] => [
  {
    text: `update sent_transactions set state = 'mined', block_number = -1, block_hash = '0x9', ok = ?,
        fee_units = ?, moves = case when ? then ${AS_ASKED} else '[]' end where payout_id = ?`,
    params: [ok, feeUnits.toString(), ok, payoutId],
  },
  {
    text: "update sent_transactions set state = 'final', verified_at = now() where payout_id = ?",
    params: [payoutId],
  },
];

/** What was in a block is in none. */
export const unseen = (payoutId: string): Statement[] => [
  {
    text: `update sent_transactions set state = 'sent', block_number = null, block_hash = null,
        verified_at = null, ok = null, fee_units = null, moves = null where payout_id = ?`,
    params: [payoutId],
  },
];

/** The payout settled by what {@link signed} says of its first attempt, but not yet its deposits. */
export const settled = (payoutId: string): Statement => ({
  text: `update payouts set state = 'settled', net_units = gross_units, fee_units = 7, settled_at = now(),
      transaction_hash = (select hash from sent_transactions where payout_id = payouts.id
        and coalesce(attempt, 1) = 1)
    where id = ?`,
  params: [payoutId],
});

/** {@link planned}, {@link signed}, {@link final} and {@link settled}. */
export const paidOut = (depositId: string): Statement[] => {
  const payoutId = randomUUID();
  return [...planned(payoutId, depositId), ...signed(payoutId), ...final(payoutId), settled(payoutId)];
};

/** Commits all of the statements as one transaction. */
export async function commitAll(deps: Deps, statements: readonly Statement[]): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    for (const { text, params } of statements) await em.execute(text, params);
  });
}

/**
 * Pays a deposit out as the gateway does, with everything else at its address in its asset; what the signer
 * and the chain say is written by hand. False where it may not be paid out.
 */
export async function payOut(deps: Deps, depositId: string, { withheldUnits = 0n } = {}): Promise<boolean> {
  const deposit = await deps.orm.em.fork().findOneOrFail(Deposit, depositId);
  const { status, simulated, blockHash, verifiedAt } = deposit;
  if (status !== 'completed' || simulated || blockHash == null || verifiedAt == null) return false;
  const { kind } = assetOf(deposit.network, deposit.currency);
  return await transact(deps, async (tx) => {
    const destination = chainOf(deposit.network).addresses.format(keyOfHex(DESTINATION, 2));
    const payout = await planPayout(tx.em, deps, { ...deposit, destination });
    if (!payout) return false;
    const bytes = signed(payout.id, { withheldUnits: kind === 'native' ? withheldUnits : 0n });
    for (const { text, params } of [...bytes, ...final(payout.id)]) await tx.em.execute(text, params);
    await tx.em.refresh(payout);
    await settlePayout(tx, deps, { payoutId: payout.id, headNumber: null });
    return true;
  });
}
