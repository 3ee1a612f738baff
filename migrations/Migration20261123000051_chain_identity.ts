import { Migration } from '@mikro-orm/migrations';

/**
 * What proves that a chain is the one that was read before, and what the second read of a block compares
 * where nothing in it touched us. And how many requests were sent to a chain's endpoints in a day.
 */
export class Migration20261123000051_chain_identity extends Migration {
  override up(): void {
    this.addSql('alter table chain_cursors add column identity varchar(80) null');
    this.addSql('alter table chain_blocks add column fingerprint varchar(64) null');
    this.addSql(
      'create table chain_requests (network varchar(8) primary key, day date not null, used int not null)',
    );
  }

  override down(): void {
    this.addSql('drop table chain_requests');
    this.addSql('alter table chain_blocks drop column fingerprint');
    this.addSql('alter table chain_cursors drop column identity');
  }
}
