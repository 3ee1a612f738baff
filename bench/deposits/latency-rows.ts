import type { Receiver } from '../../dev/support/receiver.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';

const LOOK_EVERY_MS = 5;

/**
 * Milliseconds from a moment of the wall clock to the receipt of an event about this transaction, of
 * `deposit.detected` where none is named.
 * Throws when it does not come within `limitMs`, or not signed as it should be.
 */
export async function receivedAfter(
  receiver: Receiver,
  {
    hash,
    sinceMs,
    limitMs = 20_000,
    event = 'deposit.detected',
  }: { hash: string; sinceMs: number; limitMs?: number | undefined; event?: string },
): Promise<number> {
  const until = sinceMs + limitMs;
  for (;;) {
    const request = receiver.requests.find(
      (item) => item.headers['x-webhook-event'] === event && item.body.includes(hash),
    );
    if (request && request.verified !== true) throw new Error('the signature of the event is wrong');
    if (request) return request.at - sinceMs;
    if (Date.now() > until) throw new Error(`the event did not arrive within ${limitMs / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Half of the sample came within the first, which is only told; 19 of 20 within the second. */
export function latencyRows(figure: string, values: readonly number[], goalMs: number): Row[] {
  const p95 = percentile(values, 0.95);
  return [
    { figure: `${figure}, p50`, value: `${percentile(values, 0.5).toFixed(0)} ms`, goal: '', met: true },
    {
      figure: `${figure}, p95`,
      value: `${p95.toFixed(0)} ms`,
      goal: `<= ${goalMs.toLocaleString('en-US')} ms`,
      met: p95 <= goalMs,
    },
  ];
}
