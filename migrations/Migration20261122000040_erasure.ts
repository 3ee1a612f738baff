import { Migration } from '@mikro-orm/migrations';

/**
 * Events stay as they are, but for the names of a customer who
 * was erased: the database permits exactly that change of a body.
 */
export class Migration20261122000040_erasure extends Migration {
  override up(): void {
    for (const sql of [ERASED, GUARD, TRIGGER]) this.addSql(sql);
  }

  override down(): void {
    this.addSql('drop trigger events_append_only on events');
    this.addSql(
      'create trigger events_append_only before update or delete on events for each row execute function refuse_change()',
    );
    this.addSql('drop function guard_event()');
    this.addSql('drop function erased_event(bytea, text, uuid)');
  }
}

// What an event says once its customer is erased. The external
// id of a payment link is that of the order, and goes too.
const ERASED = `
create function erased_event(body bytea, type text, customer uuid) returns jsonb language sql immutable
return (select jsonb_set(b.body, array['data'], b.body->'data' || coalesce((
    select jsonb_object_agg(m.name, m.value) from (values
      ('email', jsonb 'null'), ('name', jsonb 'null'), ('metadata', jsonb '{}'), ('description', jsonb 'null'),
      ('external_id', case when type = 'payment.completed' then jsonb 'null' else to_jsonb('erased-' || customer) end)
    ) as m (name, value) where jsonb_exists(b.body->'data', m.name)), '{}'))
  from (select convert_from(body, 'UTF8')::jsonb as body) b);
`;

const GUARD = `
create function guard_event() returns trigger language plpgsql as $$
declare
  customer uuid;
begin
  if tg_op = 'UPDATE' and (new.id, new.merchant_id, new.mode, new.type, new.subject_id, new.sequence, new.occurred_at, new.created_at)
      is not distinct from (old.id, old.merchant_id, old.mode, old.type, old.subject_id, old.sequence, old.occurred_at, old.created_at) then
    customer := coalesce(convert_from(old.body, 'UTF8')::jsonb->'data'->>'customer_id', old.subject_id::text)::uuid;
    if exists (select 1 from customers c where c.id = customer and c.external_id = 'erased-' || c.id and c.email is null)
        and convert_from(new.body, 'UTF8')::jsonb = erased_event(old.body, old.type, customer) then
      return new;
    end if;
  end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
`;

const TRIGGER = `
drop trigger events_append_only on events;
create trigger events_append_only before update or delete on events for each row execute function guard_event();
`;
