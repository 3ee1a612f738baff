import { Migration } from '@mikro-orm/migrations';

/** What was set aside is looked up by block: a block that is replaced takes it along. */
export class Migration20261121000011_unrecognised_by_block extends Migration {
  override up(): void {
    this.addSql(
      'create index unrecognised_transfers_block_index on unrecognised_transfers (network, block_number);',
    );
  }

  override down(): void {
    this.addSql('drop index unrecognised_transfers_block_index;');
  }
}
