// Answers so large that what stands in front of a node, or we ourselves, may not let them through.
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { ANSWERS, limitedTo, padded } from '../../../../dev/tron/faults.ts';
import type { TronAnswer, TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { readiness } from '../../../../src/app/health.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { heal, secondOf, states, watching } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const MIB = 1_048_576;
/** What many gateways in front of nodes let through. */
const LIMIT = 4 * MIB;
const NEARLY = 3.9 * MIB;
const PAYMENTS = 40;

/** What is said instead of an answer that is too large, and what operators read of it. */
const TOO_LARGE: Readonly<Record<string, readonly [instead: TronAnswer, reason: RegExp]>> = {
  'http 413': [ANSWERS.tooLarge, /http 413 .*more was asked for than it takes at once/],
  'http 500': [{ status: 500, body: 'Internal Server Error' }, /http 500/],
  'an exception': [
    { json: { Error: 'class io.grpc.StatusRuntimeException : message is larger than 4194304 bytes' } },
    /an error: class io\.grpc\.StatusRuntimeException : message is larger than 4194304 bytes/,
  ],
  'half an answer': ['cut', /connection failed|cut short/],
};

describe('a full block of Tron', function () {
  this.timeout(120_000);
  let live: TronWatcher;
  let laterMs = 0;
  before(async () => {
    live = await startTronWatcher({
      others: 1,
      maxResponseBytes: LIMIT,
      timeoutMs: 20_000,
      now: () => new Date(Date.now() + laterMs),
    });
    await live.catchUp();
  });
  afterEach(async () => {
    heal(live);
    laterMs = 0;
    live.later(61_000);
    live.restart();
    await live.catchUp();
  });
  after(() => live?.stop());

  const both = (fault: TronFault): void => {
    live.endpoint.fault = fault;
    secondOf(live).fault = fault;
  };
  /** Many payments in one block, each to another customer, and one in the block after. */
  async function fullBlock(): Promise<{ addresses: AddressKey[]; number: number; next: AddressKey }> {
    const addresses: AddressKey[] = [];
    for (let made = 0; made < PAYMENTS; made += 1) {
      const address = await live.newAddress();
      await live.node.pay({ to: address, currency: made % 2 === 0 ? 'USDT' : 'TRX', units: 80n });
      addresses.push(address);
    }
    const number = await live.node.mine();
    const next = await live.newAddress();
    await live.node.pay({ to: next, currency: 'USDT', units: 81n });
    await live.node.mine();
    return { addresses, number, next };
  }
  const all = async (addresses: readonly AddressKey[]): Promise<string[]> => {
    const found: string[] = [];
    for (const address of addresses) found.push(...states(await live.deposits(address)));
    return found;
  };
  const scanned = async () =>
    Number((await live.rows('select scanned_number from chain_cursors'))[0]?.['scanned_number']);
  const expectAll = async (addresses: readonly AddressKey[], next: AddressKey): Promise<void> => {
    // Where a large answer takes its time, what is final waits for the word of the second endpoint.
    await eventually('the second read', async () => {
      await live.tryToCatchUp(1);
      return (await all([next])).join().includes('verified');
    });
    expect((await all(addresses)).sort()).to.deep.equal(
      addresses.map((_, at) => (at < PAYMENTS / 2 ? '80 TRX verified' : '80 USDT verified')),
    );
    expect(await all([next])).to.deep.equal(['81 USDT verified']);
  };

  it('is read whole, twice, where its body and its infos have nearly as many bytes as an answer may', async () => {
    both(limitedTo(LIMIT, 'reset', padded({ block: NEARLY, infos: NEARLY })));
    const { addresses, next } = await fullBlock();
    expect(await live.tryToCatchUp(1)).to.deep.equal([]);
    await live.node.mine(5);
    await expectAll(addresses, next);
  });

  it('is read from the endpoint that gives it, where the other one does not', async () => {
    live.endpoint.fault = limitedTo(LIMIT, ANSWERS.tooLarge, padded({ infos: LIMIT }));
    const { addresses, next } = await fullBlock();
    expect(await live.tryToCatchUp(1)).to.deep.equal([]);
    await live.node.mine(5);
    await expectAll(addresses, next);
  });

  for (const [name, [instead, reason]] of Object.entries(TOO_LARGE))
    it(`is never skipped where no endpoint gives it, is told by its height, and is read once one does: ${name}`, async () => {
      both(limitedTo(LIMIT, instead, padded({ infos: LIMIT })));
      const { addresses, number, next } = await fullBlock();
      expect((await live.tryToCatchUp(3)).join()).to.match(reason);
      expect(await scanned(), 'it stands below the block').to.equal(number - 1);
      expect(await all([...addresses, next])).to.deep.equal([]);
      laterMs = 40_000;
      await live.tryToCatchUp(1);
      const told = (await readiness(watching(live), new Date(0))).reasons.join();
      expect(told).to.match(new RegExp(`the first read of tron stands at ${number - 1} .*`));
      expect(told).to.match(reason);
      heal(live);
      await live.tryToCatchUp(1);
      await live.node.mine(5);
      await expectAll(addresses, next);
    });

  it('is told with the limit where it is larger than we take ourselves', async () => {
    both(padded({ infos: LIMIT }));
    const { addresses, number, next } = await fullBlock();
    expect((await live.tryToCatchUp(2)).join()).to.match(/answer larger than 4 MiB/);
    expect(await scanned()).to.equal(number - 1);
    heal(live);
    await live.tryToCatchUp(1);
    await live.node.mine(5);
    await expectAll(addresses, next);
  });
});

describe('a backlog of large blocks of Tron', function () {
  this.timeout(120_000);
  const BACKLOG = 100;
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ maxResponseBytes: LIMIT, timeoutMs: 20_000 });
    await live.catchUp();
  });
  afterEach(() => {
    heal(live);
    live.later(11 * 60_000);
    live.restart();
  });
  after(() => live?.stop());

  /** How many blocks were asked for at a time, and how many one by one. */
  const asked = () => {
    const pieces = live.endpoint.requests.filter(({ path }) => path.endsWith('getblockbylimitnext'));
    const singles = live.endpoint.requests.filter(
      ({ path }) => path === 'walletsolidity/getblockbynum' || path === 'wallet/getblockbynum',
    );
    return {
      sizes: pieces.map(({ body }) => Number(body['endNum']) - Number(body['startNum'])),
      singles: singles.length,
    };
  };

  for (const [name, instead] of [
    ['are refused', ANSWERS.tooLarge],
    ['exceed our own limit', undefined],
  ] as const)
    it(`is asked for in pieces that shrink until they fit, where larger ones ${name}`, async () => {
      const addresses: AddressKey[] = [];
      for (let made = 0; made < BACKLOG; made += 20) {
        const address = await live.newAddress();
        addresses.push(address);
        await live.node.pay({ to: address, currency: 'USDT', units: 90n });
        await live.node.mine(20);
      }
      await live.node.mine(25);
      const large = padded({ block: LIMIT / 6 });
      live.endpoint.fault = instead ? limitedTo(LIMIT, instead, large) : large;
      live.endpoint.forgetRequests();
      await live.tryToCatchUp(3);
      for (const address of addresses)
        expect(states(await live.deposits(address))).to.deep.equal(['90 USDT verified']);
      const { sizes, singles } = asked();
      expect(sizes[0]).to.equal(20);
      expect(Math.min(...sizes), 'as large as fits').to.be.within(2, 5);
      // What was read ahead into pieces that turned out too large is asked for one by one, and no more.
      expect(singles, 'blocks asked for one by one').to.be.below(BACKLOG * 0.75);
    });

  it('is read block by block where not even two fit into one answer, and none is left out', async () => {
    const address = await live.newAddress();
    await live.node.pay({ to: address, currency: 'TRX', units: 91n });
    await live.node.mine(60);
    live.endpoint.fault = limitedTo(LIMIT, ANSWERS.tooLarge, padded({ block: 0.6 * LIMIT }));
    expect(await live.tryToCatchUp(4)).to.have.length.below(4);
    expect(states(await live.deposits(address))).to.deep.equal(['91 TRX verified']);
    const [cursor] = await live.rows('select scanned_number from chain_cursors');
    expect(Number(cursor?.['scanned_number'])).to.equal(live.node.head().header.number);
  });
});
