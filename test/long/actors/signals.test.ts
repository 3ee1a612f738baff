import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { webUi } from '../../support/web-ui.ts';

/** More than the server lets a history grow to before it says that it is long: 4,096 events. */
const SIGNALS = 4_500;
const AT_A_TIME = 100;
const LONGEST_HISTORY = 5_500;

/** Actors that are signalled without an end: a run's history stays bounded, and nothing is missed. */
describe('thousands of signals', function () {
  this.timeout(300_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ env: { LOG_LEVEL: 'fatal' } });
  });
  after(async () => {
    await live?.stop();
  });

  const uiOf = (workflowId: string) => {
    const link = live.gateway.gateway.link;
    if (!link) throw new Error('no Temporal');
    return webUi(link, workflowId);
  };

  /** Sends them all, and waits until another run of the same actor has taken over. */
  async function flood(ui: ReturnType<typeof uiOf>): Promise<void> {
    const first = await ui.handle.describe();
    for (let sent = 0; sent < SIGNALS; sent += AT_A_TIME) {
      await Promise.all(Array.from({ length: AT_A_TIME }, () => ui.signal('changed', [])));
      // The SDK needs a millisecond for each signal, and a task may take only some seconds.
      await eventually('a task that is done', async () => (await ui.taskAttempts()) === 0, 30_000);
    }
    const now = await eventually(
      'a new run',
      async () => {
        const run = await ui.handle.describe();
        return run.runId !== first.runId && run;
      },
      60_000,
    );
    expect(now.status.name).to.equal('RUNNING');
    expect(
      (await live.gateway.gateway.link?.client.workflow.getHandle(now.workflowId, first.runId).describe())
        ?.historyLength,
    ).to.be.below(LONGEST_HISTORY);
  }

  it('to a deposit that waits, while its webhook does not arrive', async () => {
    live.receiver.setBehaviour((_index, request) =>
      request.body.includes('"event":"deposit.confirming"') ? 503 : 200,
    );
    const hash = await live.chain.usdt.call('transfer', [live.address, 2n * USDT_UNIT]);
    await live.chain.mine(2);
    await live.eventOf('deposit.confirming', hash);
    const ui = uiOf(`deposit:bsc:${hash}:${String((await live.deposits(hash))[0]?.['address'])}:USDT`);
    await flood(ui);
    live.receiver.setBehaviour(200);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash, 60_000);
    await eventually('the end of the actor', async () => (await ui.status()) === 'COMPLETED', 90_000);
    // The flood may take longer than the five attempts; what
    // is not at its end yet was taken over by the new run.
    const open = await live.gateway.deps.orm.em
      .fork()
      .execute(`select id from webhook_deliveries where status = 'pending'`);
    expect(open).to.deep.equal([]);
  });
});
