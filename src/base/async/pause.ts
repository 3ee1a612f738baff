import { setTimeout as elapse } from 'node:timers/promises';

/** Waits at least as long as asked for. Throws the signal's reason at once when it aborts, or has aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await elapse(Math.ceil(ms), undefined, signal ? { signal } : {});
  } finally {
    // Node throws an error of its own in place of the reason.
    signal?.throwIfAborted();
  }
}
