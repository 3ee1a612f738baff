// What an operator is told of without asking: the rows that the alarms, `deposit stuck` and `doctor` read.
import { Deposit, type Severity, WebhookEndpoint } from '../../db/entities/index.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { assetOf, NATIVE_CURRENCY } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import { type AlarmKind, describeStandstill, readAlarms, readStandstills } from '../alarms/alarms.ts';
import { listStuck } from '../deposits/stuck.ts';
import type { Deps } from '../deps.ts';
import { isOverdue, listLoopRuns } from '../loop-runs.ts';
import { listPendingWithdrawChanges } from '../merchants/withdraw-notices.ts';
import { listForeign } from '../payouts/foreign.ts';
import { isLow, readGasLevels } from '../payouts/gas.ts';
import { listStuckPayouts } from '../payouts/stuck.ts';
import { openRestore } from '../restores/hold.ts';

/** Something that an operator should know of for as long as it holds. */
export type Condition = {
  /** By which it is known again. */
  readonly key: string;
  readonly kind: string;
  readonly severity: Severity;
  readonly reason: string;
  readonly action: string;
};

/** What holds at present, and which kinds could not be read: of those nothing is over. */
export type Conditions = { readonly found: readonly Condition[]; readonly unread: readonly string[] };

/** More of one kind than this are told as one: nobody reads a thousand messages. */
const MOST_OF_A_KIND = 20;
/** The commands that name all of a kind, where it is not those for what does not go on. */
const WHERE_ALL: Readonly<Record<string, string>> = {
  endpoint: 'run "list endpoints"',
  withdraw_address: 'run "merchant changes"',
};
const SIGNER_SILENT_S = 60;

type Reader = (deps: Deps) => Promise<readonly Omit<Condition, 'kind'>[]>;

const READERS: Readonly<Record<string, Reader>> = {
  chain: chains,
  deposit: deposits,
  payout: payouts,
  wallet: wallets,
  loop: loops,
  gas,
  signer,
  price: prices,
  endpoint: endpoints,
  withdraw_address: withdrawAddresses,
  restore,
  balances: (deps) => alarmOf(deps, 'balances', 'critical'),
  payment_links: (deps) => alarmOf(deps, 'payment_links', 'warning'),
  webhooks: (deps) => alarmOf(deps, 'webhooks', 'critical'),
  outbox: (deps) => alarmOf(deps, 'outbox', 'critical'),
};

/** Reads every kind by itself: one that cannot be read hides no other. Never throws. */
export async function readConditions(deps: Deps): Promise<Conditions> {
  const unread: string[] = [];
  const found: Condition[] = [];
  for (const [kind, read] of Object.entries(READERS))
    try {
      found.push(...bounded(kind, await read(deps)).map((one) => ({ ...one, kind })));
    } catch (error) {
      unread.push(kind);
      deps.log.warn({ err: error, kind }, 'what is to be noticed could not be read');
    }
  return { found, unread };
}

function bounded(kind: string, all: readonly Omit<Condition, 'kind'>[]): readonly Omit<Condition, 'kind'>[] {
  const [first] = all;
  if (!first || all.length <= MOST_OF_A_KIND) return all;
  const more = {
    key: `${kind}:more`,
    severity: first.severity,
    // Not how many: some are counted no further than this.
    reason: `there are more than ${MOST_OF_A_KIND} of these, and the others are not told one by one`,
    action: WHERE_ALL[kind] ?? 'run "deposit stuck" and "doctor", which name all of them',
  };
  return [...all.slice(0, MOST_OF_A_KIND), more];
}

async function chains(deps: Deps) {
  return (await readStandstills(deps))
    .filter(({ part }) => part !== 'reconciliation')
    .map((one) => ({
      key: `chain:${one.network}:${one.part}`,
      severity: 'critical' as const,
      reason: describeStandstill(one),
      action: one.action,
    }));
}

/** How much it is about and whose merchant will ask is told too; the customer's name goes to no chat tool. */
async function deposits(deps: Deps) {
  const stuck = await listStuck(deps);
  const ids = stuck.slice(0, MOST_OF_A_KIND).map(({ deposit_id }) => deposit_id);
  const whats = new Map(
    (await deps.orm.em.fork().find(Deposit, { id: { $in: ids } })).map(
      ({ id, network, currency, amountUnits, merchantId }) => [
        id,
        ` of ${formatUnits(amountUnits, assetOf(network, currency).decimals)} ${currency} for merchant ${merchantId}`,
      ],
    ),
  );
  return stuck.map((one) => ({
    key: `deposit:${one.deposit_id}`,
    severity: 'critical' as const,
    reason: `deposit ${one.deposit_id}${whats.get(one.deposit_id) ?? ''} on ${one.network} is ${one.state} since ${one.since}: ${one.reason}`,
    action: one.action,
  }));
}

