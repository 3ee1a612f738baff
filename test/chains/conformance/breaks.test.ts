// The suite that every chain has to pass is itself tested: by readers of which each is broken in one way.
import { AssertionError, expect } from 'chai';
import type { AddressLookup, ChainReader, ScannedBlock } from '../../../src/chains/reader.ts';
import { ChainMismatch, RpcUnavailable } from '../../../src/chains/rpc/errors.ts';
import {
  type Any,
  type Break,
  changing,
  credited,
  deaf,
  remembering,
  scanned,
  sending,
  stubborn,
  swallowing,
  viewed,
} from './breaking.ts';
import { bscStage } from './bsc-stage.ts';
import { sceneOf } from './scene.ts';
import type { ChainStage } from './stage.ts';
import { CASES } from './suite.ts';

/** How a case fails, and not a mistake in this file. */
const KINDS = [AssertionError, RpcUnavailable, ChainMismatch];
const ELSEWHERE = `0x${'00'.repeat(32)}`;

const inSeconds = (block?: { timestampMs: number }) =>
  block && { ...block, timestampMs: block.timestampMs / 1_000 };
const emptyBlock = (number: number) => ({
  number,
  hash: ELSEWHERE,
  parentHash: ELSEWHERE,
  timestampMs: 0,
  transfers: [],
  unrecognised: [],
  unrecognisedDropped: 0,
});

const onFaults: Readonly<Record<string, Break>> = {
  'asks no other endpoint': stubborn('scan'),
  'takes the fault for a block that is not there': swallowing('scan', undefined),
  'takes the fault for an empty block': swallowing('scan', emptyBlock),
  'names no endpoint': swallowing('scan', () => {
    throw new Error('something went wrong');
  }),
};

