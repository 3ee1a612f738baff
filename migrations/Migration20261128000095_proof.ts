import { Migration } from '@mikro-orm/migrations';

/** What a wallet's key has signed without this gateway is kept with what proves that to the signer. */
export class Migration20261128000095_proof extends Migration {
  override up(): void {
    this.addSql('alter table sent_transactions add column proof jsonb');
  }

  override down(): void {
    this.addSql('alter table sent_transactions drop column proof');
  }
}
