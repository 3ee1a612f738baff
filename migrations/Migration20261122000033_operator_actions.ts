import { Migration } from '@mikro-orm/migrations';

/** What operators and signed-in users changed: who, what, from where and when. */
export class Migration20261122000033_operator_actions extends Migration {
  override up(): void {
    this.addSql(OPERATOR_ACTIONS);
  }

  override down(): void {
    throw new Error('What operators did is a record of it and is not taken back. Restore a backup instead.');
  }
}

// An operator is a name, a user is a row: his email stands there and
// nowhere else. `before` and `after` hold what changed, never a secret.
const OPERATOR_ACTIONS = `
create table operator_actions (
  id uuid not null primary key,
  at timestamptz not null,
  action varchar(40) not null,
  by_name varchar(120) null,
  user_id uuid null constraint operator_actions_user_id_foreign references users (id),
  origin varchar(255) null,
  merchant_id uuid null constraint operator_actions_merchant_id_foreign references merchants (id),
  mode varchar(4) null,
  subject varchar(100) not null,
  before jsonb null,
  after jsonb null,
  reason varchar(500) null,
  constraint operator_actions_actor_check check ((by_name is null) <> (user_id is null)),
  constraint operator_actions_mode_check check (mode in ('live', 'test'))
);
create index operator_actions_at_index on operator_actions (at, id);
create index operator_actions_merchant_id_index on operator_actions (merchant_id, at, id);
create trigger operator_actions_append_only before update or delete on operator_actions for each row execute function refuse_change();
create trigger operator_actions_no_truncate before truncate on operator_actions for each statement execute function refuse_change();
`;
