import type { Em } from '../db/orm.ts';
import { run, sql } from '../db/sql.ts';

/**
 * Takes from whoever may only look at the database what opens something or proves who somebody is: hashes of
 * passwords, sessions, links and keys, sealed secrets and answers, the tokens of pages. A role that may read
 * `merchants` and not write to it is such a one, whatever it is called. It keeps the other columns that it
 * may read and gets no more, but where the owner's default privileges give it tables, what is new in these:
 * so this is said again after each migration. A restore brings the rights of its place.
 */
export async function hideSecrets(em: Em): Promise<void> {
  await run(
    em,
    sql`do $$
declare
  one record;
begin
  for one in
    select c.oid::regclass as name, reader.grantee::regrole as reader,
      string_agg(quote_ident(a.attname), ', ') filter (where not secret.hidden
        and (own.may_read or own.gets_new)) as columns
    from pg_class m
    cross join lateral aclexplode(m.relacl) reader
    join pg_class c on c.relnamespace = m.relnamespace and c.relkind in ('r', 'p') and c.relowner = m.relowner
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    cross join lateral (select a.attname ~ '(^|_)sealed$|(^|_)token_hash$'
      or a.attname in ('password_hash', 'earlier_secrets')
      or (c.relname, a.attname) in (('api_keys', 'hash'), ('payment_links', 'token'),
        ('payment_links', 'url'))) secret (hidden)
    cross join lateral (select has_column_privilege(reader.grantee, c.oid, a.attnum, 'select'),
      reader.grantee in (select d.grantee from pg_default_acl cross join lateral aclexplode(defaclacl) d
        where defaclrole = m.relowner and defaclobjtype = 'r' and d.privilege_type = 'SELECT'
          and defaclnamespace in (0, m.relnamespace))) own (may_read, gets_new)
    where m.oid = to_regclass('merchants') and pg_has_role(m.relowner, 'usage')
      and reader.privilege_type = 'SELECT' and reader.grantee not in (0, m.relowner)
      and not has_table_privilege(reader.grantee, m.oid, 'insert')
    group by c.oid, reader.grantee
    -- Where nothing changes, nothing is locked.
    having bool_or(secret.hidden) and bool_or(own.may_read)
      and bool_or(case when secret.hidden then own.may_read else own.gets_new and not own.may_read end)
  loop
    -- What it gave on goes with it.
    execute format('revoke select on %s from %s cascade', one.name, one.reader);
    if one.columns is not null then
      execute format('grant select (%s) on %s to %s', one.columns, one.name, one.reader);
    end if;
  end loop;
end $$`,
  );
}
