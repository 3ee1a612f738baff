import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { findTemporalServer } from '../../../dev/temporal-server-install.ts';
import { startChild } from '../../../src/base/processes.ts';
import { makePlan } from '../plan/make-plan.ts';
import { PLANNED } from '../plan/networks.ts';
import { planHash } from '../plan/plan.ts';

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
  it('is planned by its seed and length alone', () => {
    expect(planHash(makePlan('one', 3))).to.equal(planHash(makePlan('one', 3)));
    expect(makePlan('one', 3)).to.deep.equal(makePlan('one', 3));
    const others = [makePlan('two', 3), makePlan('one', 4)].map(planHash);
    expect(new Set([...others, planHash(makePlan('one', 3))]).size).to.equal(3);
  });

  it('has every kind of action in its plan, tells each lie, and kills or stops each process', () => {
    const { actions } = makePlan('one', MINUTES);
    const kinds = new Set(actions.map((action) => action.kind));
    expect([...kinds]).to.have.members([
      'customer',
      'pay',
      'simulate',
      'reorg',
      'reborn',
      'refill',
      'redirect',
      'unpay',
      'rpc',
      'lie',
      'kill',
      'freeze',
    ]);
    const killed = new Set(actions.flatMap((action) => (action.kind === 'kill' ? [action.victim] : [])));
    expect([...killed]).to.have.members(['api', 'worker-1', 'worker-2', 'signer', 'temporal', 'postgres']);
    const frozen = new Set(actions.flatMap((action) => (action.kind === 'freeze' ? [action.victim] : [])));
    expect([...frozen]).to.have.members(['api', 'worker-1', 'worker-2', 'signer']);
    const told = new Set(
      actions.flatMap((action) => (action.kind === 'lie' ? [`${action.network} ${action.lie}`] : [])),
    );
    const troubled = actions.flatMap((action) => (action.kind === 'rpc' ? [action.fault] : []));
    expect(troubled).to.include.members(PLANNED.flatMap((chain) => chain.always));
    const lies = PLANNED.flatMap((chain) => chain.lies.map((lie) => `${chain.network} ${lie}`));
    expect([...told]).to.have.members(lies);
  });

  it('pays the same customers on both chains, some of them at the same moment', () => {
    const paid = makePlan('one', MINUTES).actions.filter((action) => action.kind === 'pay');
    const by = (network: string) => paid.filter((action) => action.network === network);
    expect(by('tron').length).to.be.within(by('bsc').length / 4, by('bsc').length);
    const together = by('tron').filter((action) =>
      by('bsc').some(
        ({ atMs, customers }) => atMs === action.atMs && customers.includes(action.customers[0] ?? -1),
      ),
    );
    // One of them is what the wallet that the run spends from is given.
    expect(together.length).to.be.greaterThan(3);
  });

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
    for (const { network } of PLANNED)
      expect(report, `a deposit on ${network} that was withdrawn and mined again`).to.match(
        new RegExp(`${network} deposits of a second generation +[1-9]`),
      );
    for (const { network } of PLANNED.filter(({ paysOut }) => paysOut))
      expect(report, `a payout on ${network}`).to.match(new RegExp(`${network} payouts that settled +[1-9]`));
    expect(report, 'a payout that lost its block').to.match(/payout taken out of its block +[1-9]/);
    expect(report, 'a payout that waited for coins').to.match(/waiting_for_gas +[1-9]/);
  });
});
