import { join } from 'node:path';
import { expect } from 'chai';
import { replayFiles } from '../../src/temporal/replay.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

const HISTORIES = join(import.meta.dirname, '../histories');
/** Every way that each kind of actor can go, which has to be among the histories. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  deposit: [
    'completed',
    'failed-by-reorg',
    'failed-by-operator',
    'needs-operator-then-completed',
    'settled',
    'simulated',
    'tron-completed',
    'tron-failed-by-reorg',
    'webhook-exhausted',
    'webhook-retried-to-success',
  ],
  'payment-link': [
    'cancelled',
    'completed-in-parts',
    'completed-while-waiting-for-the-chain',
    'expired',
    'simulated',
  ],
  settlement: ['decided-then-settled', 'needs-operator-then-settled', 'settled'],
  wallet: ['sent-again-then-mined'],
};

describe('the stored histories', function () {
  this.timeout(60_000);

  it('all replay against this code, and cover every way that an actor can go', async () => {
    const ways = Object.entries(WAYS).flatMap(([kind, names]) =>
      names.map((name) => join(HISTORIES, kind, `${name}.json`)),
    );
    expect(await replayFiles(ways)).to.deep.equal({ replayed: ways.length, failed: [] });
    const all = await replayFiles([HISTORIES]);
    expect(all.failed).to.deep.equal([]);
    expect(all.replayed).to.be.at.least(ways.length + 2);
  });

  it('refuse a workflow that was altered without a patch', async () => {
    const altered = await bundleWorkflows(join(import.meta.dirname, '../support/altered/deposit-altered.ts'));
    const report = await replayFiles([join(HISTORIES, 'deposit')], altered);
    expect(report.failed.length).to.be.at.least((WAYS['deposit']?.length ?? 0) - 1);
    expect(report.failed[0]?.error).to.match(/nondeterminism|Nondeterminism/i);
  });
});
