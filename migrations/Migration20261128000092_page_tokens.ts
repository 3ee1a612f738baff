import { Migration } from '@mikro-orm/migrations';

/**
 * What opens the page of a customer is kept as a hash and sealed, so that no copy of the database opens it.
 * Nothing here can seal: a page from before ends, and its customer has none until somebody makes one.
 */
export class Migration20261128000092_page_tokens extends Migration {
  override up(): void {
    // Its constraints go with it.
    this.addSql('alter table customers drop column page_token');
    this.addSql(`alter table customers
      add column page_token_hash varchar(64) null constraint customers_page_token_hash_unique unique,
      add column page_token_sealed bytea null,
      add constraint customers_page_token_check check ((page_token_hash is null) = (page_token_sealed is null)),
      add constraint customers_erased_page_check check (
        page_token_hash is null or external_id is distinct from 'erased-' || id)`);
  }

  /** Each customer gets a new token, as those had it who were there before there were pages. */
  override down(): void {
    this.addSql(`alter table customers drop column page_token_hash, drop column page_token_sealed,
      add column page_token varchar(35) null`);
    this.addSql(`alter table customers alter column page_token set default (${NEW_TOKEN})`);
    this.addSql(
      `update customers set page_token = default where external_id is distinct from 'erased-' || id`,
    );
    this.addSql(`alter table customers
      add constraint customers_page_token_unique unique (page_token),
      add constraint customers_page_token_check check (page_token ~ '^ap_[A-Za-z0-9_-]{32}$'),
      add constraint customers_erased_page_check check (
        page_token is null or external_id is distinct from 'erased-' || id)`);
  }
}

/** 182 random bits in base64url, made by the database. */
const NEW_TOKEN = `'ap_' || translate(encode(decode(left(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 48), 'hex'), 'base64'), '+/', '-_')`;
