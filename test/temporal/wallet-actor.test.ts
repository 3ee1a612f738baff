import { expect } from 'chai';
import {
  rest,
  type SettlementActors,
  startSettlementActors,
  stuck,
  waits,
  went,
} from './settlement-stage.ts';

/** What each step is told; the first after each news looks again at what waits. */
const ALARMED = [false, true, true, true, false, false, true];

/** The actor on a real server, with steps that a test prescribes in the place of its activity. */
describe('the actor of a wallet that has signed what no block has', function () {
  this.timeout(120_000);
  let the: SettlementActors;
  before(async () => {
    the = await startSettlementActors();
  });
  after(() => the?.stop());

  it('waits as one pending step that says why, calls a person once, and ends when blocks have everything', async () => {
    const one = the.wallet(went('sent'), stuck, waits('no block has it'));
    await one.wake();
    await one.waiting('no block has it');
    expect((await one.attributes())['NeedsOperator']).to.deep.equal([true]);
    expect(one.asked().map(({ alarmed }) => alarmed)).to.include.members([false, true]);
    expect(await one.ui.handle.query('view')).to.deep.equal({ needsOperator: true, note: 'send 1 BNB' });
    one.next(rest);
    await one.wake();
    await one.ends();
    expect((await one.attributes())['NeedsOperator']).to.deep.equal([false]);
    expect(await one.ui.handle.result()).to.deep.equal({ note: 'nothing to pay out' });
  });

  it('takes the call back once it is not late any more, and calls again', async () => {
    const late = async () => ({ kind: 'went', note: 'sent', late: true });
    const one = the.wallet(stuck, late, waits('no block has it'));
    const alarmed = async () => (await one.attributes())['NeedsOperator']?.[0];
    await one.wake();
    await one.waiting('no block has it');
    expect(await alarmed()).to.equal(true);
    one.next(went('sent'), waits('no block has the next'));
    await one.wake();
    await one.waiting('no block has the next');
    expect(await alarmed()).to.equal(false);
    one.next(stuck, waits('no block has it still'));
    await one.wake();
    await one.waiting('no block has it still');
    expect(await alarmed()).to.equal(true);
    expect(one.asked().map((step) => step.alarmed)).to.deep.equal(ALARMED);
  });

  it('takes back the call of the run before', async () => {
    const one = the.wallet(rest);
    await one.wake(true);
    await one.ends();
    expect(one.asked().map(({ alarmed }) => alarmed)).to.deep.equal([true]);
    expect((await one.attributes())['NeedsOperator']).to.deep.equal([false]);
  });
});
