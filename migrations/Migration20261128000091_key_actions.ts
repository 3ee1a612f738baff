import { Migration } from '@mikro-orm/migrations';

/** What an API key changes that outlives its request is written down too. */
export class Migration20261128000091_key_actions extends Migration {
  override up(): void {
    this.addSql('alter table operator_actions drop constraint operator_actions_actor_check');
    this.addSql(`alter table operator_actions
      add column key_id uuid null constraint operator_actions_key_id_foreign references api_keys (id),
      add constraint operator_actions_actor_check check (num_nonnulls(by_name, user_id, key_id) = 1)`);
  }

  override down(): void {
    throw new Error('What keys did is a record of it and is not taken back. Restore a backup instead.');
  }
}
