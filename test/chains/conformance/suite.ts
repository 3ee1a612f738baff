// What every chain has to do through its face, whatever its node
// and its protocol are. A chain passes with a stage of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { transactionHashOf } from '../../../src/chains/addresses.ts';
import type { ChainReader } from '../../../src/chains/reader.ts';
import { ChainMismatch, RpcUnavailable } from '../../../src/chains/rpc/errors.ts';
import {
  again,
  failureOf,
  first,
  hashesOf,
  NOBODY,
  nativeOf,
  OURS,
  OURS_TOO,
  questionsOf,
  refOf,
  type Scene,
  STRANGER,
  scan,
  sceneOf,
  second,
  signal,
  spell,
  there,
  WATCHED,
  withGas,
} from './scene.ts';
import { type ChainStage, ENDPOINT_FAULTS } from './stage.ts';

type Case = (the: Scene) => Promise<void>;

/** More than endpoints give on one page or take in one batch. */
const MANY = 55;
const DAY_MS = 24 * 60 * 60_000;

const BLOCKS: Readonly<Record<string, Case>> = {
  'names its newest block, by height, hash, parent and time': async (the) => {
    const height = await the.stage.mine();
    const before = await the.reader.head(signal);
    expect(before).to.include({ number: height });
    expect(the.stage.endpoints.map(({ host }) => host)).to.include(before.host);
    await the.stage.mine();
    const head = await the.reader.head(signal);
    expect([head.number, head.parentHash]).to.deep.equal([height + 1, before.hash]);
    expect(head.timestampMs).to.be.at.least(before.timestampMs);
    expect(head.timestampMs, 'in milliseconds, of today').to.be.closeTo(Date.now(), DAY_MS);
    expect(await the.reader.header(head.number, signal)).to.deep.equal(refOf(head));
    expect(refOf(await scan(the, head.number))).to.deep.equal(refOf(head));
  },

  'answers nothing for a block that is not there yet': async (the) => {
    const height = await the.stage.mine();
    expect(await the.reader.header(height + 1, signal)).to.equal(undefined);
    expect(await the.reader.scan(height + 1, WATCHED, signal)).to.equal(undefined);
  },

  'names what is final: a block of the chain, as far below the head as the chain takes': async (the) => {
    const height = await the.stage.mine(the.stage.finalDistance + 1);
    const final = await the.reader.finalized(signal);
    expect(final.number).to.equal(height - the.stage.finalDistance);
    expect(refOf(final)).to.deep.equal(await the.reader.header(final.number, signal));
  },

  'believes no endpoint alone about what is final': async (the) => {
    const height = await the.stage.mine(the.stage.finalDistance + 1);
    first(the).fail('calls its newest block final');
    const final = await the.reader.finalized(signal);
    expect(final.isAwaited || final.number).to.be.oneOf([true, height - the.stage.finalDistance]);
  },

  'shows a replaced block as another hash at the same height, and its payment gone': async (the) => {
    const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 77n });
    const height = await the.stage.mine();
    const before = await scan(the, height);
    expect(before.transfers).to.have.length(1);
    expect(await the.reader.header(height, signal)).to.include({ hash: before.hash });
    await the.stage.replace(1);
    const after = await scan(the, height);
    expect([after.transfers, after.parentHash]).to.deep.equal([[], before.parentHash]);
    expect(after.hash).not.to.equal(before.hash);
    expect(await the.reader.header(height, signal)).to.include({ hash: after.hash });
    expect(await the.reader.locate(txHash, signal)).to.equal(undefined);
  },

  'tells where a transaction is, and nothing of one that nobody has': async (the) => {
    const txHash = await the.stage.pay({ to: STRANGER, currency: 'USDT', units: 1n });
    const height = await the.stage.mine();
    expect(transactionHashOf(the.stage.network, txHash), 'as an operator may name it').to.equal(txHash);
    const { hash } = await scan(the, height);
    expect(await the.reader.locate(txHash, signal)).to.deep.equal({ blockNumber: height, blockHash: hash });
    expect(await the.reader.locate(the.stage.unknownHash, signal)).to.equal(undefined);
  },

  'stops at once when it is told to, also in the middle of a question': async (the) => {
    const reason = new Error('shutting down');
    const identity = (reader: ChainReader, stop: AbortSignal) => reader.checkIdentity(stop);
    const asked = [...questionsOf(the, 1), identity];
    const failuresOf = (stop: AbortSignal) =>
      Promise.all(asked.map((ask) => failureOf(ask(again(the), stop))));
    const stopped = asked.map(() => reason);
    expect(await failuresOf(AbortSignal.abort(reason))).to.deep.equal(stopped);
    for (const endpoint of the.stage.endpoints) endpoint.fail('hangs');
    const stopping = new AbortController();
    const failures = failuresOf(stopping.signal);
    await sleep(100);
    stopping.abort(reason);
    // Whatever goes on fails for another reason, when its time is over.
    expect(await failures).to.deep.equal(stopped);
  },
};

