import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { findTemporalServer } from '../../../dev/temporal-server-install.ts';
import { startChild } from '../../../src/base/processes.ts';
import { chainOf } from '../../../src/chains/index.ts';
import { NETWORKS } from '../../../src/domain/assets.ts';

const ENTRY = join(import.meta.dirname, '../../../src/bin.mjs');
const MINUTES = 2;
/**
 * The run itself, twenty minutes in which a machine with much
 * else to do may bring it to rest, and its beginning and end.
 */
const LIMIT_MS = (MINUTES + 20 + 5) * 60_000;
const BUILD_LIMIT_MS = 20 * 60_000;
const POLL_MS = 250;

describe('a soak', () => {
  it(`of ${MINUTES} minutes, with every process killed in turn, loses nothing, doubles nothing and invents nothing`, async function () {
    this.timeout(BUILD_LIMIT_MS + LIMIT_MS + 60_000);
    const folder = await tempDir('soak');
    const logFile = join(folder, 'soak.log');
    // Building the server is no part of the run's time.
    await findTemporalServer({ log: () => undefined, env: process.env });
    const args = [ENTRY, '--entry', 'bench/soak/main.ts', '--minutes', String(MINUTES), '--seed', 'ci'];
    const child = await startChild({
      name: 'soak',
      command: process.execPath,
      args,
      env: process.env,
      logFile,
      dataDir: folder,
    });
    try {
      const until = Date.now() + LIMIT_MS;
      while (child.running() && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      expect(child.status(), readFileSync(logFile, 'utf8').slice(-12_000)).to.equal(0);
    } finally {
      await child.stop();
    }
    const report = readFileSync(logFile, 'utf8');
    expect(report).to.include('No difference.');
    for (const network of NETWORKS)
      expect(report, `a deposit on ${network} that was withdrawn and mined again`).to.match(
        new RegExp(`${network} deposits of a second generation +[1-9]`),
      );
    for (const network of NETWORKS.filter((one) => chainOf(one).paysOut))
      expect(report, `a payout on ${network}`).to.match(new RegExp(`${network} payouts that settled +[1-9]`));
    expect(report, 'a payout that lost its block').to.match(/payout taken out of its block +[1-9]/);
    expect(report, 'a payout that waited for coins').to.match(/waiting_for_gas +[1-9]/);
  });
});
