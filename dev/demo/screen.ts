/** Prints the demo's lines with the seconds since its start. */
export type Screen = {
  line(text: string): void;
  /** A title between two stages. */
  stage(text: string): void;
  /**
   * Runs a step and prints how long it took. Where nothing else is printed a long one says that it goes on.
   */
  step<T>(text: string, work: () => Promise<T>): Promise<T>;
};

const STILL_EVERY_MS = 5_000;

/** A screen that writes to stdout. `startedMs` is the zero of the clock at the left. */
export function createScreen(startedMs: number): Screen {
  const clock = (): string => `${((Date.now() - startedMs) / 1_000).toFixed(1).padStart(6)}s`;
  let said = 0;
  const line = (text: string): void => {
    said = Date.now();
    process.stdout.write(`${clock()}  ${text}\n`);
  };
  return {
    line,
    stage: (text) => process.stdout.write(`\n── ${text} ${'─'.repeat(Math.max(0, 90 - text.length))}\n`),
    step: async (text, work) => {
      const began = Date.now();
      line(`… ${text}`);
      const timer = setInterval(() => {
        if (Date.now() - said >= STILL_EVERY_MS)
          line(`  still at it: ${text} (${Math.round((Date.now() - began) / 1_000)} s)`);
      }, 1_000);
      try {
        const result = await work();
        line(`✓ ${text} (${((Date.now() - began) / 1_000).toFixed(1)} s)`);
        return result;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
