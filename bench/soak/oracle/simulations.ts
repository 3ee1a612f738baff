import type { Json } from '../api.ts';
import type { SimulateAction } from '../plan/plan.ts';
import type { Difference } from './compare.ts';
import type { Seen } from './records.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const REST: Readonly<Record<SimulateAction['outcome'], string>> = {
  completed: 'completed',
  detected: 'detected',
  confirming: 'confirming',
  failed: 'failed',
  settled: 'settled',
  reorged: 'failed',
};
const WAY: Readonly<Record<string, readonly string[]>> = {
  detected: ['detected'],
  confirming: ['detected', 'confirming'],
  completed: ['detected', 'confirming', 'completed'],
  settled: ['detected', 'confirming', 'completed', 'settled'],
  failed: ['detected', 'failed'],
};

/** Simulated deposits: one for each hash, at rest in the wanted state, announced as asked for and no more. */
export function compareSimulations(
  simulated: readonly { action: SimulateAction; depositId: string }[],
  deposits: readonly Json[],
  seen: readonly Seen[],
): Difference[] {
  const found: Difference[] = [];
  const known = new Set(simulated.map(({ depositId }) => depositId));
  for (const deposit of deposits)
    if (!known.has(text(deposit['id'])))
      found.push({
        rule: 'no test deposit that nobody simulated',
        subject: text(deposit['id']),
        detail: text(deposit['status']),
      });
  for (const { action, depositId } of simulated) {
    const rows = deposits.filter((deposit) => deposit['transaction_hash'] === action.hash);
    const state = REST[action.outcome];
    if (rows.length !== 1 || rows[0]?.['id'] !== depositId || rows[0]['status'] !== state)
      found.push({
        rule: 'one test deposit for each simulation',
        subject: depositId,
        detail: `${rows.length} deposits, ${text(rows[0]?.['status'])} instead of ${state}`,
      });
    const last = state === 'settled' ? ['completed', 'settled'] : [state];
    const wanted = action.events === 'full' ? (WAY[state] ?? []) : last;
    const sent = seen
      .filter((entry) => entry.data['id'] === depositId)
      .map((entry) => entry.event.slice('deposit.'.length));
    if (JSON.stringify([...sent].sort()) !== JSON.stringify([...wanted].sort()))
      found.push({
        rule: 'a simulation sends what was asked for',
        subject: depositId,
        detail: `${text(sent)} instead of ${text(wanted)}`,
      });
  }
  return found;
}
