import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../../dev/support/live-money.ts';
import { readiness } from '../../../../src/app/health.ts';
import { type Gate, startGate } from '../../../support/http/gate.ts';

const FROZEN_MS = 25_000;
const NOTICED_WITHIN_MS = 20_000;
/** Others run beside it. */
const NAMED_WITHIN_MS = 60_000;
const BLOCK_EVERY_MS = 250;
const STEPS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];
const OTHER = { bsc: 'tron', tron: 'bsc' } as const;

/** Each address of each chain: both have two endpoints, and Tron's have a port for each view. */
const DOORS = ['bsc 1', 'bsc 2', 'tron 1', 'tron 2', 'solid 1', 'solid 2'] as const;
type Door = (typeof DOORS)[number];

/** What is frozen, and whether the chain can go on without it. */
const FROZEN = [
  {
    what: 'both endpoints',
    network: 'tron',
    doors: ['tron 1', 'solid 1', 'tron 2', 'solid 2'],
    goesOn: false,
  },
  { what: 'the final view of both', network: 'tron', doors: ['solid 1', 'solid 2'], goesOn: false },
  { what: 'the preferred one of two', network: 'tron', doors: ['tron 1', 'solid 1'], goesOn: true },
  { what: 'the final view of the preferred one', network: 'tron', doors: ['solid 1'], goesOn: true },
  { what: 'both endpoints', network: 'bsc', doors: ['bsc 1', 'bsc 2'], goesOn: false },
  { what: 'the preferred one of two', network: 'bsc', doors: ['bsc 1'], goesOn: true },
] as const;

/** A host that takes every byte and says nothing any more, on connections from before and on new ones. */
describe('a host that freezes', function () {
  this.timeout(150_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let clock: NodeJS.Timeout;
  const gates = new Map<Door, Gate>();
  const gate = (door: Door): Gate => {
    const found = gates.get(door);
    if (!found) throw new Error(`no ${door}`);
    return found;
  };
  const behind = (url: string, ...doors: readonly Door[]): string => {
    for (const door of doors) gate(door).target(url);
    return doors.map((door) => gate(door).url).join();
  };

  before(async () => {
    for (const door of DOORS) gates.set(door, await startGate());
    chains = await startLiveChains({
      // What the tests take away would be logged as errors.
      env: { LOG_LEVEL: 'fatal', TRON_SOLIDITY_URLS: `${gate('solid 1').url},${gate('solid 2').url}` },
      tron: { blockTimeMs: BLOCK_EVERY_MS, separateSolidity: true },
      rpcUrls: ({ url }) => behind(url, 'bsc 1', 'bsc 2'),
      apiUrl: ({ url, solidityUrl }) => {
        behind(solidityUrl, 'solid 1', 'solid 2');
        return behind(url, 'tron 1', 'tron 2');
      },
    });
    live = chains.live;
    clock = setInterval(() => void chains.bsc.mine().catch(() => undefined), BLOCK_EVERY_MS);
    await eventually('readiness', async () => (await reasons()).length === 0, NOTICED_WITHIN_MS);
  });
  after(async () => {
    clearInterval(clock);
    await chains?.stop();
    for (const one of gates.values()) await one.close();
  });

  const reasons = async () => (await readiness(live.gateway.gateway, new Date(0))).reasons;
  const told = (hash: string): string[] =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);
  const pay = (chain: LiveChain, coins: bigint) =>
    chain.pay({ currency: 'USDT', units: coins * chain.usdtUnit });
  /** The deposit and each of its events, once. */
  async function completesOnce(hash: string): Promise<void> {
    await live.eventOf('deposit.completed', hash, 60_000);
    await eventually(`the events of ${hash}`, () => told(hash).length >= STEPS.length);
    expect(told(hash)).to.have.members(STEPS);
    expect(await live.deposits(hash)).to.have.length(1);
  }

  for (const { what, network, doors, goesOn } of FROZEN)
    it(`${goesOn ? 'stops nothing' : 'is named, and what was paid meanwhile is found by itself'}: ${what} of ${network}`, async () => {
      const [frozen, other] = [chains[network], chains[OTHER[network]]];
      const available = async () => (await live.ledger('USDT', network))['available'] ?? 0n;
      const before = await available();
      const sinceMs = Date.now();
      const earlier = await pay(frozen, 1n);
      for (const door of doors) gate(door).vanish();
      try {
        const paid = [await pay(frozen, 2n), await pay(frozen, 3n)];
        const during = await pay(other, 9n);
        if (goesOn) for (const hash of paid) await live.eventOf('deposit.completed', hash, 60_000);
        else {
          const chainNamed = new RegExp(`(^|,)${network} was not read for \\d+ s: `);
          // Alone on a machine it is told within 20 s; a busy one may also be late with the other chain.
          await eventually(
            `readiness naming ${network} alone`,
            async () => {
              const named = (await reasons()).join();
              return chainNamed.test(named) && !named.includes(`${other.network} was not read`);
            },
            NAMED_WITHIN_MS,
          );
          // A poll that is under way waits for each endpoint in turn before it can tell.
          await eventually('what the endpoints lack', async () =>
            /no answer within 5 s/.test((await reasons()).join()),
          );
          expect(paid.flatMap(told).filter((event) => event === 'deposit.completed')).to.deep.equal([]);
        }
        await completesOnce(during);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, FROZEN_MS - (Date.now() - sinceMs))));
        // One endpoint that is left is enough: nobody is told that the chain is not read.
        if (goesOn)
          await eventually('no reason', async () => (await reasons()).length === 0, NOTICED_WITHIN_MS);
        for (const door of doors) gate(door).reappear();
        for (const hash of [earlier, ...paid]) await completesOnce(hash);
      } finally {
        for (const door of doors) gate(door).reappear();
      }
      await eventually('readiness', async () => (await reasons()).length === 0, 30_000);
      expect((await available()) - before).to.equal(6n * frozen.usdtUnit);
    });
});
