import { unavailable } from './errors.ts';

/** With the database away an answer leaves within 2 s; this leaves the rest of it to everything around the wait. */
export const BUDGET_MS = 1_800;

/**
 * The result of `work`, or a 503 when it takes longer than `limitMs`. The work itself is not ended: what it did may still be committed,
 * which is what a 503 on a write means.
 */
export async function withinBudget<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error(`no result within ${limitMs} ms`))), limitMs);
  });
  // Once the time is up nobody else would hear how it ended.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