const MONEY: Readonly<Record<string, Case>> = {
  'shows what a block brought to our addresses, to the last unit, and nothing that others got': async (
    the,
  ) => {
    // no floating-point number is either of them
    const [coins, tokens] = [9_007_199_254_740_993n, 12_345_678_901_234_567_890n];
    const coin = await the.stage.pay({ to: OURS, currency: nativeOf(the), units: coins });
    const token = await the.stage.pay({ to: OURS, currency: 'USDT', units: tokens });
    const other = await the.stage.pay({ to: OURS_TOO, currency: 'USDT', units: 6n });
    await the.stage.pay({ to: STRANGER, currency: 'USDT', units: 5n });
    const height = await the.stage.mine();
    const unwatched = there(await the.reader.scan(height, NOBODY, signal));
    expect(unwatched.transfers).to.deep.equal([]);
    const block = await scan(the, height);
    const from = spell(the, the.stage.payer);
    const [ours, oursToo] = [spell(the, OURS), spell(the, OURS_TOO)];
    expect(block.transfers).to.have.deep.members([
      { to: ours, from, txHash: coin, currency: nativeOf(the), kind: 'native', amountUnits: coins },
      { to: ours, from, txHash: token, currency: 'USDT', kind: 'token', amountUnits: tokens },
      { to: oursToo, from, txHash: other, currency: 'USDT', kind: 'token', amountUnits: 6n },
    ]);
    expect([block.unrecognised, block.unrecognisedDropped, block.own ?? []]).to.deep.equal([[], 0, []]);
    expect(await scan(the, height), 'the same when it is read again').to.deep.equal(block);
  },

  'shows each of many payments, also where one is like the other': async (the) => {
    const sent: string[] = [];
    for (let nth = 0; nth < MANY; nth++)
      sent.push(await the.stage.pay({ to: OURS, currency: 'USDT', units: 8n }));
    const { transfers } = await scan(the, await the.stage.mine());
    expect(transfers.map(({ txHash, amountUnits }) => `${txHash} ${amountUnits}`)).to.have.members(
      sent.map((hash) => `${hash} 8`),
    );
  },

  'credits nothing that failed, and sets aside what another token brought': async (the) => {
    const failed = await the.stage.payInVain({ to: OURS, units: 15n });
    const foreign = await the.stage.payForeign({ to: OURS, units: 16n });
    const height = await the.stage.mine();
    const block = await scan(the, height);
    expect((await the.reader.locate(failed, signal))?.blockNumber).to.equal(height);
    expect(block.transfers).to.deep.equal([]);
    const aside = block.unrecognised.map(({ txHash, to, amountUnits }) => [txHash, to, amountUnits]);
    expect(aside).to.deep.equal([[foreign, spell(the, OURS), 16n]]);
  },

  'credits nothing that one of our own wallets sent, nor what reached one that is no deposit address': async (
    the,
  ) => {
    const wallets = withGas(the.stage.payer, OURS_TOO);
    await the.stage.pay({ to: OURS, currency: 'USDT', units: 9n });
    await the.stage.pay({ to: OURS_TOO, currency: nativeOf(the), units: 10n });
    const block = there(await the.reader.scan(await the.stage.mine(), wallets, signal));
    expect(block.transfers).to.deep.equal([]);
    expect(block.own?.map(({ amountUnits }) => amountUnits)).to.deep.equal([9n]);
  },

  'tells what our own wallets sent to whom, and what it cost, also where it failed': async (the) => {
    const wallets = withGas(the.stage.payer, the.stage.poor);
    const paid = [
      { to: STRANGER, currency: nativeOf(the), units: 9_007_199_254_740_993n },
      { to: STRANGER, currency: 'USDT', units: 12_345_678_901_234_567_890n },
      { to: OURS, currency: 'USDT', units: 4n },
    ] as const;
    const hashes: string[] = [];
    for (const payment of paid) hashes.push(await the.stage.pay(payment));
    const failed = await the.stage.payInVain({ to: STRANGER, units: 15n });
    const height = await the.stage.mine();
    const { sent = [], fingerprint } = there(await the.reader.scan(height, wallets, signal));
    const expected = [...hashes, failed].map(async (txHash, at) => {
      const payment = paid[at];
      return {
        txHash,
        from: spell(the, payment ? the.stage.payer : the.stage.poor),
        ok: payment !== undefined,
        feeUnits: await the.stage.feeOf(txHash),
        moves: payment ? [{ ...payment, to: spell(the, payment.to) }] : [],
      };
    });
    expect(sent.map(({ nonce: _, proof: __, ...one }) => one)).to.have.deep.members(
      await Promise.all(expected),
    );
    expect(there(sent.find(({ txHash }) => txHash === failed)).feeUnits > 0n).to.equal(true);
    const places = hashes.map((hash) => there(sent.find(({ txHash }) => txHash === hash)).nonce);
    const [first = null] = places;
    expect(places).to.deep.equal(places.map((_, at) => (first === null ? null : first + at)));
    expect(fingerprint).to.equal(undefined);
    expect((await scan(the, height)).sent, 'what others sent').to.equal(undefined);
  },

  'tells what lay on an address at the end of a block, where it tells balances': async (the) => {
    const coin = await the.stage.pay({ to: OURS, currency: nativeOf(the), units: 11n });
    await the.stage.pay({ to: OURS, currency: 'USDT', units: 13n });
    const height = await the.stage.mine();
    expect(await the.reader.locate(coin, signal)).to.include({ blockNumber: height });
    expect(the.reader.balances !== undefined).to.equal(the.stage.tellsBalances);
    if (!the.reader.balances) return;
    const keys = [OURS, STRANGER];
    const is = there(await the.reader.balances(keys, height, signal));
    const was = there(await the.reader.balances(keys, height - 1, signal));
    for (const rows of [is, was]) expect(rows.map(({ addressKey }) => addressKey)).to.deep.equal(keys);
    const rise = (of: 'nativeUnits' | 'tokenUnits') => is.map((row, at) => row[of] - (was[at]?.[of] ?? 0n));
    expect([rise('nativeUnits'), rise('tokenUnits')]).to.deep.equal([
      [11n, 0n],
      [13n, 0n],
    ]);
  },
};

