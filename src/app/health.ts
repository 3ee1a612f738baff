import { within } from '../base/async/within.ts';
import { ChainCursor, ReconciliationPass } from '../db/entities/index.ts';
import { requireWrites, takesNoWrites } from '../db/usable.ts';
import { type Alarm, readAlarms } from '../services/operations/conditions/conditions.ts';
import type { Gateway } from './compose.ts';

/**
 * `reasons` say why it is not ready. `notes` deserve an operator's attention, and
 * are no reason to send traffic elsewhere.
 */
export type Readiness = {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
};

const DATABASE_WITHIN_MS = 1_500;
const TEMPORAL_WITHIN_MS = 2_500;
/** A watcher notes at least every 3 s that it read its chain. */
const POLLED_WITHIN_MS = 12_000;
const SETTLED_AFTER_MS = 20_000;
const NO_WRITES =
  'PostgreSQL takes no writes: it is a standby, or its disk, role or database was set read-only (default_transaction_read_only); end that, or point DATABASE_URL at the primary, and it goes on by itself';

/**
 * Whether everything that money needs is there: PostgreSQL, Temporal, and for each chain
 * in use a watcher that reads it. Answers within about 3 s, whatever does not respond;
 * each reason is a sentence that names the part.
 */
export async function readiness(gateway: Gateway, startedAt: Date): Promise<Readiness> {
  const [database, temporal] = await Promise.all([
    databaseReasons(gateway, startedAt),
    temporalReasons(gateway),
  ]);
  const reasons = [...database.reasons, ...temporal];
  return { ready: reasons.length === 0, reasons, notes: database.notes };
}

async function databaseReasons(
  gateway: Gateway,
  startedAt: Date,
): Promise<Pick<Readiness, 'reasons' | 'notes'>> {
  try {
    const { deps } = gateway;
    const em = deps.orm.em.fork();
    if (deps.settings.payments.watchedNetworks.length === 0) {
      await inTime(DATABASE_WITHIN_MS, requireWrites(em));
      return await alarmsOf(gateway, startedAt);
    }
    const [cursors, passes, alarms] = await Promise.all([
      inTime(DATABASE_WITHIN_MS, em.find(ChainCursor, {})),
      inTime(DATABASE_WITHIN_MS, deps.orm.em.fork().find(ReconciliationPass, { fault: { $ne: null } })),
      alarmsOf(gateway, startedAt),
      inTime(DATABASE_WITHIN_MS, requireWrites(deps.orm.em.fork())),
    ]);
    return {
      reasons: [...chainReasons(gateway, cursors, startedAt), ...alarms.reasons],
      notes: [
        ...passes.map(
          (pass) => `${pass.network}: balances are not being compared with the ledger: ${pass.fault}`,
        ),
        ...alarms.notes,
      ],
    };
  } catch (error) {
    return { reasons: [takesNoWrites(error) ? NO_WRITES : 'PostgreSQL does not answer'], notes: [] };
  }
}

/**
 * A chain that stands still is a reason; whatever else waits for a person is a note,
 * because another process would do no better.
 */
async function alarmsOf({ deps }: Gateway, startedAt: Date): Promise<Pick<Readiness, 'reasons' | 'notes'>> {
  // Each is read separately: a slow part of the database hides no chain that stands still.
  const alarms = await readAlarms(deps, (reading) => inTime(DATABASE_WITHIN_MS, reading));
  const raised = alarms.filter(({ count }) => count !== 0);
  const sentence = ({ reason, action }: Alarm): string => `${reason}; ${action}`;
  // After a start the watcher gets a moment to go on from where the one before it stopped.
  const settled = deps.now().getTime() - startedAt.getTime() >= SETTLED_AFTER_MS;
  return {
    reasons: settled ? raised.filter(({ urgent }) => urgent).map(sentence) : [],
    notes: raised.filter(({ urgent }) => !urgent).map(sentence),
  };
}

function chainReasons({ deps }: Gateway, cursors: readonly ChainCursor[], startedAt: Date): string[] {
  const now = deps.now().getTime();
  return deps.settings.payments.watchedNetworks.flatMap((network) => {
    const cursor = cursors.find((row) => row.network === network);
    // A process that has just started gives its watcher a moment before it says that nothing reads the chain.
    if (now - startedAt.getTime() < POLLED_WITHIN_MS && cursor?.fault == null) return [];
    const why = cursor?.fault ?? 'no worker watches it, or no RPC endpoint answers';
    if (!cursor) return [`${network} was never read: ${why}`];
    const silentMs = now - cursor.polledAt.getTime();
    if (silentMs <= POLLED_WITHIN_MS) return [];
    return [`${network} was not read for ${Math.floor(silentMs / 1_000)} s: ${why}`];
  });
}

async function temporalReasons(gateway: Gateway): Promise<string[]> {
  if (!gateway.link) return [];
  try {
    await inTime(TEMPORAL_WITHIN_MS, gateway.link.ping());
    return [];
  } catch {
    return ['Temporal does not answer'];
  }
}

async function inTime<T>(limitMs: number, work: Promise<T>): Promise<T> {
  return await within(limitMs, work, () => {
    throw new Error('too slow');
  });
}
