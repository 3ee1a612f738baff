import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { reasonOf } from '../../src/base/reason.ts';
import { ANYTHING } from '../support/web-ui.ts';
import {
  rest,
  type SettlementActors,
  startSettlementActors,
  stuck,
  waits,
  went,
} from './settlement-stage.ts';

/** What operators send to the actor; what is recorded of their decisions is said by the test. */
describe('decisions about payouts that are sent to the actor of an address', function () {
  this.timeout(120_000);
  let the: SettlementActors;
  before(async () => {
    the = await startSettlementActors();
  });
  after(() => the?.stop());
  const REASON = { by: 'Ann', reason: 'now' };

  const outcome = async (work: Promise<unknown>): Promise<string> =>
    await work.then(
      () => 'done',
      (error: unknown) => {
        let inner = error;
        while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
        return reasonOf(inner);
      },
    );

  for (const kind of ['retry', 'pause', 'resume'])
    it(`make it look at once, out of a long wait (${kind})`, async () => {
      const one = the.actor(stuck, waits('waits for BNB'));
      await one.wake();
      await one.waiting('waits for BNB');
      the.recorded.push({ kind, ...REASON });
      one.next(went('paying'), waits('on its way'));
      const said = await one.ui.handle.executeUpdate(kind, { args: [REASON] });
      expect(said).to.deep.equal({ state: '', needsOperator: true, note: 'send 1 BNB' });
      await one.waiting('on its way');
      expect((await one.attributes())['NeedsOperator']).to.deep.equal([false]);
      the.recorded.pop();
      one.next(rest);
      await one.wake();
      await one.ends();
    });

  it('are refused where nobody recorded them, and change nothing', async () => {
    const one = the.actor(waits('sent'));
    await one.wake();
    await one.waiting('sent');
    const before = one.asked().length;
    the.recorded.push({ kind: 'retry', ...REASON });
    for (const [kind, args] of [
      ['pause', REASON],
      ['resume', REASON],
      ['retry', { by: 'Ben', reason: 'now' }],
      ['retry', { by: 'Ann', reason: null }],
      ['retry', { by: 'Ann' }],
    ] as const)
      expect(await outcome(one.ui.handle.executeUpdate(kind, { args: [args] }))).to.equal(
        'no such decision is recorded',
      );
    expect(one.asked()).to.have.length(before);
    await one.ui.handle.executeUpdate('retry', { args: [REASON] });
    await eventually('another look', async () => one.asked().length > before);
    the.recorded.pop();
    one.next(rest);
    await one.wake();
    await one.ends();
  });

  it('are refused where they have not the form of one, whatever was typed', async () => {
    const one = the.actor(waits('sent'));
    await one.wake();
    await one.waiting('sent');
    const wrong = [
      undefined,
      'text',
      {},
      { by: '' },
      { by: 'Ann', reason: 'x'.repeat(501) },
      { by: 'A\0nn', reason: 'x' },
    ];
    for (const args of wrong)
      expect(await outcome(one.ui.handle.executeUpdate('resume', { args: [args] })), String(args)).to.match(
        /^"(by|reason)" must /,
      );
    await one.ui.signal('changed', ANYTHING.slice(0, 2));
    await one.waiting('sent');
    one.next(rest);
    await one.wake();
    await one.ends();
  });
});
