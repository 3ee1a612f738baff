import { Migration } from '@mikro-orm/migrations';

/**
 * Where computing can be paid by a stake, that is lent to an address for a payout, and taken back afterwards:
 * two more kinds of transactions of ours, which move no money.
 */
export class Migration20261125000059_lending extends Migration {
  override up(): void {
    this.addSql(`
alter table sent_transactions
  add column reclaimed_at timestamptz null,
  add constraint sent_transactions_reclaimed_check check (reclaimed_at is null or purpose = 'delegate'),
  drop constraint sent_transactions_purpose_check,
  add constraint sent_transactions_purpose_check
    check (purpose in ('payout', 'gas', 'delegate', 'reclaim'))`);
    this.addSql(
      "create index sent_transactions_lent_index on sent_transactions (network, to_key) where purpose = 'delegate' and reclaimed_at is null and state in ('signed', 'sent', 'mined', 'final')",
    );
    this.addSql(guardSentTerms() + KEEP_SENT);
  }

  override down(): void {
    throw new Error(
      'What was signed is kept for ever, and may be of these kinds by now. Restore a backup instead.',
    );
  }
}

/**
 * As before; what is lent goes to the address of a payout that is not over, and is taken back from there, to
 * the unit, whenever. `unless`: what else may be signed while a deposit of its payout is in no block.
 */
export const guardSentTerms = (unless = ''): string => `
create or replace function guard_sent_terms() returns trigger language plpgsql as $$
declare
  payout payouts%rowtype;
begin
  if tg_op = 'DELETE' then
    if old.purpose is not null then
      raise exception 'what was asked for or signed is never removed' using errcode = 'integrity_constraint_violation';
    end if;
    return old;
  end if;
  if new.purpose is null then
    return new;
  end if;
  if tg_op = 'INSERT' then
    if new.state not in ('asked', 'signed') then
      raise exception 'a transaction of ours begins asked or signed' using errcode = 'integrity_constraint_violation';
    end if;
    -- Locked: a payout that is being given up in another transaction is over when this one reads it.
    select * into payout from payouts where id = new.payout_id for no key update;
    if payout.state is null or payout.simulated
      or (new.purpose <> 'reclaim' and payout.state not in ('planned', 'paying')) then
      raise exception 'transactions are for payouts that are not over' using errcode = 'integrity_constraint_violation';
    end if;
    if new.network <> payout.network or (new.purpose = 'payout' and (
        (new.from_key, new.to_address, new.currency) <> (payout.address_key, payout.destination, payout.currency)
        or new.amount_units > payout.gross_units
        or (payout.currency = 'USDT' and new.amount_units <> payout.gross_units))) then
      raise exception 'a payout is asked for with its own terms' using errcode = 'integrity_constraint_violation';
    end if;
    if new.purpose = 'delegate' and (payout.currency <> 'USDT' or new.to_key <> payout.address_key) then
      raise exception 'what is lent goes to the address of a payout' using errcode = 'integrity_constraint_violation';
    end if;
    if new.purpose = 'reclaim' and not exists (select 1 from sent_transactions lent
        where lent.payout_id = new.payout_id and lent.purpose = 'delegate' and lent.raw is not null
          and (lent.from_key, lent.to_key, lent.amount_units) = (new.from_key, new.to_key, new.amount_units)) then
      raise exception 'what is taken back was lent before' using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.purpose = 'payout' and new.raw is not null and (tg_op = 'INSERT' or old.raw is null) and exists (
      select 1 from deposits where payout_id = new.payout_id
        and (status <> 'completed' or block_hash is null or verified_at is null))${unless} then
    raise exception 'a payout is signed while all its deposits are in a block and read twice'
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
`;

const KEEP_SENT = `
create or replace function keep_sent_transaction() returns trigger language plpgsql as $$
begin
  if (new.network, new.from_key, new.created_at) is distinct from (old.network, old.from_key, old.created_at)
     or (old.hash is not null and new.hash is distinct from old.hash) then
    raise exception 'a sent transaction keeps what it is' using errcode = 'check_violation';
  end if;
  if (new.purpose, new.payout_id, new.attempt, new.to_key, new.to_address, new.currency, new.amount_units)
     is distinct from
     (old.purpose, old.payout_id, old.attempt, old.to_key, old.to_address, old.currency, old.amount_units)
     and old.purpose is not null then
    raise exception 'what was asked for keeps its terms' using errcode = 'check_violation';
  end if;
  if old.raw is not null and (new.raw, new.nonce, new.expires_at, new.signed_at) is distinct from
     (old.raw, old.nonce, old.expires_at, old.signed_at) then
    raise exception 'what was signed keeps its bytes' using errcode = 'check_violation';
  end if;
  if old.reclaimed_at is not null and new.reclaimed_at is distinct from old.reclaimed_at then
    raise exception 'what was taken back is not lent any more' using errcode = 'check_violation';
  end if;
  if (old.state = 'foreign') <> (new.state = 'foreign') then
    raise exception 'what we did not sign does not become ours' using errcode = 'check_violation';
  end if;
  if old.state = 'final' and new.state = 'final' and (new.block_number, new.block_hash, new.ok, new.fee_units, new.moves)
     is distinct from (old.block_number, old.block_hash, old.ok, old.fee_units, old.moves) then
    raise exception 'what is final keeps its outcome' using errcode = 'check_violation';
  end if;
  if new.state <> old.state and not (
    (old.state = 'asked' and new.state in ('signed', 'dead'))
    or (old.state in ('signed', 'sent') and new.state in ('sent', 'mined', 'dead'))
    or (old.state = 'mined' and new.state in ('final', 'sent'))
    or (old.state = 'final' and new.state = 'sent' and new.block_hash is null)
    or (old.state = 'dead' and new.state = 'mined' and old.raw is not null)) then
    raise exception 'a sent transaction cannot go from % to %', old.state, new.state
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
`;
