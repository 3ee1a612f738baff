import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../../dev/support/live-chains.ts';
import type { Json, LiveMoney } from '../../../dev/support/live-money.ts';
import { readiness } from '../../../src/app/health.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { listStuck } from '../../../src/services/deposits/stuck.ts';
import { waitingFor } from '../support/deposits.ts';
import { type Stalling, stallingBsc, stallingTron } from '../support/stalling.ts';

const STEPS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];
const OTHER = { bsc: 'tron', tron: 'bsc' } as const;
/** More blocks than finality may be behind before it is told. */
const MANY_BLOCKS = { bsc: 110, tron: 45 } as const;
const HEAD_MOVES_WITHIN_MS = 5 * 60_000;

/** Which height stands still: what the row says of it, and what operators read. */
const STALLS = {
  head: {
    shows: 'shows no newer block',
    column: 'moved_at',
    ready: (network: Network, at: number) =>
      new RegExp(`^the first read of ${network} stands at ${at} for \\d{3} s: .*no block after ${at};`),
    waits: (network: Network, at: number) => new RegExp(`${network} stands at block ${at} for \\d{3} s$`),
    action: /check that the RPC endpoints answer and are in sync/,
  },
  final: {
    shows: 'names no newer block as final',
    column: 'finalized_moved_at',
    ready: (network: Network, at: number) =>
      new RegExp(`^the finality of ${network} stands at ${at} for \\d{3} s: .*none after ${at} as final;`),
    waits: (_: Network, at: number) => new RegExp(`finality stalled at block ${at} for \\d{3} s$`),
    action: /wait until the chain is final again/,
  },
} as const;

/** One of two chains stands still for minutes, through the whole gateway. */
describe('one of two chains that stands still', function () {
  this.timeout(240_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let proxy: FaultProxy;
  let stalling: Readonly<Record<Network, Stalling>>;

  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
    chains = await startLiveChains({
      // What the tests break on purpose would be logged as errors.
      env: { LOG_LEVEL: 'fatal' },
      settings: { headMovesWithinMs: HEAD_MOVES_WITHIN_MS },
      rpcUrls: (chain) => {
        proxy.target = chain.url;
        return proxy.url;
      },
    });
    live = chains.live;
    stalling = { bsc: stallingBsc(live.chain, proxy), tron: stallingTron(chains.node) };
  });
  afterEach(() => {
    for (const one of Object.values(stalling)) one.heal();
  });
  after(async () => {
    await chains?.stop();
    await proxy?.stop();
  });

  const sql = <T>(text: string, params: unknown[] = []) =>
    live.gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const cursorOf = async (network: Network) =>
    (await sql<Json>('select * from chain_cursors where network = ?', [network]))[0] ?? {};
  const reasons = async () => (await readiness(live.gateway.gateway, new Date(0))).reasons;
  const pay = (chain: LiveChain, coins: bigint) =>
    chain.pay({ currency: 'USDT', units: coins * chain.usdtUnit });
  const available = async ({ network }: LiveChain) => (await live.ledger('USDT', network))['available'] ?? 0n;
  const told = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);
  const actorOf = async ({ network, address }: LiveChain, hash: string): Promise<WorkflowHandle> => {
    const client = live.gateway.gateway.link?.client;
    if (!client) throw new Error('no client');
    return client.workflow.getHandle(`deposit:${network}:${hash}:${address}:USDT`);
  };

  /** The stall is made older than it is, instead of waited for. */
  async function age(network: Network, kind: keyof typeof STALLS, heights: Json): Promise<void> {
    await eventually('the watcher at these heights', async () => {
      const cursor = await cursorOf(network);
      return Object.entries(heights).every(([name, height]) => Number(cursor[name]) === height);
    });
    // The version keeps the watcher from writing the true time back.
    await sql(
      `update chain_cursors set ${STALLS[kind].column} = now() - interval '11 minutes', version = version + 1
       where network = ?`,
      [network],
    );
  }

  /** The alarm of a deposit that waits too long, which takes a day, is raised at once. */
  async function expectAlarm(actor: WorkflowHandle, hash: string, kind: keyof typeof STALLS): Promise<void> {
    const { deps, gateway } = live.gateway;
    const usualMs = deps.settings.stuckAfterMs;
    try {
      Object.assign(deps.settings, { stuckAfterMs: 1_000 });
      await sql('update deposits set wake_at = now() where transaction_hash = ?', [hash]);
      const [{ status }] = (await live.deposits(hash)) as [Json];
      await gateway.link?.actors.wake(actor.workflowId, `advance:${status}`, {
        workflowType: 'deposit',
        args: [],
      });
      const needs = async () => (await actor.describe()).searchAttributes['NeedsOperator']?.[0];
      await eventually('the alarm', async () => (await needs()) === true, 30_000);
      const stuck = (await listStuck(deps)).find((item) => item.transaction_hash === hash);
      expect(stuck?.action).to.match(STALLS[kind].action);
    } finally {
      Object.assign(deps.settings, { stuckAfterMs: usualMs });
    }
  }

  for (const network of ['tron', 'bsc'] as const)
    for (const kind of ['head', 'final'] as const) {
      const { shows, ready, waits } = STALLS[kind];
      it(`is named where ${network} ${shows}; the other goes on, and what was paid completes by itself`, async () => {
        const [late, other] = [chains[network], chains[OTHER[network]]];
        const before = await available(late);
        const seen = await pay(late, 20n);
        const block = await late.mine();
        await live.eventOf('deposit.detected', seen);
        const at = await stalling[network][kind]();
        const meanwhile = await pay(late, 30n);
        const head = await late.mine(MANY_BLOCKS[network]);
        if (kind === 'final') await live.eventOf('deposit.confirming', meanwhile);
        await age(
          network,
          kind,
          kind === 'head' ? { head_number: block } : { head_number: head, finalized_number: at },
        );
        const named = await eventually('a readiness that degrades', async () => {
          const all = await reasons();
          return all.length > 0 && all;
        });
        expect(named).to.have.length(1);
        expect(named[0]).to.match(ready(network, at));
        const actor = await actorOf(late, seen);
        await eventually(
          'the reason of the stall',
          async () => waits(network, at).test((await waitingFor(actor)).reason),
          40_000,
        );
        await expectAlarm(actor, seen, kind);

        const during = await pay(other, 9n);
        await other.mine();
        await other.finish();
        await live.eventOf('deposit.completed', during, 30_000);
        expect((await reasons()).join()).to.match(ready(network, at));
        expect(await available(late), 'credited of what is not final').to.equal(before);
        expect(told(meanwhile)).to.deep.equal(kind === 'head' ? [] : STEPS.slice(0, 2));

        stalling[network].heal();
        for (const hash of [seen, meanwhile]) {
          // What is final is asked for every 45 s on a chain whose requests are counted by the day.
          await live.eventOf('deposit.completed', hash, 120_000);
          await eventually('all its events', () => told(hash).length >= STEPS.length);
          expect(told(hash)).to.have.members(STEPS);
          expect(await live.deposits(hash)).to.have.length(1);
        }
        await eventually('readiness', async () => (await reasons()).length === 0);
        expect((await available(late)) - before).to.equal(50n * late.usdtUnit);
      });
    }
});
