/** Waits, and ends at once with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.ceil(ms));
    signal.addEventListener('abort', done, { once: true });
  });
  signal.throwIfAborted();
}
