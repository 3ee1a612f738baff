import { Migration } from '@mikro-orm/migrations';

/** Payment links, the deposits assigned to them, and the guards of both. */
export class Migration20261121000002_payment_links extends Migration {
  override up(): void {
    for (const sql of [LINKS, ASSIGNMENTS, OWN_ENDPOINTS]) this.addSql(sql);
  }

  override down(): void {
    throw new Error('Payment links are records of money and are not taken back. Restore a backup instead.');
  }
}

// Amounts in units are USDT with 18 decimals on every network.
// `least_units`: the amount less the tolerance of the time it was made.
const LINKS = `
create table payment_links (
  id uuid primary key,
  merchant_id uuid not null constraint payment_links_merchant_id_foreign references merchants (id),
  customer_id uuid not null constraint payment_links_customer_id_foreign references customers (id),
  mode varchar(4) not null,
  token varchar(64) not null,
  url varchar(2048) not null,
  status varchar(16) not null,
  amount_status varchar(10) not null,
  state_since timestamptz not null,
  sequence int not null,
  amount_cents numeric(78,0) not null,
  amount_units numeric(78,0) not null,
  least_units numeric(78,0) not null,
  paid_units numeric(78,0) not null,
  late boolean not null,
  currency varchar(8) not null,
  network varchar(8) null,
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
  constraint payment_links_token_unique unique (token),
  constraint payment_links_mode_check check (mode in ('live', 'test')),
  constraint payment_links_network_check check (network in ('bsc', 'tron')),
  constraint payment_links_status_check check (status in ('pending', 'processing', 'partially_paid', 'completed', 'expired', 'cancelled')),
  constraint payment_links_amount_status_check check (amount_status in ('none', 'underpaid', 'exact', 'overpaid', 'late')),
  constraint payment_links_amount_check check (amount_cents > 0 and least_units > 0 and least_units <= amount_units and paid_units >= 0),
  constraint payment_links_completed_check check ((status = 'completed') = (completed_at is not null))
);
create index payment_links_list_index on payment_links (merchant_id, mode, created_at, id);
create index payment_links_customer_index on payment_links (customer_id, created_at, id);
create index payment_links_open_index on payment_links (customer_id, created_at) where status in ('pending', 'processing', 'partially_paid');

-- The transition table of src/domain/payment-link.ts once more: a defect in the program cannot complete a link twice or without its money.
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
     or new.expires_at <> old.expires_at or new.created_at <> old.created_at then
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
create trigger payment_links_guard before insert or update or delete on payment_links for each row execute function guard_payment_link();
create trigger payment_links_no_truncate before truncate on payment_links for each statement execute function refuse_change();
`;

// One column and not a table: a deposit has one place for a link, so it can never be counted for two.
const ASSIGNMENTS = `
alter table deposits
  add column payment_link_id uuid null constraint deposits_payment_link_id_foreign references payment_links (id),
  add column mined_at timestamptz null,
  add constraint deposits_payment_check check (payment_link_id is null or (currency = 'USDT' and status <> 'failed'));
create index deposits_payment_link_index on deposits (payment_link_id) where payment_link_id is not null;

create function guard_assignment() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.payment_link_id is not null and new.payment_link_id is not distinct from old.payment_link_id then
    return new;
  end if;
  if tg_op = 'UPDATE' and old.payment_link_id is not null and (new.payment_link_id is not null or new.status <> 'failed') then
    raise exception 'a deposit is assigned once, until it fails' using errcode = 'integrity_constraint_violation';
  end if;
  if new.payment_link_id is not null and not exists (
    select 1 from payment_links where id = new.payment_link_id and customer_id = new.customer_id and mode = new.mode
  ) then
    raise exception 'a deposit pays only a link of its own customer' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger deposits_assignment_guard before insert or update of payment_link_id, status on deposits for each row execute function guard_assignment();
`;

// A link's own webhook URL is an endpoint that nobody sees in a list:
// so every rule of deliveries holds for it too. Its id is the link's.
const OWN_ENDPOINTS = `
alter table webhook_endpoints add column payment_link_id uuid null constraint webhook_endpoints_payment_link_id_foreign references payment_links (id);
create unique index webhook_endpoints_payment_link_unique on webhook_endpoints (payment_link_id) where payment_link_id is not null;
drop index webhook_endpoints_list_index;
create index webhook_endpoints_list_index on webhook_endpoints (merchant_id, mode, created_at, id) where payment_link_id is null;
`;
