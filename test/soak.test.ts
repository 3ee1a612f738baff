import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makePlan } from '../bench/soak/plan.ts';
import { startChild } from '../src/devnet/processes.ts';
import { tempDir } from './support/parts.ts';

const ENTRY = join(import.meta.dirname, '../src/bin.mjs');
const MINUTES = 2;
/** The run itself, five minutes in which it may come to rest, and its beginning and end. */
const LIMIT_MS = (MINUTES + 5 + 3) * 60_000;
const POLL_MS = 250;

describe('a soak', function () {
  this.timeout(LIMIT_MS + 60_000);

  it('is planned by its seed alone', () => {
    expect(makePlan('one', 1)).to.deep.equal(makePlan('one', 1));
    expect(makePlan('one', 1)).to.not.deep.equal(makePlan('two', 1));
  });

  it(`of ${MINUTES} minutes, with every process killed in turn, loses nothing, doubles nothing and invents nothing`, async () => {
    const folder = await tempDir('soak');
    const logFile = join(folder, 'soak.log');
    const args = [ENTRY, '--entry', 'bench/soak/main.ts', '--minutes', String(MINUTES), '--seed', 'ci', '--dev-server'];
    const child = await startChild({ name: 'soak', command: process.execPath, args, env: process.env, logFile, dataDir: folder });
    try {
      const until = Date.now() + LIMIT_MS;
      while (child.running() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      expect(child.status(), readFileSync(logFile, 'utf8').slice(-12_000)).to.equal(0);
    } finally {
      await child.stop();
    }
    expect(readFileSync(logFile, 'utf8')).to.include('No difference.');
  });
});
