import type { Standstill } from '../../domain/chain-stop.ts';
import { countStuck } from '../deposits/stuck.ts';
import type { Deps } from '../deps.ts';
import { isOverdue, listLoopRuns } from '../loop-runs.ts';
import { readOutbox } from '../outbox/state.ts';
import { countOverdueLinks } from '../payment-links/overdue.ts';
import { countForeign, listForeign } from '../payouts/foreign.ts';
import { readOverduePayouts } from '../payouts/overdue.ts';
import { countDifferences } from '../reconciliation/pass.ts';
import { readOverdueDeliveries } from '../webhooks/overdue.ts';
import { standstills } from './standstill.ts';
import { neverRead } from './unseen.ts';

/** What can need a person. Each kind is computed by itself: one that cannot be read hides no other. */
export const ALARM_KINDS = [
  'chain',
  'balances',
  'deposits',
  'wallets',
  'payouts',
  'payment_links',
  'webhooks',
  'outbox',
  'loops',
] as const;
export type AlarmKind = (typeof ALARM_KINDS)[number];

/**
 * What of one kind does not go on by itself. `count` is 0 when all is well, undefined
 * when it could not be read. `urgent` says that nothing of this kind goes on at all,
 * as for a chain that stands. `reason` and `action` are sentences for an operator.
 */
export type Alarm = {
  readonly kind: AlarmKind;
  readonly count: number | undefined;
  readonly urgent: boolean;
  readonly reason: string;
  readonly action: string;
};

/** Longer than a worker needs to take over what the process that wrote a message did not send. */
const OUTBOX_AFTER_MS = 60_000;

/**
 * Every kind of alarm, from rows alone: what the actors, workers and the watcher should have written
 * down, and did not. Metrics, readiness, `doctor` and `deposit stuck` are views of this. Cheap at any
 * size: each question is answered by an index and has a limit. Never throws. `limited` can refuse a kind
 * that takes too long: that one counts as one that could not be read, and the others are still reported.
 */
export async function readAlarms(
  deps: Deps,
  limited: (reading: Promise<Omit<Alarm, 'kind'>>) => Promise<Omit<Alarm, 'kind'>> = (reading) => reading,
): Promise<Alarm[]> {
  const parts: Readonly<Record<AlarmKind, (deps: Deps) => Promise<Omit<Alarm, 'kind'>>>> = {
    chain: chainAlarm,
    balances: balanceAlarm,
    deposits: depositAlarm,
    wallets: walletAlarm,
    payouts: payoutAlarm,
    payment_links: linkAlarm,
    webhooks: webhookAlarm,
    outbox: outboxAlarm,
    loops: loopAlarm,
  };
  return await Promise.all(
    ALARM_KINDS.map(async (kind) => {
      try {
        return { kind, ...(await limited(parts[kind](deps))) };
      } catch (error) {
        deps.log.warn({ err: error, kind }, 'a kind of alarm could not be read');
        const reason = `could not be read: ${error instanceof Error ? error.message : String(error)}`;
        return {
          kind,
          count: undefined,
          urgent: false,
          reason,
          action: 'see that PostgreSQL answers ("doctor")',
        };
      }
    }),
  );
}

const WELL = { count: 0, urgent: false, reason: '', action: '' } as const;

/** One sentence: "the second read of bsc stands at 1200 for 45 s: …". */
export function describeStandstill({ part, network, number, sinceMs, reason }: Standstill): string {
  if (part === 'block time') return `the clock is not that of ${network}: ${reason}`;
  return `the ${part} of ${network} stands at ${number} for ${seconds(sinceMs)}${reason === null ? '' : `: ${reason}`}`;
}

/**
 * What stands of the chains that this installation watches. A chain that was switched off stands by choice.
 */
export async function readStandstills(deps: Deps): Promise<Standstill[]> {
  const [never, all] = await Promise.all([neverRead(deps), standstills(deps)]);
  return [...never, ...all.filter(({ network }) => deps.settings.payments.watchedNetworks.includes(network))];
}

async function chainAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const [never, all] = await Promise.all([neverRead(deps), readStandstills(deps)]);
  const found = ofStandstills(all.filter(({ part }) => part !== 'reconciliation'));
  // Readiness has a reason of its own for a chain that was never read.
  return { ...found, urgent: found.urgent && (found.count ?? 0) > never.length };
}

