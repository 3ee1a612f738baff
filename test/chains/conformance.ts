// What every chain has to do through its face, whatever its node and its protocol are. A chain passes with a stage of its own.
import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../src/chains/address-key.ts';
import { AddressSet } from '../../src/chains/address-set.ts';
import { chainOf } from '../../src/chains/index.ts';
import type { BlockRef, ChainReader, ScannedBlock } from '../../src/chains/reader.ts';
import { ChainMismatch, RpcUnavailable } from '../../src/chains/rpc/errors.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../src/domain/assets.ts';

/** How an endpoint misbehaves: nobody is there, it never answers, it leaves out what a block brought, it serves another chain. */
const ENDPOINT_FAULTS = ['is away', 'hangs', 'leaves out what the block brought', 'serves another chain'] as const;
export type EndpointFault = (typeof ENDPOINT_FAULTS)[number];

/** A way of its own to the stage's node. */
export type StageEndpoint = {
  readonly host: string;
  fail(fault: EndpointFault): void;
  /** Shows nothing above this height. */
  lagAt(height: number): void;
  heal(): void;
};

/** A running node of the chain, and what happens on it. Nothing is mined until a test says so. */
export type ChainStage = {
  readonly network: Network;
  /** The sender of every payment. */
  readonly payer: AddressKey;
  /** At least two. */
  readonly endpoints: readonly StageEndpoint[];
  /** How many blocks the final one is behind the head. */
  readonly finalDistance: number;
  /** A new reader over these endpoints, the first of them preferred. */
  readerOf(endpoints: readonly StageEndpoint[]): ChainReader;
  /** Mines and returns the height of the head. */
  mine(blocks?: number): Promise<number>;
  /** Puts a payment into the next block and returns its hash. */
  pay(payment: { readonly to: AddressKey; readonly currency: Currency; readonly units: bigint }): Promise<string>;
  /** Replaces the newest blocks by as many others without their payments. */
  replace(blocks: number): Promise<void>;
  /** A hash that no transaction has. */
  readonly unknownHash: string;
  stop(): Promise<void>;
};

const { signal } = new AbortController();
const OURS = keyOfHex('a1'.repeat(20));
const STRANGER = keyOfHex('5e'.repeat(20));
const WATCHED = new AddressSet();
WATCHED.add(OURS);

/** Declares the suite for a chain. */
export function itConforms(name: string, start: () => Promise<ChainStage>): void {
  describe(`${name} as every chain`, function () {
    this.timeout(60_000);
    const the = {} as Scene;
    before(async () => {
      the.stage = await start();
    });
    after(() => the.stage?.stop());
    beforeEach(() => {
      for (const endpoint of the.stage.endpoints) endpoint.heal();
      the.reader = the.stage.readerOf(the.stage.endpoints);
    });
    blocksOf(the);
    moneyOf(the);
    endpointsOf(the);
  });
}

/** Filled before the first test; every test has a reader that knows nothing yet. */
type Scene = { stage: ChainStage; reader: ChainReader };

function blocksOf(the: Scene): void {
  it('names its newest block, by height, hash, parent and time', async () => {
    const height = await the.stage.mine();
    const before = await the.reader.head(signal);
    expect(before).to.include({ number: height });
    expect(the.stage.endpoints.map(({ host }) => host)).to.include(before.host);
    await the.stage.mine();
    const head = await the.reader.head(signal);
    expect([head.number, head.parentHash]).to.deep.equal([height + 1, before.hash]);
    expect(head.timestampMs).to.be.at.least(before.timestampMs);
    expect(await the.reader.header(head.number, signal)).to.deep.equal(refOf(head));
    expect(refOf(await scan(the, head.number))).to.deep.equal(refOf(head));
  });

  it('answers nothing for a block that is not there yet', async () => {
    const height = await the.stage.mine();
    expect(await the.reader.header(height + 1, signal)).to.equal(undefined);
    expect(await the.reader.scan(height + 1, WATCHED, signal)).to.equal(undefined);
  });

  it('names what is final: a block of the chain, as far below the head as the chain takes', async () => {
    const height = await the.stage.mine(the.stage.finalDistance + 1);
    const final = await the.reader.finalized(signal);
    expect(final.number).to.equal(height - the.stage.finalDistance);
    expect(refOf(final)).to.deep.equal(await the.reader.header(final.number, signal));
  });

  it('shows a replaced block as another hash at the same height, and its payment gone', async () => {
    const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 77n });
    const height = await the.stage.mine();
    const before = await scan(the, height);
    expect(before.transfers).to.have.length(1);
    await the.stage.replace(1);
    const after = await scan(the, height);
    expect([after.transfers, after.parentHash]).to.deep.equal([[], before.parentHash]);
    expect(after.hash).not.to.equal(before.hash);
    expect(await the.reader.locate(txHash, signal)).to.equal(undefined);
  });

  it('tells where a transaction is, and nothing of one that nobody has', async () => {
    const txHash = await the.stage.pay({ to: STRANGER, currency: 'USDT', units: 1n });
    const height = await the.stage.mine();
    const { hash } = await scan(the, height);
    expect(await the.reader.locate(txHash, signal)).to.deep.equal({ blockNumber: height, blockHash: hash });
    expect(await the.reader.locate(the.stage.unknownHash, signal)).to.equal(undefined);
  });

  it('stops at once when it is told to', async () => {
    const stopped = AbortSignal.abort(new Error('shutting down'));
    const asked = [the.reader.head(stopped), the.reader.scan(1, WATCHED, stopped), the.reader.views(1, stopped)];
    for (const failure of await Promise.all(asked.map(failureOf))) expect(failure).to.have.property('message', 'shutting down');
  });
}

