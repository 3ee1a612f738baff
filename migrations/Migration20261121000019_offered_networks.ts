import { Migration } from '@mikro-orm/migrations';

/**
 * A payment link keeps on which networks it was offered: it
 * expires only when each of them was read past its time.
 */
export class Migration20261121000019_offered_networks extends Migration {
  override up(): void {
    this.addSql(OFFERED);
  }

  override down(): void {
    throw new Error('Payment links are records of money and are not taken back. Restore a backup instead.');
  }
}

// Older links were offered on every network; those that were
// read at least once are the ones that can be read again.
const OFFERED = `
alter table payment_links add column offered_networks text[] not null default '{}';
update payment_links l set offered_networks = coalesce(
  (select array_agg(c.network::text order by c.network) from chain_cursors c where l.network is null or l.network = c.network), '{}');
alter table payment_links alter column offered_networks drop default,
  add constraint payment_links_offered_check check (offered_networks <@ array['bsc', 'tron']);
`;
