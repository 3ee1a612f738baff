import { join } from 'node:path';
import { expect } from 'chai';
import { replayFiles } from '../../src/temporal/replay.ts';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';
import { gateway } from '../cli/support.ts';

const HISTORIES = join(import.meta.dirname, '../histories');
const SCENARIOS = [
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
];

const PAYMENT_SCENARIOS = [
  'cancelled',
  'completed-in-parts',
  'completed-while-waiting-for-the-chain',
  'expired',
  'simulated',
];

const SETTLEMENT_SCENARIOS = ['decided-then-settled', 'needs-operator-then-settled', 'settled'];

describe('the stored histories', function () {
  this.timeout(60_000);

  it('all replay against this code', async () => {
    const report = await replayFiles([HISTORIES]);
    expect(report.failed).to.deep.equal([]);
    expect(report.replayed).to.be.at.least(
      SCENARIOS.length + PAYMENT_SCENARIOS.length + SETTLEMENT_SCENARIOS.length + 2,
    );
  });

  it('cover every way a deposit can go', async () => {
    const report = await replayFiles(SCENARIOS.map((name) => join(HISTORIES, 'deposit', `${name}.json`)));
    expect(report).to.deep.equal({ replayed: SCENARIOS.length, failed: [] });
  });

  it('cover every way a payment link can go', async () => {
    const report = await replayFiles(
      PAYMENT_SCENARIOS.map((name) => join(HISTORIES, 'payment-link', `${name}.json`)),
    );
    expect(report).to.deep.equal({ replayed: PAYMENT_SCENARIOS.length, failed: [] });
  });

  it('cover the ways in which an address is paid out', async () => {
    const report = await replayFiles(
      SETTLEMENT_SCENARIOS.map((name) => join(HISTORIES, 'settlement', `${name}.json`)),
    );
    expect(report).to.deep.equal({ replayed: SETTLEMENT_SCENARIOS.length, failed: [] });
  });

  it('refuse a workflow that was altered without a patch', async () => {
    const altered = await bundleWorkflows(join(import.meta.dirname, '../support/altered/deposit-altered.ts'));
    const report = await replayFiles([join(HISTORIES, 'deposit')], altered);
    expect(report.failed.length).to.be.at.least(SCENARIOS.length - 1);
    expect(report.failed[0]?.error).to.match(/nondeterminism|Nondeterminism/i);
  });

  it('are told of by the command in one line, beside which nothing is said', async () => {
    const ran = await gateway(['replay', join(HISTORIES, 'deposit/completed.json')], {});
    expect(ran).to.deep.equal({ code: 0, stdout: 'Replayed 1, of which 0 failed.\n', stderr: '' });
  });

  it('must be histories: anything else is refused with a sentence', async () => {
    const error = await replayFiles([join(import.meta.dirname, '../../package.json')]).catch(
      (caught: Error) => caught,
    );
    expect(error).to.be.instanceOf(Error);
    expect(String(error)).to.match(/is not a workflow history|no history/);
  });
});
