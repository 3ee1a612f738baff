import { Migration } from '@mikro-orm/migrations';

/** 182 random bits in base64url, made by the database: also for customers who were there before. */
const NEW_TOKEN = `'ap_' || translate(encode(decode(left(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 48), 'hex'), 'base64'), '+/', '-_')`;

/**
 * Each customer has a page with its addresses, found by a token; null once it is erased. What is credited
 * locks its customer, so those who were there before get their token in small batches while money goes on.
 * Each step can be done again after a killed run.
 */
export class Migration20261126000068_address_pages extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('alter table customers add column if not exists page_token varchar(35) null');
    this.addSql(`alter table customers alter column page_token set default (${NEW_TOKEN})`);
    // Held for what is new from here on, so that nothing can be wrong when they are proven at the end.
    for (const [name, check] of CHECKS)
      this.addSql(unlessThere(name, `add constraint ${name} check (${check}) not valid`));
    this.addSql(FILL);
    this.addSql(
      'create unique index concurrently if not exists customers_page_token_unique on customers (page_token)',
    );
    this.addSql(
      unlessThere(
        'customers_page_token_unique',
        'add constraint customers_page_token_unique unique using index customers_page_token_unique',
      ),
    );
    for (const [name] of CHECKS) this.addSql(`alter table customers validate constraint ${name}`);
  }

  override down(): void {
    this.addSql('alter table customers drop column if exists page_token');
  }
}

const CHECKS = [
  ['customers_page_token_check', `page_token ~ '^ap_[A-Za-z0-9_-]{32}$'`],
  ['customers_erased_page_check', `page_token is null or external_id is distinct from 'erased-' || id`],
] as const;

const unlessThere = (name: string, change: string): string => `do $$ begin
  if not exists (select 1 from pg_constraint
      where conrelid = 'customers'::regclass and conname = '${name}') then
    alter table customers ${change};
  end if;
end $$`;

/**
 * A customer who is locked in this moment is left to a later round, so nobody waits for long and nothing for
 * each other. A batch is committed before the next one begins.
 */
const FILL = `do $$
declare
  last int;
  upto int;
  is_missing boolean;
begin
  loop
    last := null;
    loop
      select max(b.wallet_index) into upto from (
        select wallet_index from customers where last is null or wallet_index > last
        order by wallet_index limit 500) b;
      exit when upto is null;
      update customers set page_token = default where id in (
        select id from customers where (last is null or wallet_index > last) and wallet_index <= upto
          and page_token is null and external_id is distinct from 'erased-' || id
        for no key update skip locked);
      commit;
      last := upto;
    end loop;
    select exists (select 1 from customers
      where page_token is null and external_id is distinct from 'erased-' || id) into is_missing;
    exit when not is_missing;
    commit;
    perform pg_sleep(0.2);
  end loop;
end $$`;