const ENDPOINTS: Readonly<Record<string, Case>> = {
  'reads from another endpoint what one that lags does not have, and shows how far that one is': async (
    the,
  ) => {
    const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 3n });
    const height = await the.stage.mine();
    first(the).lagAt(height - 3);
    expect(hashesOf(await scan(the, height))).to.deep.equal([txHash]);
    const block = await the.reader.header(height, signal);
    expect(block).to.include({ number: height });
    expect((await the.reader.locate(txHash, signal))?.blockNumber).to.equal(height);
    const views = await the.reader.views(height, signal);
    const distance = the.stage.finalDistance;
    const expected = the.stage.endpoints.map(({ host }, at) =>
      at === 0 ? [host, height - 3, 'above its head', distance] : [host, height, block, distance],
    );
    const seen = views.map(({ host, head, finalized, block: shown }) => [
      host,
      head.number,
      shown,
      finalized && head.number - finalized.number,
    ]);
    expect(seen).to.have.deep.members(expected);
  },

  'never takes "could not find out" for "not there"': async (the) => {
    const height = await the.stage.mine();
    const failures = { 'is away': RpcUnavailable, 'serves another chain': ChainMismatch };
    for (const [fault, failure] of Object.entries(failures)) {
      for (const endpoint of the.stage.endpoints) endpoint.fail(fault as keyof typeof failures);
      for (const ask of questionsOf(the, height))
        expect(await failureOf(ask(again(the), signal))).to.be.instanceOf(failure);
    }
  },

  ...Object.fromEntries(
    ENDPOINT_FAULTS.map((fault): [string, Case] => [
      `reads a block elsewhere where an endpoint ${fault}, and gives no part of it where there is no other`,
      async (the) => {
        const txHash = await the.stage.pay({ to: OURS, currency: 'USDT', units: 4n });
        const height = await the.stage.mine();
        first(the).fail(fault);
        const timeoutMs = fault === 'hangs' ? 1_000 : 20_000;
        const reader = again(the, the.stage.endpoints, timeoutMs);
        expect(hashesOf(await scan({ ...the, reader }, height))).to.deep.equal([txHash]);
        const alone = await failureOf(again(the, [first(the)], timeoutMs).scan(height, WATCHED, signal));
        expect(alone).to.be.instanceOf(fault === 'serves another chain' ? ChainMismatch : RpcUnavailable);
        expect(String(alone)).to.include(first(the).host);
      },
    ]),
  ),

  'proves that its endpoints serve the configured chain, and says which one does not': async (the) => {
    const { network, endpoints } = the.stage;
    expect(the.reader).to.include({ network, endpoints: endpoints.length });
    second(the).fail('is away');
    await the.reader.checkIdentity(signal);
    second(the).fail('serves another chain');
    const refusal = await failureOf(the.stage.readerOf(the.stage.endpoints).checkIdentity(signal));
    expect(refusal).to.be.instanceOf(ChainMismatch);
    expect(String(refusal)).to.include(second(the).host);
  },
};

/** Declares the suite for a chain. */
export function itConforms(name: string, start: () => Promise<ChainStage>): void {
  describe(`${name} as every chain`, function () {
    this.timeout(60_000);
    let stage: ChainStage;
    before(async () => {
      stage = await start();
    });
    after(() => stage?.stop());
    const cases = { ...BLOCKS, ...MONEY, ...ENDPOINTS };
    for (const [title, run] of Object.entries(cases)) it(title, () => run(sceneOf(stage)));
  });
}
