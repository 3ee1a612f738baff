import { Migration } from '@mikro-orm/migrations';

/**
 * The partitions of the months ahead are made while the service runs, whose role may change
 * rows and nothing else: the three steps run as the owner of the tables. Each takes months
 * only, looks after the names itself, and does nothing that the others could not do anyway.
 */
export class Migration20261121000030_months_by_owner extends Migration {
  override up(): void {
    this.addSql(PROVE);
    this.addSql(OPEN);
    this.addSql(`alter function make_months(date, date) security definer`);
    this.addSql(`alter function make_months(date, date) set search_path = public, pg_temp`);
    this.addSql(ONLY_WHO_WRITES);
  }

  override down(): void {
    this.addSql(`alter function make_months(date, date) security invoker`);
    this.addSql(`alter function make_months(date, date) reset search_path`);
    this.addSql('drop function forget_month_ends(date)');
    this.addSql('drop function claim_month_end(text, date, date)');
    this.addSql('drop function prove_month_end(text, date)');
  }
}

const PARTITION = `parent || to_char(month, '_YYYY_MM')`;
const KNOWN = `
  if parent not in ('events', 'webhook_deliveries', 'webhook_attempts', 'deposit_transitions', 'ledger_transactions', 'ledger_entries')
     or not exists (select 1 from partition_months where first_month = month) then
    raise exception 'there is no such month of such a table';
  end if;`;
const AS_OWNER = 'language plpgsql security definer set search_path = public, pg_temp';

/**
 * A check that says where a partition ends: written down under
 * a short lock, then proven under one that keeps nobody out.
 */
const PROVE = `
create function claim_month_end(parent text, month date, ends date) returns void ${AS_OWNER} as $$
declare
  key constant text := case parent when 'webhook_attempts' then 'delivery_id' when 'deposit_transitions' then 'at'
    when 'ledger_entries' then 'transaction_id' else 'id' end;
  kind constant text := case parent when 'deposit_transitions' then 'timestamptz' else 'uuid' end;
  above text := '';
begin ${KNOWN}
  if month > (select min(first_month) from partition_months) then
    above := format('%I >= %s::%s and ', key, partition_bound(parent, month), kind);
  end if;
  execute format('alter table %I drop constraint if exists months_end', ${PARTITION});
  execute format('alter table %I add constraint months_end check (%s%I < %s::%s) not valid', ${PARTITION}, above, key,
    partition_bound(parent, ends), kind);
end $$;
create function prove_month_end(parent text, month date) returns void ${AS_OWNER} as $$
begin ${KNOWN}
  execute format('alter table %I validate constraint months_end', ${PARTITION});
end $$;
`;

/**
 * Not everybody who may read: those who may write months down by themselves, whatever their roles are called.
 */
const ONLY_WHO_WRITES = `
do $$
declare
  step text;
  writer text;
begin
  foreach step in array array['make_months(date, date)', 'claim_month_end(text, date, date)', 'prove_month_end(text, date)', 'forget_month_ends(date)'] loop
    execute format('revoke execute on function %s from public', step);
    for writer in select r.rolname from pg_roles r where has_table_privilege(r.oid, 'partition_months', 'insert') and not r.rolsuper
                    and r.rolname not like 'pg\\_%' and r.rolname <> current_user loop
      execute format('grant execute on function %s to %I', step, writer);
    end loop;
  end loop;
end $$;
`;

const OPEN = `
create function forget_month_ends(month date) returns void ${AS_OWNER} as $$
declare
  parent text;
begin
  foreach parent in array array['events', 'webhook_deliveries', 'webhook_attempts', 'deposit_transitions', 'ledger_transactions', 'ledger_entries'] loop
    ${KNOWN}
    execute format('alter table %I drop constraint if exists months_end', ${PARTITION});
  end loop;
end $$;
`;
