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
  deposit_id uuid not null primary key constraint late_payments_deposit_id_foreign references deposits (id),
  payment_link_id uuid not null constraint late_payments_payment_link_id_foreign references payment_links (id),
  at timestamptz not null
);
create index late_payments_link_index on late_payments (payment_link_id, at, deposit_id);
`;
