import { anvilBinary } from '../../src/devnet/anvil.ts';
import { findTemporalCli } from '../../src/devnet/temporal-cli.ts';
import { stopParts } from './parts.ts';

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

/** After the last test: no process and no folder is left. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopParts();
}
