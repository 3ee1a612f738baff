import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** What an operator, a signed-in user or an API key can change, in the words of the command line. */
export type ActionName =
  | 'allow-ip.add'
  | 'allow-ip.remove'
  | 'archive.detach'
  | 'customer.create'
  | 'customer.erase'
  | 'customer.new-page'
  | 'deposit.claim'
  | 'deposit.fail'
  | 'deposit.release'
  | 'deposit.simulate'
  | 'endpoint.change'
  | 'endpoint.create'
  | 'endpoint.delete'
  | 'endpoint.resend-failed'
  | 'endpoint.test'
  | 'key.create'
  | 'key.revoke'
  | 'key.rotate'
  | 'link.cancel'
  | 'link.create'
  | 'link.expire'
  | 'list.export'
  | 'merchant.create'
  | 'merchant.set'
  | 'payout.accept'
  | 'payout.deny'
  | 'payout.conclude'
  | 'payout.pause'
  | 'payout.resume'
  | 'payout.retry'
  | 'payout.seen'
  | 'payout.take-up'
  | 'quota.set'
  | 'rescan'
  | 'restore'
  | 'subscription.set'
  | 'totals.rebuild'
  | 'user.change-password'
  | 'user.create'
  | 'user.end-sessions'
  | 'user.invite'
  | 'user.remove'
  | 'user.reset-password'
  | 'user.set-password'
  | 'user.totp'
  | 'webhook.resend'
  | 'withdraw_address.asked'
  | 'withdraw_address.cancelled'
  | 'withdraw_address.changed'
  | 'withdraw_address.refused'
  | 'withdraw_address.replaced';

/** Members of a row as they were or became. Never a secret, and of a person no more than an id. */
export type Facts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export type Change = {
  readonly action: ActionName;
  /** The id of what was changed; a network or a hash if it has no id. */
  readonly subject: string;
  readonly merchantId?: string | null;
  readonly mode?: Mode;
  readonly before?: Facts | undefined;
  readonly after?: Facts | undefined;
  readonly reason?: string | null | undefined;
};

/**
 * Writes the audit row of a change into the transaction of the change, if somebody is to be named for it
 * (`deps.actor`): a person, or an API key where what it changes outlives its request. What the gateway itself
 * does gets none. If both sides are given, only what differs is kept.
 */
export async function recordAction(
  em: Em,
  deps: Pick<Deps, 'actor' | 'now' | 'newId'>,
  change: Change,
): Promise<void> {
  const { actor } = deps;
  if (!actor) return;
  const { before, after } = differences(change);
  const { action, merchantId = null, mode = null, subject, reason = null } = change;
  const byName = actor.kind === 'operator' ? actor.name : null;
  const userId = actor.kind === 'user' ? actor.userId : null;
  // Named for keys alone: a restore writes its own row into the tables of an older version.
  const [column, key] = actor.kind === 'key' ? [sql`key_id,`, sql`${actor.keyId},`] : [sql``, sql``];
  await run(
    em,
    sql`insert into operator_actions (id, at, action, by_name, user_id, ${column} origin, merchant_id, mode,
      subject, before, after, reason)
      values (${deps.newId()}, ${deps.now()}, ${action}, ${byName}, ${userId}, ${key} ${actor.from},
        ${merchantId}, ${mode}, ${subject},
        ${textOf(before)}::jsonb, ${textOf(after)}::jsonb, ${reason})`,
  );
}

function differences({ before, after }: Change): Pick<Change, 'before' | 'after'> {
  if (!before || !after) return { before, after };
  const changed = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const only = (facts: Facts): Facts =>
    Object.fromEntries(changed.map((name) => [name, facts[name] ?? null]));
  return { before: only(before), after: only(after) };
}

function textOf(facts: Facts | undefined): string | null {
  return facts === undefined ? null : JSON.stringify(facts);
}
