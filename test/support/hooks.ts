import { config } from 'chai';
import fc from 'fast-check';
import { seen, testRun } from '../../dev/support/test-run.ts';
import { stopAllChildren } from '../../src/base/processes.ts';

// Loaded for every test file, so it imports nothing that takes time: a unit test pays for no server.

// A failed case says what it saw: a text of a program is longer than the 40 characters that are the default.
config.truncateThreshold = 2_000;
// The gate tries the same cases each time; the long suite is given another seed by each run, which it prints.
fc.configureGlobal({ seed: Number(process.env['TEST_SEED'] ?? 1) });

/** Before the first test: a test that has to build a part first may take longer than its own limit. */
export function mochaGlobalSetup(this: Mocha.Runner): void {
  unlimitedIn(this);
}

/** Lets the test that runs at the time take longer than its limit while it builds a part. */
export function unlimitedIn(runner: Mocha.Runner): void {
  testRun.unlimited = async (work) => {
    const { currentRunnable } = runner;
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

export const mochaHooks = {
  /**
   * The limits that tests name are for a quiet machine. A busy one gets five times
   * as long: they only end what never finishes.
   */
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    if (test) test.timeout(5 * test.timeout());
    seen.length = 0;
  },
  /** A failed case says what it saw: the last answers, and the last lines of the log. */
  afterEach(this: Mocha.Context): void {
    const error = this.currentTest?.err;
    if (error && seen.length > 0)
      error.message += `\nseen before:\n${seen.map((line) => `  ${line}`).join('\n')}`;
  },
};
