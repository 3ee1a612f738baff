import { Migration } from '@mikro-orm/migrations';

/** Which money came for a link after its end, so that its payer sees the transaction. */
export class Migration20261127000072_late_payments extends Migration {
  override up(): void {
    this.addSql(LATE_PAYMENTS);
    this.addSql(BEFORE);
    this.addSql(GUARD);
  }

  override down(): void {
    this.addSql('drop table late_payments');
    this.addSql('drop function guard_late_payment');
  }
}

const LATE_PAYMENTS = `
create table late_payments (
  deposit_id uuid not null primary key constraint late_payments_deposit_id_foreign references deposits (id),
  payment_link_id uuid not null constraint late_payments_payment_link_id_foreign references payment_links (id),
  at timestamptz not null
);
create index late_payments_link_index on late_payments (payment_link_id, at, deposit_id);
`;

// What came too late before there was this table: its event tells which deposit it was.
const BEFORE = `
insert into late_payments (deposit_id, payment_link_id, at)
select distinct on (d.id) d.id, l.id, e.occurred_at
from payment_links l
join events e on e.subject_id = l.id and e.type = 'payment.late'
join deposits d on d.id::text = convert_from(e.body, 'UTF8')::json #>> '{data,late_payment,deposit_id}'
  and d.customer_id = l.customer_id and d.mode = l.mode and d.currency = 'USDT'
where l.late
order by d.id, e.occurred_at desc;
`;

// What one payer sent is never shown to another one.
const GUARD = `
create function guard_late_payment() returns trigger language plpgsql as $$
begin
  if not exists (
    select 1 from deposits d join payment_links l on l.customer_id = d.customer_id and l.mode = d.mode
    where d.id = new.deposit_id and l.id = new.payment_link_id and d.currency = 'USDT'
  ) then
    raise exception 'a deposit comes late only for a link of its own customer' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
create trigger late_payments_guard before insert or update on late_payments for each row execute function guard_late_payment();
create trigger late_payments_no_delete before delete on late_payments for each row execute function refuse_change();
create trigger late_payments_no_truncate before truncate on late_payments for each statement execute function refuse_change();
`;
