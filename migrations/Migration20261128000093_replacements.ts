import { Migration } from '@mikro-orm/migrations';
import { guardSentTerms } from './Migration20261125000059_lending.ts';

/**
 * What takes the place of a signed payout may be signed although a deposit of it has lost its block: the
 * bytes before it can land all the same.
 */
export class Migration20261128000093_replacements extends Migration {
  override up(): void {
    this.addSql(
      guardSentTerms(`
    and not exists (select 1 from sent_transactions before where before.payout_id = new.payout_id
      and before.purpose = 'payout' and before.raw is not null and before.nonce = new.nonce)`),
    );
  }

  override down(): void {
    this.addSql(guardSentTerms());
  }
}
