import type { Orm } from '../../src/db/orm.ts';

/** Who may do what with every table, column, sequence and function of the gateway. */
export async function rightsOf(orm: Orm): Promise<unknown> {
  return await orm.em.fork().execute(
    `select kind, name, array(select unnest(acl)::text order by 1) as acl from (
       select 'relation' as kind, relname::text as name, relacl as acl from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S', 'v')
       union all select 'column', attrelid::regclass || '.' || attname, attacl from pg_attribute
         where attacl is not null and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
       union all select 'function', p.oid::regprocedure::text, proacl from pg_proc p
         where pronamespace = 'public'::regnamespace
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       union all select 'default', defaclobjtype::text || defaclnamespace::text, defaclacl from pg_default_acl
     ) rights where acl is not null order by 1, 2`,
  );
}
