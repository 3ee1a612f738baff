import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createApp } from '../../../src/api/app.ts';
import { createServer } from '../../../src/api/server.ts';
import type { Gateway } from '../../../src/app/compose.ts';
import { readiness } from '../../../src/app/health.ts';
import { healthRoutes } from '../../../src/app/health-routes.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { loadConfig } from '../../../src/config/index.ts';
import type { Standstill } from '../../../src/domain/chain-stop.ts';
import { standstills } from '../../../src/services/alarms/standstill.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { reconcileNoting } from '../../../src/services/watcher/stops.ts';
import { call } from '../../support/gateway.ts';
import { startTestWatcher, type TestWatcher } from './test-watcher.ts';

const { signal } = new AbortController();
const MINUTE_MS = 60_000;

/** A part of the following that stands still is seen from rows alone, whoever is gone. */
describe('a chain that stands still', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let laterMs = 0;
  let server: ReturnType<typeof createServer>;
  let origin: string;

  before(async () => {
    live = await startTestWatcher();
    const config = loadConfig({ BSC_RPC_URLS: live.proxy.url }, { role: 'api' });
    const settings = {
      ...live.deps.settings,
      payments: { ...live.deps.settings.payments, watchedNetworks: ['bsc' as const] },
    };
    const deps = { ...live.deps, settings, now: () => new Date(Date.now() + laterMs) };
    const gateway = {
      config,
      deps,
      link: undefined,
      metrics: createMetrics({ defaults: false }),
    } as unknown as Gateway;
    server = createServer(
      createApp({
        deps,
        checkResponses: true,
        before: [healthRoutes(gateway, () => readiness(gateway, new Date(0)))],
      }),
    );
    origin = `http://127.0.0.1:${(await server.listen({ port: 0, host: '127.0.0.1' })).port}`;
    await live.newAddress();
    await live.finish();
  });
  after(async () => {
    await server?.close(1_000);
    await live?.stop();
  });
  beforeEach(() => {
    laterMs = 0;
    live.proxy.fault = undefined;
  });
  const seen = (): Promise<Standstill[]> =>
    standstills({ ...live.deps, now: () => new Date(Date.now() + laterMs) });

  it('is not one while it is followed, nor half a minute later than it should be', async () => {
    await live.finish();
    expect(await seen()).to.deep.equal([]);
    laterMs = 20_000;
    expect(await seen()).to.deep.equal([]);
  });

  it('is seen where nobody reads it and nobody noted anything', async () => {
    await live.finish();
    laterMs = MINUTE_MS;
    const [cursor] = await live.rows('select * from chain_cursors');
    const [first, ...more] = await seen();
    expect(more).to.deep.equal([]);
    expect(first).to.include({
      network: 'bsc',
      part: 'first read',
      number: Number(cursor?.['scanned_number']),
      reason: null,
    });
    expect(first?.sinceMs).to.be.within(MINUTE_MS - 5_000, MINUTE_MS + 5_000);
    expect(first?.action).to.match(/worker/);
  });

  const stops = async () =>
    (await live.rows('select stops from chain_cursors'))[0]?.['stops'] as Record<string, { reason: string }>;
  /** A rule in the database that refuses what one part has to write about one amount. */
  const plant = (rule: string) =>
    live.rows(`alter table deposits add constraint planted_rule check (${rule}) not valid`);
  const remove = () => live.rows('alter table deposits drop constraint planted_rule');
  const look = () =>
    pollChain(live.deps, live.watchedChain, signal).catch((error: unknown) => error as Error);
  const waitsFor = async (hash: string): Promise<string> => {
    const [row] = await live.rows('select id from deposits where transaction_hash = ?', [hash]);
    for (;;) {
      const step = await advanceDeposit(live.deps, { depositId: String(row?.['id']), alarmed: false });
      if (step.kind === 'wait') return step.reason;
      if (step.state === 'completed') return step.state;
    }
  };
  /** A payment in a block of its own. */
  async function pay(units: bigint): Promise<{ hash: string; address: string; block: number }> {
    const address = await live.newAddress();
    const hash = await live.chain.usdt.call('transfer', [address, units]);
    return { hash, address, block: await live.chain.mine() };
  }
  /** Looks twice, as a watcher does that comes again, and tells what is seen of it a minute later. */
  async function stoppedTwice(part: string): Promise<Standstill | undefined> {
    const lines = live.api.lines.length;
    expect(await look()).to.be.instanceOf(Error);
    expect(await look()).to.be.instanceOf(Error);
    expect(live.api.lines.slice(lines).map(({ text }) => text)).to.include(
      `the ${part} of a chain stands still`,
    );
    expect(await seen(), 'a hiccup is none').to.deep.equal([]);
    laterMs = MINUTE_MS;
    return (await seen()).find((one) => one.part === part);
  }
  /**
   * What `/health/ready` and `/metrics` say within a minute
   * of a stop: the sentence, among the reasons or the notes.
   */
  async function expectTold({ part, number }: Standstill, where: 'reasons' | 'notes'): Promise<void> {
    laterMs = 45_000;
    // The watcher goes on meanwhile: this stop is the only thing that stands.
    await live.rows('update chain_cursors set polled_at = ?', [new Date(Date.now() + laterMs)]);
    const said = new RegExp(
      `(^|; )the ${part} of bsc stands at ${number} for \\d+ s: .*planted_rule.*; \\w+`,
      's',
    );
    await eventually(`the sentence of the ${part}`, async () => {
      const answer = await call(`${origin}/health/ready`);
      const sentences: string[] = answer.body[where] ?? [];
      return answer.status === (where === 'reasons' ? 503 : 200) && sentences.some((text) => said.test(text));
    });
    if (where === 'notes') return;
    const { text } = await call(`${origin}/metrics`);
    expect(text).to.match(/gateway_alarms\{kind="chain"\} [1-9]/);
    expect(text).to.match(/gateway_verified_height\{network="bsc"\} \d+/);
  }
  /** Everything is followed again, and nothing is left of the stop. */
  async function goesOn(): Promise<void> {
    laterMs = 0;
    await live.finish();
    expect(await stops()).to.deep.equal({});
    expect(await seen()).to.deep.equal([]);
  }

  it('at its first read names block, transaction, address and rule, and goes on when the rule is gone', async () => {
    await live.finish();
    await plant('amount_units <> 777');
    try {
      await pay(5n);
      const { hash, address, block } = await pay(777n);
      await live.chain.mine(3);
      const stop = await stoppedTwice('first read');
      expect(stop?.reason).to.match(
        new RegExp(
          `^block ${block} of bsc cannot be written: transaction ${hash} in block ${block} to ${address}: .*planted_rule`,
        ),
      );
      expect(stop).to.include({ network: 'bsc', number: block - 1 });
      expect(stop?.action).to.match(/deposit fail/);
      await expectTold(stop as Standstill, 'reasons');
    } finally {
      await remove();
    }
    await goesOn();
  });

  it('at its second read names the deposit, holds what lies behind it with that reason, and keeps reading new blocks', async () => {
    await live.finish();
    await plant('verified_at is null or amount_units <> 778');
    try {
      const { hash, block } = await pay(778n);
      const behind = await pay(6n);
      await live.chain.mine(20);
      const stop = await stoppedTwice('second read');
      expect(stop?.reason).to.match(
        new RegExp(
          `^block ${block} of bsc cannot be written: deposit [0-9a-f-]{36} of transaction ${hash} .*planted_rule`,
        ),
      );
      expect(stop).to.include({ number: block - 1 });
      expect(await waitsFor(behind.hash)).to.match(
        new RegExp(
          `; the second read of bsc stands at block ${block - 1}: block ${block} of bsc .*planted_rule`,
        ),
      );
      await expectTold(stop as Standstill, 'reasons');
      const late = await pay(7n);
      await look();
      expect(await live.deposits(late.address), 'detected all the same').to.have.length(1);
    } finally {
      await remove();
    }
    await goesOn();
  });

  it('at a roll-back names the deposit that cannot be unbound', async () => {
    await live.finish();
    const { hash } = await pay(779n);
    await live.chain.mine(1);
    await live.catchUp();
    await plant('block_hash is not null or amount_units <> 779');
    try {
      await live.chain.reorg(2);
      await live.chain.mine(1);
      const stop = await stoppedTwice('roll-back');
      expect(stop?.reason).to.match(
        new RegExp(`cannot be written: deposit [0-9a-f-]{36} of transaction ${hash} .*planted_rule`),
      );
      await expectTold(stop as Standstill, 'reasons');
    } finally {
      await remove();
    }
    await goesOn();
  });

  it('in its reconciliation says why, and following goes on', async () => {
    await live.finish();
    await live.rows('alter table balance_rounds add constraint planted_rule check (checked < 0) not valid');
    try {
      const pace = { everyMs: 0, batchAddresses: 100 };
      for (let tries = 0; tries < 2; tries++)
        expect(
          await reconcileNoting(live.deps, live.watchedChain, pace, signal).catch((error: unknown) => error),
        ).to.be.instanceOf(Error);
      laterMs = MINUTE_MS;
      const stop = (await seen()).find(({ part }) => part === 'reconciliation');
      expect(stop?.reason).to.match(/planted_rule/);
      // The comparison holds up no deposit, so traffic goes on.
      await live.finish();
      // A round that could not begin stands at the height that is verified by now.
      const standing = (await seen()).find(({ part }) => part === 'reconciliation');
      await expectTold(standing as Standstill, 'notes');
      laterMs = 0;
      await live.finish();
    } finally {
      await live.rows('alter table balance_rounds drop constraint planted_rule');
    }
    await reconcileNoting(live.deps, live.watchedChain, { everyMs: 0, batchAddresses: 100 }, signal);
    await goesOn();
  });
});
