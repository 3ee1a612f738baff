// The one list of what can need a person. Metrics, `/health/ready`, `doctor`, `deposit stuck` and notices are
// views of it: a new danger is a file beside this one and its entry here.
import type { Deps } from '../../deps.ts';
import { balances } from './balances.ts';
import { chain } from './chain.ts';
import { type Condition, type ConditionKind, type ConditionReading, sentenceOf } from './condition.ts';
import { deposit } from './deposit.ts';
import { endpoint } from './endpoint.ts';
import { gas } from './gas.ts';
import { loop } from './loop.ts';
import { months } from './months.ts';
import { outbox } from './outbox.ts';
import { paymentLinks } from './payment-links.ts';
import { payout } from './payout.ts';
import { price } from './price.ts';
import { restore } from './restore.ts';
import { signer } from './signer.ts';
import { wallet } from './wallet.ts';
import { walletIndexes } from './wallet-indexes.ts';
import { webhooks } from './webhooks.ts';
import { withdrawAddress } from './withdraw-address.ts';

export const CONDITIONS: readonly ConditionKind[] = [
  chain,
  balances,
  deposit,
  wallet,
  payout,
  paymentLinks,
  webhooks,
  outbox,
  loop,
  withdrawAddress,
  gas,
  signer,
  price,
  endpoint,
  restore,
  months,
  walletIndexes,
];

/** The kinds that are counted, by their labels in `gateway_alarms`. */
export const ALARM_LABELS: readonly string[] = CONDITIONS.flatMap(({ label }) => label ?? []);

/** What one kind said; `unread` where it could not be read, which is a condition as well. */
export type ReadKind = ConditionReading & { readonly kind: ConditionKind; readonly unread?: Condition };

/** Reads each of these kinds by itself, so that one that cannot be read hides no other. Never throws. */
export async function readKinds(
  deps: Deps,
  which: (kind: ConditionKind) => boolean = () => true,
): Promise<ReadKind[]> {
  const read: ReadKind[] = [];
  // One after the other: whoever asks may have a single connection.
  for (const kind of CONDITIONS.filter(which))
    try {
      read.push({ kind, ...(await kind.read(deps)) });
    } catch (error) {
      read.push({ kind, found: [], unread: unreadCondition(deps, kind, error) });
    }
  return read;
}

function unreadCondition({ log }: Deps, { name, label = name }: ConditionKind, error: unknown): Condition {
  log.warn({ err: error, kind: name }, 'a kind of alarm could not be read');
  return {
    key: `unread:${name}`,
    severity: 'warning',
    check: name,
    reason: `${label} could not be read: ${error instanceof Error ? error.message : String(error)}`,
    action: 'see that PostgreSQL answers ("doctor")',
  };
}

/**
 * All of one kind together. `count` is 0 when all is well, undefined when it could not be read. `urgent` says
 * that nothing of this kind goes on at all, as for a chain that stands.
 */
export type Alarm = {
  readonly kind: string;
  readonly count: number | undefined;
  readonly urgent: boolean;
  readonly reason: string;
  readonly action: string;
};

/**
 * Every kind that has a label, from rows alone: what the actors, workers and the watcher should have written
 * down, and did not. Cheap at any size: each question is answered by an index and has a limit. Never throws.
 * `limited` can refuse a kind that takes too long: that one counts as one that could not be read, and the
 * others are still reported.
 */
export async function readAlarms(
  deps: Deps,
  limited: (reading: Promise<Alarm>) => Promise<Alarm> = (reading) => reading,
): Promise<Alarm[]> {
  const labelled = CONDITIONS.flatMap((kind) =>
    kind.label === undefined ? [] : { kind, label: kind.label },
  );
  return await Promise.all(
    labelled.map(async ({ kind, label }) => {
      try {
        return await limited(alarmOf(deps, kind, label));
      } catch (error) {
        const { reason, action } = unreadCondition(deps, kind, error);
        return { kind: label, count: undefined, urgent: false, reason, action };
      }
    }),
  );
}

/** So many are named in the sentence for all of them. */
const NAMED = 5;

async function alarmOf(deps: Deps, { sum, read }: ConditionKind, kind: string): Promise<Alarm> {
  if (sum) return { kind, urgent: false, ...(await sum(deps)) };
  const { found } = await read(deps);
  const others = found.length > NAMED ? [`and ${found.length - NAMED} more`] : [];
  return {
    kind,
    count: found.reduce((total, { count = 1 }) => total + count, 0),
    urgent: found.some(({ urgent }) => urgent),
    reason: [...found.slice(0, NAMED).map(sentenceOf), ...others].join('; '),
    action: found[0]?.action ?? '',
  };
}