async function payouts(deps: Deps) {
  return (await listStuckPayouts(deps)).map((one) => ({
    key: `payout:${one.network}:${one.address}`,
    severity: 'critical' as const,
    reason: `${one.address} on ${one.network} is not paid out since ${one.since}: ${one.reason}`,
    action: one.action,
  }));
}

async function wallets(deps: Deps) {
  return (await listForeign(deps, MOST_OF_A_KIND + 1)).map((one) => ({
    key: `wallet:${one.network}:${one.transaction_hash}`,
    severity: 'critical' as const,
    reason: one.reason,
    action: one.action,
  }));
}

async function loops(deps: Deps) {
  return (await listLoopRuns(deps)).filter(isOverdue).map(({ name, ageMs, fault }) => ({
    key: `loop:${name}`,
    severity: 'warning' as const,
    reason: `the background loop "${name}" has not run well for ${Math.floor(ageMs / 1_000)} s${fault ? `: ${fault}` : ''}`,
    action: 'see that a worker runs, and look into its log',
  }));
}

async function gas(deps: Deps) {
  return (await readGasLevels(deps.orm.em.fork())).filter(isLow).map((level) => ({
    key: `gas:${level.network}`,
    severity: 'critical' as const,
    reason: `the gas wallet ${level.address} of ${level.network} holds ${level.amount} ${level.currency}, enough for ${level.payoutsLeft ?? 'no'} payouts`,
    action: `send ${level.currency} to ${level.address}`,
  }));
}

async function signer(deps: Deps) {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ silentS: number; sealed: string | null }>`select sealed_reason as sealed,
      extract(epoch from ${deps.now()}::timestamptz - seen_at)::int as silent_s from signer_state`,
  );
  if (!row) return [];
  const critical = { severity: 'critical' as const };
  if (row.sealed !== null)
    return [
      {
        ...critical,
        key: 'signer:sealed',
        reason: `the signer signs nothing: ${row.sealed}`,
        action: 'do what it says',
      },
    ];
  if (row.silentS <= SIGNER_SILENT_S) return [];
  const reason = `the signer was last seen ${row.silentS} s ago: nothing new is signed`;
  return [{ ...critical, key: 'signer:away', reason, action: 'see that it runs, and look into its log' }];
}

/** USDT has a price of its own where none is known, so it is never missing. */
async function prices(deps: Deps) {
  const missing = await Promise.all(
    Object.values(NATIVE_CURRENCY).map(async (currency) => {
      const price = await deps.prices
        .price(currency, AbortSignal.timeout(PRICE_WITHIN_MS))
        .catch(() => undefined);
      return price === undefined || price.stale ? currency : undefined;
    }),
  );
  return missing
    .filter((currency) => currency !== undefined)
    .map((currency) => ({
      key: `price:${currency}`,
      severity: 'warning' as const,
      reason: `there is no fresh price for ${currency}: deposits of it may wait`,
      action: 'check PRICE_SOURCE with "doctor"',
    }));
}

const PRICE_WITHIN_MS = 2_000;

async function endpoints(deps: Deps) {
  const found = await deps.orm.em
    .fork()
    .find(
      WebhookEndpoint,
      { mode: 'live', deletedAt: null, paymentLinkId: null, disabledReason: { $ne: null } },
      { orderBy: { id: 'asc' }, limit: MOST_OF_A_KIND + 1 },
    );
  return found.map(({ id, merchantId, disabledReason }) => ({
    key: `endpoint:${id}`,
    severity: 'info' as const,
    reason: `webhook endpoint ${id} of merchant ${merchantId} was disabled: ${disabledReason}`,
    action: 'tell the merchant, who enables it again',
  }));
}

async function withdrawAddresses(deps: Deps) {
  return (await listPendingWithdrawChanges(deps)).map((change) => ({
    key: `withdraw_address:${change.id}`,
    severity: 'warning' as const,
    reason: `the withdraw address of merchant ${change.merchantId} on ${change.network} is asked to become ${change.address ?? 'none'}, and counts at ${change.countsAt.toISOString().slice(0, 19)}Z`,
    action: `ask the merchant over another way; "merchant changes --cancel ${change.id}" takes it back`,
  }));
}

async function restore(deps: Deps) {
  const open = await openRestore(deps.orm.em.fork());
  if (!open) return [];
  const reason = `payouts are held since the restore of ${open.restoredAt.toISOString().slice(0, 19)}Z`;
  return [
    { key: 'restore', severity: 'warning' as const, reason, action: 'run "doctor", which says what is left' },
  ];
}

async function alarmOf(deps: Deps, kind: AlarmKind, severity: Severity) {
  const alarm = (await readAlarms(deps)).find((one) => one.kind === kind);
  if (alarm?.count === undefined) throw new Error(alarm?.reason ?? 'no such alarm');
  return alarm.count === 0 ? [] : [{ key: kind, severity, reason: alarm.reason, action: alarm.action }];
}
