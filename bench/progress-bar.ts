const SAY_EVERY_MS = 1_000;
const WIDTH = 30;

/**
 * A line on stderr that says how much is done, how fast,
 * and how long the rest will take; `done` leaves it there.
 */
export function progressBar(name: string, total: number): { at(done: number): void; done(): void } {
  const began = performance.now();
  let said = 0;
  const write = (done: number, end: string): void => {
    const seconds = (performance.now() - began) / 1_000;
    const rate = done / Math.max(seconds, 0.001);
    const filled = total === 0 ? WIDTH : Math.round((done / total) * WIDTH);
    const bar = `${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}`;
    const left =
      done < total
        ? `${Math.ceil((total - done) / Math.max(rate, 0.001))} s left`
        : `${seconds.toFixed(1)} s`;
    process.stderr.write(
      `${process.stderr.isTTY ? '\r' : ''}${name.padEnd(10)} [${bar}] ${done} of ${total}, ${Math.round(rate)} rows/s, ${left}   ${end}`,
    );
  };
  return {
    at: (done) => {
      if (performance.now() - said < SAY_EVERY_MS || done >= total) return;
      said = performance.now();
      write(done, process.stderr.isTTY ? '' : '\n');
    },
    done: () => write(total, '\n'),
  };
}