/** By the case that has to notice. */
const BREAKS: Readonly<Record<string, Readonly<Record<string, Break>>>> = {
  'names its newest block, by height, hash, parent and time': {
    'is one block late': changing('head', async ({ number, host }, [stop], reader) => ({
      ...(await reader.header(number - 1, stop)),
      host,
    })),
    'counts from one': changing('head', (head) => ({ ...head, number: head.number + 1 })),
    'names an endpoint that there is not': changing('head', (head) => ({ ...head, host: 'nobody' })),
    'tells seconds': (...readers) =>
      Object.assign(
        {},
        ...(['head', 'header', 'scan'] as const).map((method) => changing(method, inSeconds)(...readers)),
      ),
    'calls a block its own parent': changing(
      'header',
      (block) => block && { ...block, parentHash: block.hash },
    ),
  },
  'answers nothing for a block that is not there yet': {
    'gives the head instead': changing(
      'header',
      async (block, [, stop], reader) => block ?? (await reader.head(stop)),
    ),
    'reads the head instead': changing(
      'scan',
      async (block, [, watched, stop], reader) =>
        block ?? (await reader.scan((await reader.head(stop)).number, watched, stop)),
    ),
  },
  'names what is final: a block of the chain, as far below the head as the chain takes': {
    'is the head': changing('finalized', (_final, [stop], reader) => reader.head(stop)),
    'is one early': changing('finalized', async (final, [stop], reader) => ({
      ...final,
      ...(await reader.header(final.number + 1, stop)),
    })),
    'is no block of the chain': changing('finalized', (final) => ({ ...final, hash: ELSEWHERE })),
  },
  'believes no endpoint alone about what is final': { 'asks one': stubborn('finalized') },
  'shows a replaced block as another hash at the same height, and its payment gone': {
    'remembers blocks': remembering('scan'),
    'remembers headers': remembering('header'),
    'remembers where a payment was': (reader) => {
      const places = new Map<string, unknown>();
      const note = (block?: ScannedBlock): ScannedBlock | undefined => {
        for (const { txHash } of block?.transfers ?? [])
          places.set(txHash, { blockNumber: block?.number, blockHash: block?.hash });
        return block;
      };
      return {
        scan: async (...asked: Parameters<ChainReader['scan']>) => note(await reader.scan(...asked)),
        locate: async (txHash: string, stop: AbortSignal) =>
          places.get(txHash) ?? (await reader.locate(txHash, stop)),
      };
    },
  },
  'tells where a transaction is, and nothing of one that nobody has': {
    'is a block too high': changing(
      'locate',
      (place) => place && { ...place, blockNumber: place.blockNumber + 1 },
    ),
    'names another block': changing('locate', (place) => place && { ...place, blockHash: ELSEWHERE }),
    'finds nothing': changing('locate', () => undefined),
  },
  'stops at once when it is told to, also in the middle of a question': Object.fromEntries(
    (
      ['head', 'finalized', 'header', 'scan', 'views', 'locate', 'balances', 'checkIdentity'] as const
    ).flatMap((method) => [
      [`${method} begins all the same`, deaf(method)],
      [`${method} goes on to its end`, deaf(method, { begun: true })],
    ]),
  ),
  'shows what a block brought to our addresses, to the last unit, and nothing that others got': {
    'leaves the last out': credited((transfers) => transfers.slice(0, -1)),
    'is a unit off': credited((transfers) =>
      transfers.map((one) => ({ ...one, amountUnits: one.amountUnits + 1n })),
    ),
    'counts coins in floating point': credited((transfers) =>
      transfers.map((one) =>
        one.kind === 'native' ? { ...one, amountUnits: BigInt(Number(one.amountUnits)) } : one,
      ),
    ),
    'counts tokens in floating point': credited((transfers) =>
      transfers.map((one) =>
        one.kind === 'token' ? { ...one, amountUnits: BigInt(Number(one.amountUnits)) } : one,
      ),
    ),
    'shows each twice': credited((transfers) => [...transfers, ...transfers]),
    'shows one address only': credited((transfers) => transfers.filter(({ to }) => to === transfers[0]?.to)),
    'shows every address': (reader) => ({
      scan: (number: number, _watched: unknown, stop: AbortSignal) =>
        reader.scan(number, { has: () => true, isOwn: () => false }, stop),
    }),
    'remembers who was watched': remembering('scan'),
    'shows nothing twice': (reader) => {
      let seen = 0;
      return changing('scan', (block) => ({ ...block, transfers: seen++ > 1 ? [] : block.transfers }))(
        reader,
        reader,
      );
    },
    'names no sender': credited((transfers) => transfers.map((one) => ({ ...one, from: null }))),
    'names the receiver as sender': credited((transfers) =>
      transfers.map((one) => ({ ...one, from: one.to })),
    ),
    'spells addresses in its own way': credited((transfers) =>
      transfers.map((one) => ({ ...one, to: one.to.toUpperCase() })),
    ),
    'says that it left something out': scanned(() => ({ unrecognisedDropped: 1 })),
  },
  'shows each of many payments, also where one is like the other': {
    'shows one page': credited((transfers) => transfers.slice(0, 50)),
    'shows like ones once': credited((transfers) => transfers.slice(0, 1)),
    'sums them': credited(([one, ...more]) => [{ ...one, amountUnits: 8n * BigInt(1 + more.length) }]),
  },
  'credits nothing that failed, and sets aside what another token brought': {
    'takes any token for ours': credited((transfers, { unrecognised }) => [...transfers, ...unrecognised]),
    'forgets the other token': scanned(() => ({ unrecognised: [] })),
  },
  'credits nothing that one of our own wallets sent, nor what reached one that is no deposit address': {
    'credits it': credited((transfers, { own = [] }) => [...transfers, ...own]),
    'says nothing of it': scanned(() => ({ own: undefined })),
    'takes every wallet for a deposit address': (reader) => ({
      scan: (number: number, watched: Parameters<ChainReader['scan']>[1], stop: AbortSignal) =>
        reader.scan(
          number,
          { has: (...at) => watched.isOwn(...at), isOwn: (...at) => watched.isOwn(...at) },
          stop,
        ),
    }),
  },
  'tells what our own wallets sent to whom, and what it cost, also where it failed': {
    'says nothing of it': scanned(() => ({ sent: undefined })),
    'leaves out what failed': sending((sent) => sent.filter(({ ok }) => ok)),
    'calls it done': sending((sent) => sent.map((one) => ({ ...one, ok: true }))),
    'shows each twice': sending((sent) => [...sent, ...sent]),
    'is a unit off': sending((sent) => sent.map((one) => ({ ...one, feeUnits: one.feeUnits + 1n }))),
    'forgets the fee of what failed': sending((sent) =>
      sent.map((one) => (one.ok ? one : { ...one, feeUnits: 0n })),
    ),
    'counts in floating point': sending((sent) =>
      sent.map(({ moves, ...one }) => ({
        ...one,
        moves: moves.map((move) => ({ ...move, units: BigInt(Number(move.units)) })),
      })),
    ),
    'moves nothing': sending((sent) => sent.map((one) => ({ ...one, moves: [] }))),
    'leaves out what reaches us': sending((sent, { own = [] }) =>
      sent.filter(({ txHash }) => !own.some((one) => one.txHash === txHash)),
    ),
    'numbers them alike': sending((sent) => sent.map((one) => ({ ...one, nonce: 7 }))),
    'names one sender': sending((sent) => sent.map((one) => ({ ...one, from: sent[0]?.from }))),
    'spells addresses in its own way': sending((sent) =>
      sent.map((one) => ({ ...one, from: one.from.toUpperCase() })),
    ),
    'calls the block quiet': scanned(() => ({ fingerprint: 'f' })),
    'takes everybody for ours': (reader) => ({
      scan: (number: number, watched: AddressLookup, stop: AbortSignal) =>
        reader.scan(number, { has: (...at) => watched.has(...at), isOwn: () => true }, stop),
    }),
  },
  'tells what lay on an address at the end of a block, where it tells balances': {
    'tells of now': changing('balances', async (_rows, [keys, , stop], reader) =>
      reader.balances?.(keys, (await reader.head(stop)).number, stop),
    ),
    'tells them in another order': changing('balances', (rows) => rows?.toReversed()),
    'mixes them up': changing('balances', (rows) =>
      rows?.map((row: object, at: number) => ({ ...rows.at(-1 - at), ...keyOf(row) })),
    ),
    'tells one': changing('balances', (rows) => rows?.slice(0, 1)),
    'has lost them': () => ({ balances: undefined }),
  },
  'reads from another endpoint what one that lags does not have, and shows how far that one is': {
    'believes that there is no block': stubborn('scan'),
    'believes that there is no header': stubborn('header'),
    'believes that there is no transaction': stubborn('locate'),
    'shows the best': viewed((views) => views.slice(1)),
    'shows one head': viewed((views) => views.map((view) => ({ ...view, head: views.at(-1)?.head }))),
    'shows one block': viewed((views) => views.map((view) => ({ ...view, block: views.at(-1)?.block }))),
    'says nothing of the block': viewed((views) => views.map((view) => ({ ...view, block: 'not there' }))),
    'says nothing of finality': viewed((views) => views.map((view) => ({ ...view, finalized: null }))),
  },
  'never takes "could not find out" for "not there"': {
    'has no header': swallowing('header', undefined),
    'has no block': swallowing('scan', undefined),
    'has no transaction': swallowing('locate', undefined),
    'has no view': swallowing('views', []),
    'has no balances': swallowing('balances', undefined),
    'has the head of before': swallowing('head', emptyBlock(1)),
    'has the final block of before': swallowing('finalized', emptyBlock(1)),
  },
  ...Object.fromEntries(
    Object.keys(CASES)
      .filter((title) => title.startsWith('reads a block elsewhere where an endpoint'))
      .map((title) => [title, onFaults]),
  ),
  'proves that its endpoints serve the configured chain, and says which one does not': {
    'finds no fault': swallowing('checkIdentity', undefined),
    'asks one': stubborn('checkIdentity'),
    'has one endpoint': () => ({ endpoints: 1 }),
    'is another network': () => ({ network: 'tron' }),
  },
};

const keyOf = (row: Any) => ({ addressKey: row.addressKey });

describe('the suite of every chain fails', function () {
  this.timeout(30_000);
  let stage: ChainStage;
  before(async () => {
    stage = await bscStage({ timeoutMs: 500 });
  });
  after(() => stage?.stop());
  const broken = (brokenBy: Break): ChainStage => ({
    ...stage,
    readerOf: (endpoints) => {
      const reader = stage.readerOf(endpoints);
      return { ...reader, ...brokenBy(reader, stage.readerOf(endpoints.slice(0, 1))) } as ChainReader;
    },
  });

  for (const [title, run] of Object.entries(CASES))
    it(`where a reader is broken, in its case "${title}"`, async () => {
      const breaks = Object.entries(BREAKS[title] ?? {});
      expect(breaks, 'it needs a reader that is broken in this way').not.to.deep.equal([]);
      for (const [name, brokenBy] of breaks) {
        const failure = await run(sceneOf(broken(brokenBy))).catch((error: unknown) => error);
        expect(
          KINDS.filter((kind) => failure instanceof kind),
          `${name}: ${failure}`,
        ).to.have.length(1);
      }
    });
});
