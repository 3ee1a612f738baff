import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { temporal } from '../../dev/support/parts.ts';
import type { AddressKey } from '../../src/chains/address-key.ts';
import { settlementWake } from '../../src/services/payouts/actor-message.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { ANYTHING, json, webUi } from '../support/web-ui.ts';

const STEP = 'advance';
/** Long enough that only news ends it within a test. */
const LONG_MS = 3_600_000;

type Input = { readonly network: string; readonly addressKey: string; readonly alarmed: boolean };
type Step = (input: Input) => Promise<unknown>;

const rest = async () => ({ kind: 'rest', note: 'nothing to pay out' });
const went = (state: string) => async () => ({ kind: 'went', state, note: `it is ${state}` });
const waits = (reason: string) => async () => {
  throw ApplicationFailure.create({
    message: reason,
    type: 'Waiting',
    nextRetryDelay: LONG_MS,
    category: ApplicationFailureCategory.BENIGN,
  });
};
const stuck = async () => {
  throw ApplicationFailure.create({ message: 'send 1 BNB', type: 'NeedsOperator', nonRetryable: true });
};

/** The actor on a real server, with steps that a test prescribes in the place of its one activity. */
describe('the actor that pays out an address', function () {
  this.timeout(120_000);
  const taskQueue = `settlements-${randomBytes(4).toString('hex')}`;
  let link: TemporalLink;
  let client: Client;
  let connection: NativeConnection;
  let stopWorker: () => Promise<void>;
  /** By address, the steps to come; the last one is repeated. */
  const scripts = new Map<string, Step[]>();
  const asked = new Map<string, Input[]>();

  const startWorker = async (): Promise<void> => {
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        advanceSettlement: async (input: Input) => {
          asked.set(input.addressKey, [...(asked.get(input.addressKey) ?? []), input]);
          const steps = scripts.get(input.addressKey) ?? [];
          const step = steps.length > 1 ? steps.shift() : steps[0];
          return await (step ?? rest)(input);
        },
      },
    });
    const finished = worker.run();
    stopWorker = async () => {
      worker.shutdown();
      await finished;
    };
  };

  before(async () => {
    const { address } = await temporal();
    link = linkTemporal({ address, namespace: 'default' });
    await ensureSearchAttributes(link, 'default');
    client = new Client({ connection: await Connection.connect({ address }), namespace: 'default' });
    connection = await NativeConnection.connect({ address });
    await startWorker();
  });
  after(async () => {
    await stopWorker?.();
    await connection?.close();
    await client?.connection.close();
    await link?.close();
  });

  function actor(...steps: Step[]) {
    const addressKey = randomBytes(20).toString('hex') as AddressKey;
    scripts.set(addressKey, steps);
    const place = { network: 'bsc' as const, addressKey, address: `0x${addressKey}`, merchantId: 'm' };
    const [workflowId, message] = settlementWake(place);
    const ui = webUi(link, workflowId);
    return {
      ui,
      workflowId,
      next: (...more: Step[]) => scripts.set(addressKey, more),
      asked: () => asked.get(addressKey) ?? [],
      wake: async () => {
        await client.workflow.signalWithStart(message.workflowType, {
          workflowId,
          taskQueue,
          args: [...message.args],
          signal: message.signal?.name ?? '',
          signalArgs: [],
          memo: { ...message.memo },
        });
      },
      ends: () => eventually('its end', async () => (await ui.status()) === 'COMPLETED', 30_000),
      /** Waits in a step that has said why. */
      waiting: (reason: string) =>
        eventually(
          `a step that says ${reason}`,
          async () => {
            const { raw } = await ui.handle.describe();
            return raw.pendingActivities?.[0]?.lastFailure?.message === reason;
          },
          30_000,
        ),
      attributes: async () => (await ui.handle.describe()).searchAttributes,
    };
  }

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
    const runs = client.workflow.list({ query: `WorkflowId = '${one.workflowId}'` });
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

  it('goes on where it was after its worker was away', async () => {
    const one = actor(went('planned'), waits('sent'));
    await one.wake();
    await one.waiting('sent');
    await stopWorker();
    one.next(went('settled'), rest);
    await one.wake();
    await startWorker();
    await one.ends();
    expect((await one.attributes())['DepositStage']).to.deep.equal(['settled']);
  });

  it('takes nonsense that a person ended its step with for no answer', async () => {
    const one = actor(waits('sent'));
    await one.wake();
    const results = [
      undefined,
      ...ANYTHING,
      json({ kind: 'went', state: 'gone', note: '' }),
      json({ kind: 'rest' }),
    ];
    for (const result of results.filter((payload) => (payload?.data.length ?? 0) < 1_000_000)) {
      await one.waiting('sent');
      await one.ui.completeActivity(STEP, result);
    }
    await one.waiting('sent');
    expect(await one.ui.handle.query('view')).to.deep.equal({ state: '', needsOperator: false, note: '' });
    one.next(rest);
    await one.wake();
    await one.ends();
  });

  it('goes on whatever is pressed: a request to cancel, a pause, a reset', async () => {
    const one = actor(waits('sent'));
    await one.wake();
    await one.waiting('sent');
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

  it('refuses to run for anything but an address of ours', async () => {
    for (const args of [
      [],
      [null],
      [{ network: 'bsc' }],
      [{ network: 'eth', addressKey: 'a'.repeat(40) }],
      [{ network: 'bsc', addressKey: 'A'.repeat(40) }],
    ]) {
      const workflowId = `settlement:by-hand:${randomBytes(4).toString('hex')}`;
      const handle = await client.workflow.start('settlement', { workflowId, taskQueue, args });
      const error = await handle.result().catch((reason: Error) => reason);
      expect(String((error as Error).cause)).to.match(/was started without a valid "(network|addressKey)"/);
    }
  });
});
