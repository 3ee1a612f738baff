import { expect } from 'chai';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import type { Fault } from '../../dev/support/fault-proxy.ts';
import { createTracer } from '../../src/chains/bsc/traces/tracer.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import type { RpcPool } from '../../src/chains/rpc/json-rpc.ts';
import { isTrace, NO_TRACES, without } from '../services/watcher/test-watcher.ts';
import { ALICE, BOB, bscScene, STRANGER, signal } from './bsc-scene.ts';
import { madeUpClock } from './tron/endpoints/node.ts';

type Paid = readonly [to: string, from: string | undefined, units: bigint];

describe('BNB that contracts pass on', () => {
  const the = bscScene({ endpoints: 2 });
  const METHODS = ['trace_block', 'debug_traceBlockByHash'] as const;
  let readers: ChainReader[];
  let ownWallet: string;

  before(async () => {
    readers = the.proxies.map((proxy) => the.readerOf([proxy]));
    ownWallet = (await the.chain.deploy(testContracts().Payer)).address;
    await the.chain.send({ to: ownWallet, valueUnits: 100n });
    await the.chain.mine();
    the.watched.add(ownWallet, 'gas');
  });
  beforeEach(() => {
    for (const [at, proxy] of the.proxies.entries()) proxy.fault = without(METHODS[1 - at] ?? '');
  });

  const heir = (born: string, units: bigint, successor: string) =>
    the.chain.deploy(testContracts().Heir, [born, units, successor], { valueUnits: 100n });
  const paying = async (method: string, ...args: readonly unknown[]): Promise<void> => {
    await the.payer.call(method, args);
  };
  /** What happens in the next block, and whom that pays. */
  const PASSED: Readonly<Record<string, () => Promise<Paid[]>>> = {
    'with the paying contract as the sender': async () => {
      await paying('payCoin', ALICE, 5n);
      return [[ALICE, the.payer.address, 5n]];
    },
    'where no calldata names the customer': async () => {
      const made = await heir(STRANGER, 0n, ALICE);
      await made.call('pay', [7n]);
      return [[ALICE, made.address, 7n]];
    },
    'when a contract ends': async () => {
      const made = await heir(STRANGER, 0n, BOB);
      await made.call('end');
      return [[BOB, made.address, 100n]];
    },
    'summed for one customer of a transaction, and apart for another': async () => {
      await paying('payCoins', [ALICE, BOB, ALICE, STRANGER], [1n, 20n, 300n, 4000n]);
      const { address } = the.payer;
      return [
        [ALICE, address, 301n],
        [BOB, address, 20n],
      ];
    },
    'and a plain transfer once, which is the top frame of its trace': async () => {
      await the.chain.send({ to: ALICE, valueUnits: 9n, data: '0xc0ffee' });
      return [[ALICE, the.chain.accounts[0], 9n]];
    },
    'but not by a contract that is watched itself': async () => {
      const made = await heir(STRANGER, 0n, ALICE);
      the.watched.add(made.address);
      await the.chain.send({ to: made.address, valueUnits: 3n });
      return [[made.address, the.chain.accounts[0], 3n]];
    },
    'but not in a part that failed, nor in a transaction that did': async () => {
      await paying('payCoinAndSwallow', ALICE, 5n);
      await paying('payCoinAndFail', ALICE, 5n);
      return [];
    },
    'but not as a value that a delegatecall only carries along': async () => {
      const lender = await the.chain.deploy(testContracts().Lender);
      the.watched.add(lender.address);
      await the.payer.call('borrow', [lender.address, ALICE], { valueUnits: 50n });
      return [];
    },
  };
  const paidIn = async (reader: ChainReader, number: number) => {
    const { transfers, untraced } = await the.scan(reader, number);
    expect(untraced).to.equal(undefined);
    for (const one of transfers) expect(one).to.include({ currency: 'BNB', kind: 'native' });
    return transfers.map(({ to, from, amountUnits }) => [to, from, amountUnits]);
  };
  for (const [name, act] of Object.entries(PASSED))
    it(`is found ${name}, by either method`, async () => {
      const paid = await act();
      const number = await the.chain.mine();
      for (const reader of readers) expect(await paidIn(reader, number)).to.deep.equal(paid);
    });

  it('is found while a contract is created with value, and kept apart where a wallet of ours passes it on', async () => {
    const made = await heir(ALICE, 30n, STRANGER);
    const number = (await readers[0]?.head(signal))?.number ?? 0;
    for (const reader of readers)
      expect(await paidIn(reader, number)).to.deep.equal([[ALICE, made.address, 30n]]);
    const txHash = await the.chain.send({ to: ownWallet, data: the.payer.data('payCoin', [ALICE, 6n]) });
    const next = await the.chain.mine();
    const native = { currency: 'BNB', kind: 'native', inside: true } as const;
    for (const reader of readers)
      expect(await the.scan(reader, next)).to.deep.include({
        transfers: [],
        own: [{ txHash, to: ALICE, from: ownWallet, ...native, amountUnits: 6n }],
      });
  });
});

describe('an endpoint and its traces', () => {
  const the = bscScene();
  let clock: ReturnType<typeof madeUpClock>;
  let rpc: RpcPool;
  let reader: ChainReader;
  let number: number;
  before(async () => {
    await the.payer.call('payCoin', [ALICE, 5n]);
    number = await the.chain.mine();
  });
  beforeEach(() => {
    const report = (message: string): void => void the.reports.push(message);
    clock = madeUpClock();
    rpc = the.poolOf();
    const tracer = createTracer({ timeoutMs: 10_000, ...clock, report });
    reader = the.readerOf(rpc, { now: clock.now, tracer });
  });
  const isTraced = async () => (await the.scan(reader, number)).untraced === undefined;
  const err = (fault?: Fault): void => void Object.assign(the.proxies[0] ?? {}, { fault });

  it('shows blocks without traces where it offers none, says so, and is asked again after an hour', async () => {
    err(without(...NO_TRACES));
    const { transfers, untraced } = await the.scan(reader, number);
    expect([transfers, untraced?.succeeded.size]).to.deep.equal([[], 1]);
    expect(the.reports.join()).to.match(/does not show internal transfers/);
    err();
    expect(await isTraced()).to.equal(false);
    await clock.pause(60 * 60_000);
    expect((await the.scan(reader, number)).transfers[0]).to.include({ amountUnits: 5n });
    expect(the.reports.at(-1)).to.match(/shows internal transfers \(trace_block\)$/);
  });

  describe('that is refused for the number of requests', () => {
    const refusing = (times: number): Fault => {
      let left = times;
      const error = { code: -32005, message: 'limit exceeded' };
      return (call) =>
        isTrace(call) && left-- > 0 ? { json: { jsonrpc: '2.0', id: call.id, error } } : undefined;
    };

    it('holds such a read up for some tries only, is remembered, and is due again soon', async () => {
      await isTraced();
      err(refusing(1_000));
      expect([await isTraced(), reader.missedTraces?.due()]).to.deep.equal([false, []]);
      await clock.pause(2_000);
      expect(reader.missedTraces?.due()).to.deep.equal([number]);
      err();
      await clock.pause(30_000);
      expect(await isTraced()).to.equal(true);
      reader.missedTraces?.done(number);
      expect(reader.missedTraces?.due()).to.deep.equal([]);
    });
  });
});
