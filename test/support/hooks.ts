import { testRun } from '../../dev/support/test-run.ts';
import { stopAllChildren } from '../../src/base/processes.ts';

// Loaded for every test file, so it imports nothing that takes time: a unit test pays for no server.

/** Before the first test: a test that has to build a part first may take longer than its own limit. */
export function mochaGlobalSetup(this: Mocha.Runner): void {
  testRun.unlimited = async (work) => {
    const { currentRunnable } = this;
    const limitMs = currentRunnable?.timeout();
    const began = performance.now();
    currentRunnable?.timeout(0);
    try {
      return await work();
    } finally {
      if (limitMs !== undefined) currentRunnable?.timeout(limitMs + Math.ceil(performance.now() - began));
    }
  };
}

const STILL_OPEN_MS = 20_000;

/**
 * After the last test: no process and no folder is left. Anything that keeps
 * the test process from ending is named.
 */
export async function mochaGlobalTeardown(): Promise<void> {
  for (const end of testRun.atEnd) await end();
  await stopAllChildren();
  setTimeout(
    () => console.error(`still open: ${process.getActiveResourcesInfo().join(', ')}`),
    STILL_OPEN_MS,
  ).unref();
}

/**
 * The limits that tests name are for a quiet machine. A busy one gets three times
 * as long: they only end what never finishes.
 */
export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    if (test) test.timeout(3 * test.timeout());
  },
};
