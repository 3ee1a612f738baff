import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { ANYTHING, json, UNREADABLE } from '../support/web-ui.ts';
import {
  rest,
  type SettlementActors,
  startSettlementActors,
  stuck,
  waits,
  went,
} from './settlement-stage.ts';

const STEP = 'advance';

/** The actor on a real server, with steps that a test prescribes in the place of its one activity. */
describe('the actor that pays out an address', function () {
  this.timeout(120_000);
  let the: SettlementActors;
  before(async () => {
    the = await startSettlementActors();
  });
  after(() => the?.stop());
  const actor: SettlementActors['actor'] = (...steps) => the.actor(...steps);

  it('takes one step after the other until there is none, and ends', async () => {
    const one = actor(went('planned'), went('planned'), went('paying'), went('settled'), rest);
    await one.wake();
    expect(await one.ui.handle.result()).to.deep.equal({ note: 'nothing to pay out' });
    // One more look, where the signal of the start came after the first look had begun.
    expect(one.asked().length).to.be.within(5, 6);
    const { DepositStage, StageSince } = await one.attributes();
    expect(DepositStage).to.deep.equal(['settled']);
    expect(StageSince).to.have.length(1);
  });

  it('is started again by a wake after its end, and there is one for an address', async () => {
    const one = actor(rest);
    await one.wake();
    await one.ends();
    const before = one.asked().length;
    one.next(went('planned'), waits('sent'));
    await Promise.all(Array.from({ length: 5 }, one.wake));
    await one.waiting('sent');
    expect(one.asked().length).to.be.above(before);
    const runs = the.client.workflow.list({ query: `WorkflowId = '${one.workflowId}'` });
    await eventually('two runs in lists', async () => {
      const statuses: string[] = [];
      for await (const run of runs) statuses.push(run.status.name);
      return statuses.toSorted().join() === 'COMPLETED,RUNNING';
    });
    one.next(rest);
    await one.wake();
    await one.ends();
  });

  it('waits as one pending step that says why, without a timer, and looks at once when there is news', async () => {
    const one = actor(waits('the chain is behind'));
    await one.wake();
    await one.waiting('the chain is behind');
    expect(await one.ui.pending()).to.deep.equal([STEP]);
    one.next(went('settled'), rest);
    await one.wake();
    await one.ends();
    const { events } = await one.ui.handle.fetchHistory();
    expect((events ?? []).filter((event) => event.timerStartedEventAttributes)).to.deep.equal([]);
  });

  it('looks once more when there was news during its last look', async () => {
    let answer: () => void = () => undefined;
    let begun = false;
    const one = actor(async () => {
      begun = true;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return await rest();
    }, rest);
    await one.wake();
    await eventually('the look', async () => begun);
    one.next(went('planned'), rest);
    await one.wake();
    await eventually(
      'the news in its history',
      async () =>
        ((await one.ui.handle.fetchHistory()).events ?? []).filter(
          (event) => event.workflowExecutionSignaledEventAttributes,
        ).length === 2,
    );
    answer();
    await one.ends();
    expect((await one.attributes())['DepositStage']).to.deep.equal(['planned']);
  });

  it('shows that a person is needed, asks on with the alarm raised, and takes it back when it goes on', async () => {
    const one = actor(stuck, waits('waits for BNB'));
    await one.wake();
    await one.waiting('waits for BNB');
    expect(one.asked().map(({ alarmed }) => alarmed)).to.deep.equal([
      ...one
        .asked()
        .slice(1)
        .map(() => false),
      true,
    ]);
    expect((await one.attributes())['NeedsOperator']).to.deep.equal([true]);
    expect(await one.ui.handle.query('view')).to.deep.include({ needsOperator: true, note: 'send 1 BNB' });
    one.next(went('paying'), waits('on its way'));
    await one.wake();
    await one.waiting('on its way');
    expect((await one.attributes())['NeedsOperator']).to.deep.equal([false]);
    expect(one.asked().at(-1)?.alarmed).to.equal(false);
    one.next(rest);
    await one.wake();
    await one.ends();
  });

  it('goes on whatever is pressed: nonsense for its answer, a request to cancel, a pause, a reset', async () => {
    const one = actor(waits('sent'));
    await one.wake();
    const more = [undefined, json({ kind: 'went', state: 'gone', note: '' }), json({ kind: 'rest' })];
    for (const result of [...more, ...UNREADABLE]) {
      await one.waiting('sent');
      await one.ui.completeActivity(STEP, result);
    }
    await one.waiting('sent');
    expect(await one.ui.handle.query('view')).to.deep.equal({ state: '', needsOperator: false, note: '' });
    await one.ui.requestCancellation();
    await one.ui.pauseActivity(STEP);
    await one.ui.unpauseActivity(STEP);
    await one.ui.resetActivity(STEP);
    await one.ui.signal('changed', ANYTHING.slice(0, 3));
    await one.waiting('sent');
    expect(await one.ui.status()).to.equal('RUNNING');
    const [first = 0] = await one.ui.resetPoints();
    await one.ui.resetTo(first);
    await one.waiting('sent');
    one.next(rest);
    await one.wake();
    await one.ends();
  });
});
