import { expect } from 'chai';
import {
  rest,
  type SettlementActors,
  startSettlementActors,
  stuck,
  waits,
  went,
} from './settlement-stage.ts';

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
    expect(await one.ui.handle.result()).to.deep.equal({ note: 'nothing to pay out' });
  });
});
