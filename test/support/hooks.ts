import { anvilBinary } from '../../dev/anvil.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';

/** Before the first test: every part must be there, because a test's own time limit is no place to build one. */
export async function mochaGlobalSetup(): Promise<void> {
  try {
    anvilBinary();
    await findTemporalCli({ log: (line) => process.stderr.write(`${line}\n`), env: process.env });
  } catch (error) {
    process.stderr.write(`The tests cannot run: ${(error as Error).message}\n`);
    process.exit(1);
  }
}

const STILL_OPEN_MS = 20_000;

/** After the last test: no process and no folder is left. What keeps the test process from its end is named. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopParts();
  setTimeout(() => console.error(`still open: ${process.getActiveResourcesInfo().join(', ')}`), STILL_OPEN_MS).unref();
}

/** The limits that tests name are for a quiet machine. A busy one gets three times as long: they only end what hangs. */
export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    if (test) test.timeout(3 * test.timeout());
  },
};
