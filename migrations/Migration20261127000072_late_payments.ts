import { Migration } from '@mikro-orm/migrations';

/** Which money came for a link after its end, so that its payer sees the transaction. */
export class Migration20261127000072_late_payments extends Migration {
  override up(): void {
    this.addSql(LATE_PAYMENTS);
  }

  override down(): void {
    this.addSql('drop table late_payments');
  }
}

const LATE_PAYMENTS = `
create table late_payments (
  payment_link_id uuid not null constraint late_payments_payment_link_id_foreign references payment_links (id),
  deposit_id uuid not null constraint late_payments_deposit_id_foreign references deposits (id),
  at timestamptz not null,
  primary key (payment_link_id, deposit_id)
);
create index late_payments_deposit_index on late_payments (deposit_id);
`;