function moneyOf(the: Scene): void {
  it('shows what a block brought to our addresses, to the last unit, and nothing that others got', async () => {
    const coin = await the.stage.pay({ to: OURS, currency: nativeOf(the), units: 7n });
    const token = await the.stage.pay({ to: OURS, currency: 'USDT', units: 12_345_678_901_234_567_890n });
    await the.stage.pay({ to: STRANGER, currency: 'USDT', units: 5n });
    const block = await scan(the, await the.stage.mine());
    const sides = { to: spell(the, OURS), from: spell(the, the.stage.payer) };
    expect(block.transfers).to.have.deep.members([
      { ...sides, txHash: coin, currency: nativeOf(the), kind: 'native', amountUnits: 7n },
      { ...sides, txHash: token, currency: 'USDT', kind: 'token', amountUnits: 12_345_678_901_234_567_890n },
    ]);
    expect([block.unrecognised, block.unrecognisedDropped, block.own ?? []]).to.deep.equal([[], 0, []]);
  });

  it('credits nothing that one of our own wallets sent', async () => {
    const withGas = new AddressSet();
    withGas.add(OURS);
    withGas.add(the.stage.payer, 'gas');
    await the.stage.pay({ to: OURS, currency: 'USDT', units: 9n });
    const block = there(await the.reader.scan(await the.stage.mine(), withGas, signal));
    expect(block.transfers).to.deep.equal([]);
    expect(block.own?.map(({ amountUnits }) => amountUnits)).to.deep.equal([9n]);
  });

  it('tells what lay on an address at the end of a block, where it tells balances', async () => {
    const [coin, token] = [await the.stage.pay({ to: OURS, currency: nativeOf(the), units: 11n }), 13n];
    await the.stage.pay({ to: OURS, currency: 'USDT', units: token });
    const height = await the.stage.mine();
    expect(await the.reader.locate(coin, signal)).to.include({ blockNumber: height });
    if (!the.reader.balances) return;
    const [is] = there(await the.reader.balances([OURS, STRANGER], height, signal));
    const [was] = there(await the.reader.balances([OURS, STRANGER], height - 1, signal));
    expect([is?.addressKey, was?.addressKey]).to.deep.equal([OURS, OURS]);
    expect((is?.nativeUnits ?? 0n) - (was?.nativeUnits ?? 0n)).to.equal(11n);
    expect((is?.tokenUnits ?? 0n) - (was?.tokenUnits ?? 0n)).to.equal(token);
  });
}

function endpointsOf(the: Scene): void {
  it('reads from another endpoint what one that lags does not have, and shows how far that one is', async () => {
    const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 3n });
    const height = await the.stage.mine();
    first(the).lagAt(height - 3);
    expect((await scan(the, height)).transfers.map((transfer) => transfer.txHash)).to.deep.equal([txHash]);
    expect(await the.reader.header(height, signal)).to.include({ number: height });
    expect((await the.reader.locate(txHash, signal))?.blockNumber).to.equal(height);
    const views = await the.reader.views(height, signal);
    expect(Object.fromEntries(views.map(({ host, head }) => [host, head.number]))).to.deep.equal({
      ...Object.fromEntries(the.stage.endpoints.map(({ host }) => [host, height])),
      [first(the).host]: height - 3,
    });
    expect(views.find(({ host }) => host === first(the).host)?.block).to.equal('above its head');
  });

  for (const fault of ENDPOINT_FAULTS)
    it(`reads a block elsewhere where an endpoint ${fault}, and gives no part of it where there is no other`, async () => {
      const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 4n });
      const height = await the.stage.mine();
      first(the).fail(fault);
      expect((await scan(the, height)).transfers.map((transfer) => transfer.txHash)).to.deep.equal([txHash]);
      const alone = await failureOf(the.stage.readerOf([first(the)]).scan(height, WATCHED, signal));
      expect(alone).to.be.instanceOf(fault === 'serves another chain' ? ChainMismatch : RpcUnavailable);
      expect(String(alone)).to.include(first(the).host);
    });

  it('proves that its endpoints serve the configured chain, and says which one does not', async () => {
    await the.reader.checkIdentity(signal);
    second(the).fail('serves another chain');
    const refusal = await failureOf(the.stage.readerOf(the.stage.endpoints).checkIdentity(signal));
    expect(refusal).to.be.instanceOf(ChainMismatch);
    expect(String(refusal)).to.include(second(the).host);
  });
}

async function scan({ reader }: Scene, height: number): Promise<ScannedBlock> {
  return there(await reader.scan(height, WATCHED, signal));
}

const nativeOf = ({ stage }: Scene): Currency => NATIVE_CURRENCY[stage.network];
const spell = ({ stage }: Scene, key: AddressKey): string => chainOf(stage.network).addresses.spell(key);
const first = ({ stage }: Scene): StageEndpoint => there(stage.endpoints[0]);
const second = ({ stage }: Scene): StageEndpoint => there(stage.endpoints[1]);

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('it is not there');
  return value;
}

const refOf = ({ number, hash, parentHash, timestampMs }: BlockRef): BlockRef => ({ number, hash, parentHash, timestampMs });

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
