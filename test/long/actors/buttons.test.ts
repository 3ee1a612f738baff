import { expect } from 'chai';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { ownProductionTemporal } from '../../../dev/support/parts.ts';
import { failByOperator } from '../../../src/cli/commands/deposits/deposit-fail.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { depositStart } from '../../../src/services/deposits/actor-message.ts';
import { recordDecision } from '../../../src/services/deposits/decisions.ts';
import { repairDeposits } from '../../../src/services/repair/repair.ts';
import { BUTTONS, pressEach, step } from '../../actors/support/buttons.ts';
import { json, webUi } from '../../support/web-ui.ts';

/** The production server of Temporal may have to be built first, once for a user. */
const BUILD_LIMIT_MS = 20 * 60_000;
/** Longer than a row may stand before a repair looks at it. */
const LATER_MS = 6 * 60_000;
const EVENTS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];

/**
 * Deposits whose actors people press buttons for in Temporal's Web UI, on the server that production runs.
 */
describe('no button of the Web UI', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    live = await startLiveMoney({ temporal: ownProductionTemporal, env: { LOG_LEVEL: 'fatal' } });
  });
  after(async () => {
    await live?.stop();
  });

  const rowOf = async (hash: string) => (await live.deposits(hash))[0] ?? {};
  const link = () => {
    const found = live.gateway.gateway.link;
    if (!found) throw new Error('no Temporal');
    return found;
  };

  const pay = () => live.chain.usdt.call('transfer', [live.address, 3n * USDT_UNIT]);
  /** A deposit that waits for its confirmations, and its buttons. */
  async function waiting(hash?: string) {
    const paid = hash ?? (await pay());
    if (hash === undefined) await live.chain.mine(2);
    await live.eventOf('deposit.confirming', paid);
    const ui = webUi(link(), `deposit:bsc:${paid}:${String((await rowOf(paid))['address'])}:USDT`);
    await step(ui);
    return { hash: paid, ui };
  }
  /** What the command line writes before it asks the actor. */
  const decide = async (hash: string) =>
    await recordDecision(live.gateway.deps, {
      depositId: String((await rowOf(hash))['id']),
      by: 'Ann',
      reason: 'checked',
    });
  const ends = (ui: ReturnType<typeof webUi>) =>
    eventually('the end of the actor', async () => (await ui.status()) === 'COMPLETED', 40_000);
  /** Each event arrived, under one id and with one body. */
  function expectTold(hash: string, wanted: readonly string[]): void {
    const about = live.events().filter((item) => item.data['transaction_hash'] === hash);
    expect([...new Set(about.map((item) => item.event))].sort()).to.deep.equal([...wanted].sort());
    expect(new Set(about.map((item) => item.id)).size).to.equal(wanted.length);
  }

  it('keeps a deposit from its end, whatever was pressed before', async () => {
    const { hash, ui } = await waiting();
    await pressEach(BUTTONS, ui, live, step);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
    await ends(ui);
    expectTold(hash, EVENTS);
  });

  it('keeps a deposit from being failed, whatever was pressed before', async () => {
    const { hash, ui } = await waiting();
    await pressEach(BUTTONS, ui, live, step);
    await step(ui);
    await decide(hash);
    await eventually('the decision', async () => {
      const refused = await ui
        .update('fail', [json({ by: 'Ann', reason: 'checked' })])
        .catch((error: unknown) => String(error));
      return refused === undefined || (await rowOf(hash))['status'] === 'failed';
    });
    expect(await rowOf(hash)).to.include({
      status: 'failed',
      failure_code: 'REJECTED_BY_OPERATOR',
      failure_reason: 'checked',
    });
    await live.eventOf('deposit.failed', hash);
    await ends(ui);
    expectTold(hash, ['deposit.detected', 'deposit.confirming', 'deposit.failed']);
  });

  // The server may lose the task that waits in between, so the next repair
  // belongs to these buttons. It looks at rows that stand for minutes.
  const later = () => ({ ...live.gateway.deps, now: () => new Date(Date.now() + LATER_MS) });
  const hanging = (ui: ReturnType<typeof webUi>) =>
    live.gateway.deps.actors?.isUnresponsive(ui.handle.workflowId);
  /**
   * The actor of the deposit, as a server leaves it that lost its
   * task: nobody polls this queue, so the task waits for certain.
   */
  async function lost(): Promise<Awaited<ReturnType<typeof waiting>>> {
    const { hash, ui } = await waiting();
    const deposit = await live.gateway.deps.orm.em.fork().findOneOrFail(Deposit, { transactionHash: hash });
    await ui.terminate();
    await link().client.workflow.start('deposit', {
      workflowId: ui.handle.workflowId,
      taskQueue: 'nobody',
      args: [...depositStart(deposit, []).args],
    });
    expect(await hanging(ui), 'waits for a worker').to.equal(false);
    await ui.pause();
    expect(await hanging(ui), 'paused').to.equal(true);
    await ui.unpause();
    for (let times = 0; times < 120; times += 1) await ui.signal('changed', []);
    expect(await hanging(ui), 'lost').to.equal(true);
    return { hash, ui };
  }
  const fail = async (hash: string) =>
    await failByOperator(
      {
        ...live.gateway.gateway,
        temporal: {
          place: live.temporal.now,
          link: link(),
          uiUrl: null,
        },
      },
      {
        depositId: String((await rowOf(hash))['id']),
        by: 'Ann',
        reason: 'checked',
      },
    );

  it('keeps a deposit from its end: Pause and Unpause, at the latest with the next repair', async () => {
    const { hash, ui } = await waiting();
    await ui.pause();
    await ui.unpause();
    await live.chain.mine(6);
    const completed = async () => (await rowOf(hash))['status'] === 'completed';
    await eventually('the end, or a lost task', async () => (await completed()) || (await hanging(ui)));
    await eventually('the second read', async () => (await rowOf(hash))['verified_at'] != null);
    await repairDeposits(later());
    await live.eventOf('deposit.completed', hash);
    await ends(ui);
    expectTold(hash, EVENTS);
  });

  it('keeps a deposit from its end: a task lost between Pause and Unpause is seen, and a repair replaces the actor', async () => {
    const { hash, ui } = await lost();
    await live.chain.mine(6);
    await eventually('the second read', async () => (await rowOf(hash))['verified_at'] != null);
    await repairDeposits(later());
    await live.eventOf('deposit.completed', hash);
    await ends(ui);
    expectTold(hash, EVENTS);
  });

  for (const [name, press] of [
    ['a lost task', lost],
    [
      'a Pause',
      async () => {
        const found = await waiting();
        await found.ui.pause();
        return found;
      },
    ],
  ] as const)
    it(`keeps an operator from failing a deposit on the command line: ${name}`, async () => {
      const { hash, ui } = await press();
      expect(await fail(hash)).to.include({ status: 'failed', failure_code: 'REJECTED_BY_OPERATOR' });
      await live.eventOf('deposit.failed', hash);
      await ends(ui);
      expectTold(hash, ['deposit.detected', 'deposit.confirming', 'deposit.failed']);
    });

  it('fails another deposit than the one it belongs to', async () => {
    const hashes = [await pay(), await pay()];
    await live.chain.mine(2);
    const [one, other] = [await waiting(hashes[0]), await waiting(hashes[1])];
    await decide(one.hash);
    const command = {
      by: 'Ann',
      reason: 'checked',
      depositId: (await rowOf(other.hash))['id'],
      generation: 1,
    };
    expect(await one.ui.update('fail', [json(command)])).to.equal(undefined);
    expect(await rowOf(one.hash)).to.include({ status: 'failed' });
    expect(await rowOf(other.hash)).to.include({ status: 'confirming' });
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', other.hash);
  });
});
