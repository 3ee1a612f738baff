import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../dev/support/fault-proxy.ts';
import { type Json, type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { readiness } from '../../src/app/health.ts';
import { decideToFail } from '../../src/services/deposits/operator.ts';
import { listStuck } from '../../src/services/deposits/stuck.ts';

const REQUESTS_PER_SECOND = 100;

/** Finality that stands still or breaks, and an outage that is caught up with, through the whole gateway. */
describe('a chain that is late', function () {
  this.timeout(120_000);
  let live: LiveMoney;
  let proxy: FaultProxy;

  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
    live = await startLiveMoney({
      // What the tests break on purpose would be logged as errors.
      env: { LOG_LEVEL: 'fatal', BSC_RPC_REQUESTS_PER_SECOND: String(REQUESTS_PER_SECOND) },
      rpcUrls: (chain) => {
        proxy.target = chain.url;
        return proxy.url;
      },
    });
  });
  after(async () => {
    await live?.stop();
    await proxy?.stop();
  });
  afterEach(() => {
    proxy.fault = undefined;
  });

  const sql = <T>(text: string, params: unknown[] = []) =>
    live.gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const cursor = async () => (await sql<Json>('select * from chain_cursors'))[0] ?? {};
  const scannedTo = (block: number, limitMs = 20_000) =>
    eventually(
      `block ${block} scanned`,
      async () => Number((await cursor())['scanned_number']) >= block,
      limitMs,
    );
  const rowOf = async (hash: string): Promise<Json> => (await live.deposits(hash))[0] ?? {};
  const handleOf = (id: string): WorkflowHandle => {
    const client = live.gateway.gateway.link?.client;
    if (!client) throw new Error('no client');
    return client.workflow.getHandle(id);
  };
  const actorOf = async (hash: string) =>
    handleOf(`deposit:bsc:${hash}:${String((await rowOf(hash))['address'])}:USDT`);
  /** The message of the step that waits, as the Web UI shows it. */
  const waitsFor = async (actor: WorkflowHandle): Promise<string> =>
    (await actor.describe()).raw.pendingActivities?.find((entry) => entry.activityId?.startsWith('advance:'))
      ?.lastFailure?.message ?? '';
  const wake = (actor: WorkflowHandle) =>
    live.gateway.gateway.link?.actors.wake(actor.workflowId, 'advance:confirming', {
      workflowType: 'deposit',
      args: [],
    });
  const readyState = () => readiness(live.gateway.gateway, new Date(0));
  const eventsOf = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);

  /** From now on the endpoint names the block that is final now for ever. */
  async function stallFinality(): Promise<number> {
    const block = (await live.chain.anvil.rpc('eth_getBlockByNumber', ['finalized', false])) as {
      number: string;
    };
    proxy.fault = (call) =>
      call.method === 'eth_getBlockByNumber' && call.params[0] === 'finalized'
        ? { json: { jsonrpc: '2.0', id: call.id, result: block } }
        : undefined;
    return Number.parseInt(block.number, 16);
  }

  it('holds a deposit while finality stalls, says so everywhere, and completes it by itself when finality moves again', async () => {
    const { deps } = live.gateway;
    const usualMs = deps.settings.stuckAfterMs;
    const final = await stallFinality();
    const hash = await live.chain.usdt.call('transfer', [live.address, 25n * USDT_UNIT]);
    await live.chain.mine(1);
    await live.eventOf('deposit.detected', hash);
    const actor = await actorOf(hash);
    await live.chain.mine(110);
    await live.eventOf('deposit.confirming', hash);
    await eventually('the first reason', async () =>
      (await waitsFor(actor)).endsWith(`is not final yet: finality stands at ${final}`),
    );
    // The stall is made older than it is, instead of waiting for it.
    // The version keeps the watcher from writing the true time back.
    await sql(
      `update chain_cursors set finalized_moved_at = now() - interval '11 minutes', version = version + 1`,
    );
    const reason = new RegExp(`finality stalled at block ${final} for \\d{3} s$`);
    await eventually('the reason of the stall', async () => reason.test(await waitsFor(actor)), 30_000);
    const state = await eventually(
      'a readiness that degrades',
      async () => !(await readyState()).ready && (await readyState()),
    );
    expect(state.reasons).to.have.length(1);
    expect(state.reasons[0]).to.match(
      new RegExp(
        `^the finality of bsc stands at ${final} for \\d{3} s: blocks come up to \\d+, and its endpoints`,
      ),
    );
    try {
      Object.assign(deps.settings, { stuckAfterMs: 1_000 });
      await sql('update deposits set wake_at = now() where transaction_hash = ?', [hash]);
      await wake(actor);
      const needs = async () => (await actor.describe()).searchAttributes['NeedsOperator']?.[0];
      await eventually('the alarm', async () => (await needs()) === true, 30_000);
      const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
      expect(stuck?.reason).to.match(reason);
      expect(stuck?.action).to.match(/wait until the chain is final again/);
      expect(await rowOf(hash)).to.include({ status: 'confirming' });
      expect(eventsOf(hash)).to.deep.equal(['deposit.detected', 'deposit.confirming']);
    } finally {
      Object.assign(deps.settings, { stuckAfterMs: usualMs });
    }
    proxy.fault = undefined;
    await live.eventOf('deposit.completed', hash, 30_000);
    await eventually('readiness', async () => (await readyState()).ready);
    expect(eventsOf(hash)).to.have.members(['deposit.detected', 'deposit.confirming', 'deposit.completed']);
  });

  it('never takes a completed deposit back by itself: an operator decides when finality broke under it', async () => {
    const { deps } = live.gateway;
    const before = await live.ledger();
    const hash = await live.chain.usdt.call('transfer', [live.address, 40n * USDT_UNIT]);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
    await live.chain.reorg(6);
    await live.chain.mine(8);
    await eventually('the deposit without a block', async () => (await rowOf(hash))['block_hash'] === null);
    await scannedTo(Number(await live.chain.anvil.rpc('eth_blockNumber')));
    const row = await rowOf(hash);
    expect(row).to.include({ status: 'completed', failure_code: null });
    expect(row['alarmed_at']).to.not.equal(null);
    const credited = (await live.ledger())['available'] ?? 0n;
    expect(credited - (before['available'] ?? 0n), 'nothing is taken back in silence').to.equal(
      40n * USDT_UNIT,
    );
    expect(eventsOf(hash)).to.not.include('deposit.failed');
    const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
    expect(stuck?.reason).to.match(/^finality broke: block \d+, which held it, was replaced$/);
    expect(stuck?.action).to.match(/deposit fail/);
    await decideToFail(deps, { depositId: String(row['id']), by: 'Ann', reason: 'gone from the chain' });
    const failed = await live.eventOf('deposit.failed', hash);
    expect(failed).to.include({ failure_code: 'REORGED', failure_reason: 'gone from the chain' });
    expect((await live.ledger())['available']).to.equal(before['available'] ?? 0n);
    expect((await live.ledger())['chain']).to.equal(before['chain'] ?? 0n);
  });

  it('is caught up with while the heartbeat shows blocks, rate and time left, and no more is asked than the operator allows', async () => {
    await live.gateway.stopWorker();
    const early = await live.chain.usdt.call('transfer', [live.address, 2n * USDT_UNIT]);
    await live.chain.mine(900);
    const late = await live.chain.usdt.call('transfer', [live.address, 3n * USDT_UNIT]);
    const head = await live.chain.mine(10);
    const asked: number[] = [];
    proxy.fault = () => {
      asked.push(performance.now());
      return undefined;
    };
    await live.gateway.startWorker();
    const watcher = handleOf('chain:bsc');
    const seen = await eventually(
      'a heartbeat of the catch-up',
      async () => {
        const [activity] = (await watcher.describe()).raw.pendingActivities ?? [];
        const [details] = activity?.heartbeatDetails?.payloads ?? [];
        const text = details ? defaultPayloadConverter.fromPayload<string>(details) : '';
        return text.includes(`head ${head}, `) && text.includes(' to go at ') && text;
      },
      30_000,
    );
    const shape =
      /^scanned (\d+), head (\d+), final \d+, read twice up to \d+; (\d+) blocks since the start, (\d+) to go at (\d+\.\d) blocks\/s, about \d+ (s|min) left$/;
    const [, scanned, shownHead, done, left, rate] = shape.exec(seen) ?? [];
    expect(seen).to.match(shape);
    expect(Number(shownHead)).to.equal(head);
    expect(Number(left)).to.equal(head - Number(scanned));
    expect(Number(done)).to.be.above(0);
    expect(Number(rate)).to.be.within(1, REQUESTS_PER_SECOND * 1.5);
    await live.eventOf('deposit.completed', early, 40_000);
    await live.eventOf('deposit.detected', late, 40_000);
    await scannedTo(head, 40_000);
    const most = Math.max(
      ...asked.map((at) => asked.filter((other) => other >= at && other < at + 1_000).length),
    );
    // One second of the budget, and what may go out at once after a quiet time.
    expect(most).to.be.at.most(REQUESTS_PER_SECOND + 50 + 5);
  });
});
