import { Migration } from '@mikro-orm/migrations';

/**
 * Deposits in a seldom state or coin are found by an index, and counted. Without one a list
 * of them read all deposits of the merchant. Concurrently, so that deposits go on meanwhile.
 */
export class Migration20261122000047_filters extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const index of INDEXES) this.addSql(`create index concurrently if not exists ${index}`);
  }

  override down(): void {
    for (const index of INDEXES) this.addSql(`drop index concurrently if exists ${index.split(' ')[0]}`);
  }
}

const INDEXES = [
  'deposits_status_index on deposits (merchant_id, mode, status, created_at, id)',
  'deposits_coin_index on deposits (merchant_id, mode, network, currency, created_at, id)',
];
