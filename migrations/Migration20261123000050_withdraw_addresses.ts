import { Migration } from '@mikro-orm/migrations';

/** Where the payouts of a merchant go: a row for each network, so that another chain is no other table. */
export class Migration20261123000050_withdraw_addresses extends Migration {
  override up(): void {
    this.addSql(`
create table withdraw_addresses (
  merchant_id uuid not null constraint withdraw_addresses_merchant_id_foreign references merchants (id),
  network varchar(8) not null,
  address varchar(64) not null,
  primary key (merchant_id, network)
)`);
    for (const network of NETWORKS)
      this.addSql(`insert into withdraw_addresses (merchant_id, network, address)
        select id, '${network}', withdraw_${network} from merchants where withdraw_${network} is not null`);
    this.addSql('alter table merchants drop column withdraw_bsc, drop column withdraw_tron');
  }

  override down(): void {
    this.addSql(
      'alter table merchants add column withdraw_bsc varchar(64) null, add column withdraw_tron varchar(64) null',
    );
    for (const network of NETWORKS)
      this.addSql(`update merchants m set withdraw_${network} = w.address from withdraw_addresses w
        where w.merchant_id = m.id and w.network = '${network}'`);
    this.addSql('drop table withdraw_addresses');
  }
}

/** The networks that had a column. */
const NETWORKS = ['bsc', 'tron'];
