import { Migration } from '@mikro-orm/migrations';
import { neverEmptied } from './statements.ts';

/** Payment links: what each asks for, where it was offered, and how much of it came. */
export class Migration20261129000003_payment_links extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}

const OPEN = "status in ('pending', 'processing', 'partially_paid')";
/**
 * What is open in millionths, rounded up, is what a payer is asked for on the network with the fewest
 * decimals: one key for both networks.
 */
const ASKED = 'div(amount_units - assigned_units + 999999999999, 1000000000000)';

const SQL = `
-- Amounts in units are USDT with 18 decimals on every network. least_units: the amount less the tolerance
-- of the time it was made. A link expires only when each of its offered_networks was read past its time.
-- partial_units: the part of its money that an event has told of.
create table payment_links (
  id uuid primary key,
  merchant_id uuid not null constraint payment_links_merchant_id_foreign references merchants (id),
  customer_id uuid not null constraint payment_links_customer_id_foreign references customers (id),
  mode varchar(4) not null check (mode in ('live', 'test')),
  token varchar(64) not null constraint payment_links_token_unique unique,
  url varchar(2048) not null,
  status varchar(16) not null
    check (status in ('pending', 'processing', 'partially_paid', 'completed', 'expired', 'cancelled')),
  amount_status varchar(10) not null check (amount_status in ('none', 'underpaid', 'exact', 'overpaid', 'late')),
  state_since timestamptz not null,
  sequence int not null,
  amount_cents numeric(78,0) not null,
  amount_units numeric(78,0) not null,
  least_units numeric(78,0) not null,
  paid_units numeric(78,0) not null,
  late boolean not null,
  currency varchar(8) not null,
  network varchar(8) null check (network in ('bsc', 'tron')),
  description varchar(500) null,
  external_id varchar(255) null,
  metadata jsonb not null,
  success_url varchar(2048) null,
  cancel_url varchar(2048) null,
  webhook_url varchar(2048) null,
  paid_network varchar(8) null,
  paid_currency varchar(8) null,
  transaction_hash varchar(66) null,
  expires_at timestamptz not null,
  completed_at timestamptz null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  assigned_units numeric(78,0) not null default 0,
  open_count int not null default 0,
  offered_networks text[] not null,
  event_sequence int not null default 0,
  partial_units numeric(78,0) not null default 0,
  constraint payment_links_amount_check check (
    amount_cents > 0 and least_units > 0 and least_units <= amount_units and paid_units >= 0),
  constraint payment_links_completed_check check ((status = 'completed') = (completed_at is not null)),
  constraint payment_links_sums_check check (assigned_units >= paid_units and open_count >= 0),
  constraint payment_links_offered_check check (offered_networks <@ array['bsc', 'tron']),
  constraint payment_links_events_check check (event_sequence >= 0 and partial_units >= 0)
);

-- The search asks with exactly this expression.
create index payment_links_list_index on payment_links (merchant_id, mode, created_at, id);
create index payment_links_external_id_index on payment_links (merchant_id, mode, external_id, created_at, id)
  where external_id is not null;
create index payment_links_any_external_id_index on payment_links (external_id) where external_id is not null;
create index payment_links_search_index on payment_links using gin
  (lower(coalesce(description, '') || chr(10) || coalesce(external_id, '') || chr(10) || token) gin_trgm_ops);
create index payment_links_customer_index on payment_links (customer_id, created_at, id);
create index payment_links_open_index on payment_links (customer_id, created_at, id) where ${OPEN};
create index payment_links_open_owner_index on payment_links (merchant_id, mode) where ${OPEN};
create index payment_links_ending_index on payment_links (expires_at, id) where ${OPEN};
create index payment_links_asked_index on payment_links (customer_id, ${ASKED}, created_at, id)
  where ${OPEN} and assigned_units < amount_units;
create index payment_links_wanting_index on payment_links (customer_id, created_at, id)
  where ${OPEN} and assigned_units < amount_units;
create index payment_links_missed_index on payment_links (customer_id, ${ASKED}, created_at, id)
  where status <> 'completed' and assigned_units < amount_units;
create index payment_links_short_index on payment_links (customer_id, (least_units - assigned_units), created_at, id)
  where status <> 'completed' and assigned_units < amount_units;

-- The transition table of src/domain/payment-link.ts once more: a defect in the program cannot complete a
-- link twice or without its money. In test mode alone an open link may be made to expire earlier.
create function guard_payment_link() returns trigger language plpgsql as $$
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
     or new.expires_at > old.expires_at
     or (new.expires_at < old.expires_at and (old.mode <> 'test' or old.status not in ('pending', 'processing', 'partially_paid'))) or new.created_at <> old.created_at then
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
end $$;
create trigger payment_links_guard before insert or update or delete on payment_links
  for each row execute function guard_payment_link();
${neverEmptied('payment_links')}

-- The triggers of deposits write the sums; nobody else does.
create function guard_link_sums() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.assigned_units <> 0 or new.open_count <> 0 then
      raise exception 'a payment link begins without money' using errcode = 'integrity_constraint_violation';
    end if;
  elsif pg_trigger_depth() < 2 then
    raise exception 'the sums of a payment link change only with its deposits' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger payment_links_sums_insert before insert on payment_links for each row execute function guard_link_sums();
create trigger payment_links_sums_update before update on payment_links for each row
  when (old.paid_units <> new.paid_units or old.assigned_units <> new.assigned_units or old.open_count <> new.open_count)
  execute function guard_link_sums();

-- An event's id is made of this number, so one that came back would be an event that is not written.
create function guard_link_events() returns trigger language plpgsql as $$
begin
  raise exception 'the number of a payment link''s events never falls' using errcode = 'integrity_constraint_violation';
end $$;
create trigger payment_links_events before update on payment_links for each row
  when (new.event_sequence < old.event_sequence) execute function guard_link_events();
`;
