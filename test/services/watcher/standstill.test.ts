import { expect } from 'chai';
import type { Gateway } from '../../../src/app/compose.ts';
import { readiness } from '../../../src/app/health.ts';
import type { Standstill } from '../../../src/domain/chain-stop.ts';
import { standstills } from '../../../src/services/operations/conditions/chain.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { reconcileNoting } from '../../../src/services/watcher/stops.ts';
import { advancedTo, bscStage, cursorOf, depositOf } from './asked.ts';

const { signal } = new AbortController();
const MINUTE_MS = 60_000;

/** A part of the following that stands still is seen from rows alone, whoever is gone. */
describe('a chain that stands still', () => {
  const { live } = bscStage();
  let laterMs = 0;
  before(() => live.newAddress());
  beforeEach(async () => {
    laterMs = 0;
    await live.finish();
  });
  const later = () => {
    const payments = { ...live.deps.settings.payments, watchedNetworks: ['bsc' as const] };
    const settings = { ...live.deps.settings, payments };
    return { ...live.deps, settings, now: () => new Date(Date.now() + laterMs) };
  };
  const seen = (): Promise<Standstill[]> => standstills(later());

  it('is seen half a minute after it should be read, where nobody reads it and nobody noted anything', async () => {
    for (const ms of [0, 20_000]) {
      laterMs = ms;
      expect(await seen()).to.deep.equal([]);
    }
    laterMs = MINUTE_MS;
    const { scanned_number: scanned } = await cursorOf(live);
    const [first, ...more] = await seen();
    expect(more).to.deep.equal([]);
    expect(first).to.include({ network: 'bsc', part: 'first read', number: Number(scanned), reason: null });
    expect(first?.sinceMs).to.be.at.least(MINUTE_MS - 5_000);
    expect(first?.action).to.match(/worker/);
  });

  const stops = async () => (await cursorOf(live))['stops'];
  const look = () =>
    pollChain(live.deps, live.watchedChain, signal).catch((error: unknown) => error as Error);
  /** A payment in a block of its own. */
  async function pay(units: bigint): Promise<{ hash: string; address: string; block: number }> {
    const address = await live.newAddress();
    const hash = await live.chain.usdt.call('transfer', [address, units]);
    return { hash, address, block: await live.chain.mine() };
  }
  /** A rule in the database that refuses what one part has to write, while that is tested. */
  async function planted(table: string, rule: string, test: () => Promise<void>): Promise<void> {
    await live.rows(`alter table ${table} add constraint planted_rule check (${rule}) not valid`);
    try {
      await test();
    } finally {
      await live.rows(`alter table ${table} drop constraint planted_rule`);
    }
  }
  /** Looks twice, as a watcher does that comes again, and tells what is seen of it a minute later. */
  async function stoppedTwice(part: string): Promise<Standstill> {
    const lines = live.api.lines.length;
    expect(await look()).to.be.instanceOf(Error);
    expect(await look()).to.be.instanceOf(Error);
    expect(live.api.lines.slice(lines).map(({ text }) => text)).to.include(
      `the ${part} of a chain stands still`,
    );
    expect(await seen(), 'a hiccup is none').to.deep.equal([]);
    laterMs = MINUTE_MS;
    return (await seen()).find((one) => one.part === part) ?? expect.fail(`nothing of the ${part}`);
  }
  /** What readiness says of a stop: the sentence, among the reasons or the notes. */
  async function expectTold({ part, number }: Standstill, where: 'reasons' | 'notes'): Promise<void> {
    laterMs = 45_000;
    // The watcher goes on meanwhile: this stop is the only thing that stands.
    await live.rows('update chain_cursors set polled_at = ?', [later().now()]);
    const gateway = { deps: later(), link: undefined } as unknown as Gateway;
    const told = await readiness(gateway, new Date(0));
    expect(told.ready).to.equal(where === 'notes');
    expect(told[where].join('\n')).to.match(
      new RegExp(`(^|; )the ${part} of bsc stands at ${number} for \\d+ s: .*planted_rule.*; \\w+`, 'sm'),
    );
  }
  /** Everything is followed again, and nothing is left of the stop. */
  async function goesOn(): Promise<void> {
    laterMs = 0;
    await live.finish();
    expect([await stops(), await seen()]).to.deep.equal([{}, []]);
  }

  it('at its first read names block, transaction, address and rule, and goes on when the rule is gone', async () => {
    await planted('deposits', 'amount_units <> 777', async () => {
      await pay(5n);
      const { hash, address, block } = await pay(777n);
      await live.chain.mine(3);
      const stop = await stoppedTwice('first read');
      expect(stop).to.include({ network: 'bsc', number: block - 1 });
      expect(stop.reason).to.match(
        new RegExp(
          `^block ${block} of bsc cannot be written: transaction ${hash} in block ${block} to ${address}: .*planted_rule`,
        ),
      );
      expect(stop.action).to.match(/deposit fail/);
      await expectTold(stop, 'reasons');
    });
    await goesOn();
  });

  it('at its second read names the deposit, holds what lies behind it with that reason, and keeps reading new blocks', async () => {
    await planted('deposits', 'verified_at is null or amount_units <> 778', async () => {
      const { hash, block } = await pay(778n);
      const behind = await pay(6n);
      await live.chain.mine(20);
      const stop = await stoppedTwice('second read');
      expect(stop).to.include({ number: block - 1 });
      expect(stop.reason).to.match(
        new RegExp(
          `^block ${block} of bsc cannot be written: deposit [0-9a-f-]{36} of transaction ${hash} .*planted_rule`,
        ),
      );
      const { id } = await depositOf(live, behind.hash);
      expect(await advancedTo(live.deps, id)).to.match(
        new RegExp(
          `; the second read of bsc stands at block ${block - 1}: block ${block} of bsc .*planted_rule`,
        ),
      );
      await expectTold(stop, 'reasons');
      const late = await pay(7n);
      await look();
      expect(await live.deposits(late.address), 'detected all the same').to.have.length(1);
    });
    await goesOn();
  });

  it('in its reconciliation says why, and following goes on', async () => {
    const pace = { everyMs: 0, batchAddresses: 100 };
    const compare = () =>
      reconcileNoting(live.deps, live.watchedChain, pace, signal).catch((error: unknown) => error);
    await planted('balance_rounds', 'checked < 0', async () => {
      for (let tries = 0; tries < 2; tries++) expect(await compare()).to.be.instanceOf(Error);
      laterMs = MINUTE_MS;
      // The comparison holds up no deposit, so traffic goes on.
      await live.finish();
      const stop = (await seen()).find(({ part }) => part === 'reconciliation');
      expect(stop?.reason).to.match(/planted_rule/);
      await expectTold(stop as Standstill, 'notes');
      laterMs = 0;
      await live.finish();
    });
    await compare();
    await goesOn();
  });

  it('says nothing of our clock; blocks that come, and are all of another time than ours, do', async () => {
    const ahead = 10 * MINUTE_MS;
    const shifted = (ms: number) => ({ ...later(), now: () => new Date(Date.now() + ahead + ms) });
    for (const ms of [0, 3 * MINUTE_MS, 7 * MINUTE_MS]) {
      await live.rows(`update chain_cursors set stops = jsonb_set(stops, '{block time,aheadMs}', '${ahead + ms}')
        where stops ? 'block time'`);
      await live.chain.mine(1);
      await pollChain(shifted(ms), live.watchedChain, signal);
    }
    const [stop, ...more] = (await standstills(shifted(7 * MINUTE_MS))).filter(
      ({ part }) => part === 'block time',
    );
    expect([stop?.network, more]).to.deep.equal(['bsc', []]);
    const told = await readiness(
      { deps: shifted(7 * MINUTE_MS), link: undefined } as unknown as Gateway,
      new Date(0),
    );
    expect(told.reasons.join('\n')).to.match(/the clock is not that of bsc: .* let NTP set it/);
    const texts = live.api.lines.map(({ text }) => text);
    expect(texts).to.include('the clock of this machine is not that of a chain');
    await live.chain.mine(1);
    await goesOn();
  });
});
