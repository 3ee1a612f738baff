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

/** Declares the suite for a chain. */
export function itConforms(name: string, start: () => Promise<ChainStage>): void {
  describe(`${name} as every chain`, function () {
    this.timeout(60_000);
    let stage: ChainStage;
    let reader: ChainReader;
    let native: Currency;
    const watched = new AddressSet();
    before(async () => {
      stage = await start();
      native = NATIVE_CURRENCY[stage.network];
      watched.add(OURS);
    });
    after(() => stage?.stop());
    beforeEach(() => {
      for (const endpoint of stage.endpoints) endpoint.heal();
      reader = stage.readerOf(stage.endpoints);
    });
    const spell = (key: AddressKey): string => chainOf(stage.network).addresses.spell(key);
    const scan = async (height: number, by = reader): Promise<ScannedBlock> => there(await by.scan(height, watched, signal));
    const [first, second] = [(): StageEndpoint => there(stage.endpoints[0]), (): StageEndpoint => there(stage.endpoints[1])];

    it('names its newest block, by height, hash, parent and time', async () => {
      const height = await stage.mine();
      const before = await reader.head(signal);
      expect(before).to.include({ number: height });
      expect(stage.endpoints.map(({ host }) => host)).to.include(before.host);
      await stage.mine();
      const head = await reader.head(signal);
      expect([head.number, head.parentHash]).to.deep.equal([height + 1, before.hash]);
      expect(head.timestampMs).to.be.at.least(before.timestampMs);
      expect(await reader.header(head.number, signal)).to.deep.equal(refOf(head));
      expect(refOf(await scan(head.number))).to.deep.equal(refOf(head));
    });

    it('answers nothing for a block that is not there yet', async () => {
      const height = await stage.mine();
      expect(await reader.header(height + 1, signal)).to.equal(undefined);
      expect(await reader.scan(height + 1, watched, signal)).to.equal(undefined);
    });

    it('names what is final: a block of the chain, as far below the head as the chain takes', async () => {
      const height = await stage.mine(stage.finalDistance + 1);
      const final = await reader.finalized(signal);
      expect(final.number).to.equal(height - stage.finalDistance);
      expect(refOf(final)).to.deep.equal(await reader.header(final.number, signal));
    });

    it('shows what a block brought to our addresses, to the last unit, and nothing that others got', async () => {
      const coin = await stage.pay({ to: OURS, currency: native, units: 7n });
      const token = await stage.pay({ to: OURS, currency: 'USDT', units: 12_345_678_901_234_567_890n });
      await stage.pay({ to: STRANGER, currency: 'USDT', units: 5n });
      const block = await scan(await stage.mine());
      const sides = { to: spell(OURS), from: spell(stage.payer) };
      expect(block.transfers).to.have.deep.members([
        { ...sides, txHash: coin, currency: native, kind: 'native', amountUnits: 7n },
        { ...sides, txHash: token, currency: 'USDT', kind: 'token', amountUnits: 12_345_678_901_234_567_890n },
      ]);
      expect([block.unrecognised, block.unrecognisedDropped, block.own ?? []]).to.deep.equal([[], 0, []]);
    });

    it('credits nothing that one of our own wallets sent', async () => {
      const withGas = new AddressSet();
      withGas.add(OURS);
      withGas.add(stage.payer, 'gas');
      await stage.pay({ to: OURS, currency: 'USDT', units: 9n });
      const block = there(await reader.scan(await stage.mine(), withGas, signal));
      expect(block.transfers).to.deep.equal([]);
      expect(block.own?.map(({ amountUnits }) => amountUnits)).to.deep.equal([9n]);
    });

    it('shows a replaced block as another hash at the same height, and its payment gone', async () => {
      const txHash = await stage.pay({ to: OURS, currency: 'USDT', units: 77n });
      const height = await stage.mine();
      const before = await scan(height);
      expect(before.transfers).to.have.length(1);
      await stage.replace(1);
      const after = await scan(height);
      expect([after.transfers, after.parentHash]).to.deep.equal([[], before.parentHash]);
      expect(after.hash).not.to.equal(before.hash);
      expect(await reader.locate(txHash, signal)).to.equal(undefined);
    });

    it('tells where a transaction is, and nothing of one that nobody has', async () => {
      const txHash = await stage.pay({ to: STRANGER, currency: 'USDT', units: 1n });
      const height = await stage.mine();
      const { hash } = await scan(height);
      expect(await reader.locate(txHash, signal)).to.deep.equal({ blockNumber: height, blockHash: hash });
      expect(await reader.locate(stage.unknownHash, signal)).to.equal(undefined);
    });

    it('reads from another endpoint what one that lags does not have, and shows how far that one is', async () => {
      const txHash = await stage.pay({ to: OURS, currency: 'USDT', units: 3n });
      const height = await stage.mine();
      first().lagAt(height - 3);
      expect((await scan(height)).transfers.map((transfer) => transfer.txHash)).to.deep.equal([txHash]);
      expect(await reader.header(height, signal)).to.include({ number: height });
      expect((await reader.locate(txHash, signal))?.blockNumber).to.equal(height);
      const views = await reader.views(height, signal);
      expect(Object.fromEntries(views.map(({ host, head }) => [host, head.number]))).to.deep.equal({
        ...Object.fromEntries(stage.endpoints.map(({ host }) => [host, height])),
        [first().host]: height - 3,
      });
      expect(views.find(({ host }) => host === first().host)?.block).to.equal('above its head');
    });

    for (const fault of ENDPOINT_FAULTS)
      it(`reads a block elsewhere where an endpoint ${fault}, and gives no part of it where there is no other`, async () => {
        const txHash = await stage.pay({ to: OURS, currency: 'USDT', units: 4n });
        const height = await stage.mine();
        first().fail(fault);
        expect((await scan(height)).transfers.map((transfer) => transfer.txHash)).to.deep.equal([txHash]);
        const alone = await failureOf(stage.readerOf([first()]).scan(height, watched, signal));
        expect(alone).to.be.instanceOf(fault === 'serves another chain' ? ChainMismatch : RpcUnavailable);
        expect(String(alone)).to.include(first().host);
      });

    it('proves that its endpoints serve the configured chain, and says which one does not', async () => {
      await reader.checkIdentity(signal);
      second().fail('serves another chain');
      const refusal = await failureOf(stage.readerOf(stage.endpoints).checkIdentity(signal));
      expect(refusal).to.be.instanceOf(ChainMismatch);
      expect(String(refusal)).to.include(second().host);
    });

    it('tells what lay on an address at the end of a block, where it tells balances', async () => {
      const [coin, token] = [await stage.pay({ to: OURS, currency: native, units: 11n }), 13n];
      await stage.pay({ to: OURS, currency: 'USDT', units: token });
      const height = await stage.mine();
      expect(await reader.locate(coin, signal)).to.include({ blockNumber: height });
      if (!reader.balances) return;
      const [is] = there(await reader.balances([OURS, STRANGER], height, signal));
      const [was] = there(await reader.balances([OURS, STRANGER], height - 1, signal));
      expect([is?.addressKey, was?.addressKey]).to.deep.equal([OURS, OURS]);
      expect((is?.nativeUnits ?? 0n) - (was?.nativeUnits ?? 0n)).to.equal(11n);
      expect((is?.tokenUnits ?? 0n) - (was?.tokenUnits ?? 0n)).to.equal(token);
    });

    it('stops at once when it is told to', async () => {
      const stopped = AbortSignal.abort(new Error('shutting down'));
      for (const asked of [reader.head(stopped), reader.scan(1, watched, stopped), reader.views(1, stopped)])
        expect(await failureOf(asked)).to.have.property('message', 'shutting down');
    });
  });
}

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
