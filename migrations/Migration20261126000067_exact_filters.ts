import { Migration } from '@mikro-orm/migrations';

/**
 * Deposits of one address and links of one order are read in their order from an index, however many there
 * are. An open link of the test mode may be made to expire earlier than it was made for.
 */
export class Migration20261126000067_exact_filters extends Migration {
  /** Grown tables are indexed while money goes on. Each step can be done again after a killed run. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
    // The new one begins with the same columns.
    this.addSql('drop index concurrently if exists deposits_address_index');
    this.addSql(guard(EARLIER_IN_TEST));
  }

  override down(): void {
    this.addSql(guard(NEVER));
    this.addSql(
      'create index concurrently if not exists deposits_address_index on deposits (network, address_key)',
    );
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
  }
}

const INDEXES = [
  'deposits_to_address_index on deposits (network, address_key, created_at, id)',
  `payment_links_external_id_index on payment_links (merchant_id, mode, external_id, created_at, id)
    where external_id is not null`,
];

const NEVER = 'or new.expires_at <> old.expires_at';
/** Later never, and what was made for real money never at all. */
const EARLIER_IN_TEST = `or new.expires_at > old.expires_at
     or (new.expires_at < old.expires_at and (old.mode <> 'test' or old.status not in ('pending', 'processing', 'partially_paid')))`;

const guard = (changed: string) => `
create or replace function guard_payment_link() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'payment links are never removed' using errcode = 'integrity_constraint_violation';
  end if;
  if tg_op = 'INSERT' then
    if new.status <> 'pending' or new.sequence <> 1 or new.paid_units <> 0 then
      raise exception 'a payment link begins as pending and unpaid, not as %', new.status using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if new.id <> old.id or new.merchant_id <> old.merchant_id or new.customer_id <> old.customer_id or new.mode <> old.mode
     or new.token <> old.token or new.amount_cents <> old.amount_cents or new.amount_units <> old.amount_units
     or new.least_units <> old.least_units or new.currency <> old.currency or new.network is distinct from old.network
     ${changed} or new.created_at <> old.created_at then
    raise exception 'what a payment link asks for never changes' using errcode = 'integrity_constraint_violation';
  end if;
  if old.completed_at is not null and (new.completed_at <> old.completed_at or new.paid_network is distinct from old.paid_network
     or new.transaction_hash is distinct from old.transaction_hash) then
    raise exception 'what completed a payment link never changes' using errcode = 'integrity_constraint_violation';
  end if;
  if new.status = old.status then
    if new.sequence <> old.sequence then
      raise exception 'the sequence changes only with the status' using errcode = 'integrity_constraint_violation';
    end if;
    return new;
  end if;
  if not (
    (old.status = 'pending' and new.status in ('processing', 'partially_paid', 'completed', 'expired', 'cancelled'))
    or (old.status = 'processing' and new.status in ('pending', 'partially_paid', 'completed', 'expired'))
    or (old.status = 'partially_paid' and new.status in ('pending', 'processing', 'completed', 'expired', 'cancelled'))
  ) then
    raise exception 'a payment link cannot go from % to %', old.status, new.status using errcode = 'integrity_constraint_violation';
  end if;
  if new.sequence <> old.sequence + 1 then
    raise exception 'a transition raises the sequence by one' using errcode = 'integrity_constraint_violation';
  end if;
  if new.status = 'completed' and new.paid_units < new.least_units then
    raise exception 'a payment link is completed only by its money' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;`;