async function balanceAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const standing = ofStandstills(
    (await readStandstills(deps)).filter(({ part }) => part === 'reconciliation'),
  );
  const differing = await countDifferences(deps);
  if (differing === 0) return { ...standing, urgent: false };
  const told = `${differing} ${differing === 1 ? 'balance differs' : 'balances differ'} from the ledger`;
  const reason = [told, ...(standing.reason === '' ? [] : [standing.reason])].join('; ');
  return {
    count: (standing.count ?? 0) + differing,
    urgent: false,
    reason,
    action: 'run "reconcile", which names the addresses',
  };
}

function ofStandstills(found: readonly Standstill[]): Omit<Alarm, 'kind'> {
  const [first] = found;
  if (!first) return WELL;
  return {
    count: found.length,
    urgent: true,
    reason: found.map(describeStandstill).join('; '),
    action: first.action,
  };
}

async function depositAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const count = await countStuck(deps);
  if (count === 0) return WELL;
  return {
    count,
    urgent: false,
    reason: `${count} deposits do not go on by themselves`,
    action: 'run "deposit stuck"',
  };
}

async function walletAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const [first] = await listForeign(deps, 1);
  if (!first) return WELL;
  const count = await countForeign(deps);
  const others = count > 1 ? `, and ${count - 1} more` : '';
  return { count, urgent: false, reason: `${first.reason}${others}`, action: 'run "deposit stuck"' };
}

async function payoutAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const { alarmed, leftAlone, first } = await readOverduePayouts(deps);
  if (alarmed + leftAlone === 0) return WELL;
  const told = [
    ...(alarmed > 0 ? [`${alarmed} addresses are not paid out, the first ${first}`] : []),
    ...(leftAlone > 0 ? [`nobody looks after ${leftAlone} payouts that are under way`] : []),
  ];
  const action =
    leftAlone > 0
      ? 'see that a worker runs that has RPC endpoints for the chain ("doctor"), then run "repair"'
      : 'run "deposit stuck", which names all of them';
  return { count: alarmed + leftAlone, urgent: false, reason: told.join('; '), action };
}

async function linkAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const count = await countOverdueLinks(deps);
  if (count === 0) return WELL;
  return {
    count,
    urgent: false,
    reason: `${count} payment links should have ended long ago`,
    action: 'run "deposit stuck"',
  };
}

async function webhookAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const { count, oldestMs } = await readOverdueDeliveries(deps);
  if (count === 0) return WELL;
  const reason = `${count} webhooks were not tried when they were due, the oldest for ${seconds(oldestMs)}`;
  const action =
    'see that a worker runs ("doctor"), then run "repair"; "webhook list" shows whether they are all of one slow receiver';
  return { count, urgent: false, reason, action };
}

async function outboxAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const { oldestMs, oldestError, quarantined, mayBeMore } = await readOutbox(deps);
  const [first] = quarantined;
  const waits = oldestMs > OUTBOX_AFTER_MS;
  if (!waits && !first) return WELL;
  const told = [
    ...(waits
      ? [`a message to an actor waits for ${seconds(oldestMs)}${oldestError ? ` (${oldestError})` : ''}`]
      : []),
    ...(first
      ? [
          `Temporal refuses ${mayBeMore ? 'at least ' : ''}${quarantined.length} messages for good, the first to ${first.workflowId}: ${first.error}`,
        ]
      : []),
  ];
  const action = first
    ? 'do what the refusal says (a missing search attribute: start a worker of this version), then run "repair"'
    : 'see that Temporal answers and that a worker runs ("doctor")';
  return { count: quarantined.length + (waits ? 1 : 0), urgent: false, reason: told.join('; '), action };
}

async function loopAlarm(deps: Deps): Promise<Omit<Alarm, 'kind'>> {
  const late = (await listLoopRuns(deps)).filter(isOverdue);
  if (late.length === 0) return WELL;
  const told = late.map(
    ({ name, ageMs, fault }) =>
      `"${name}" has not run well for ${seconds(ageMs)}${fault ? `: ${fault}` : ''}`,
  );
  const action = 'see that a worker runs and look into its log for "a background loop failed"';
  return { count: late.length, urgent: false, reason: told.join('; '), action };
}

const seconds = (ms: number): string => `${Math.floor(ms / 1_000)} s`;
