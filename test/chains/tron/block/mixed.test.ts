// Blocks of every mixture, written as a node writes them: what is credited is what was sent.
import { expect } from 'chai';
import fc from 'fast-check';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import {
  EVERYBODY,
  PEOPLE,
  type Person,
  readWhole,
  type Sent,
  spelled,
  TOKEN,
  TRANSFER_TOPIC,
  word,
} from '../vectors.ts';

const OURS: readonly Person[] = ['bob', 'carol', 'dave', 'erin'];
const MAX_SUN = 2n ** 63n - 1n;
/** A token's amounts are longer than those of TRX. */
const TOKENS = 2n ** 130n + 1n;

/** One payment within a transaction; void ones are rejected, or of another token. */
type Part = { readonly from: Person; readonly to: Person; readonly units: bigint; readonly isVoid: boolean };
/** One transaction: plain, with logs, with internal transactions, or a loan of energy. */
type Made = {
  readonly kind: 'plain' | 'tokens' | 'code' | 'lent';
  readonly parts: readonly Part[];
  readonly succeeded: boolean;
};

const person = fc.constantFrom(...EVERYBODY);
const units = fc.oneof(fc.bigInt({ min: 0n, max: 10n }), fc.bigInt({ min: 0n, max: MAX_SUN }));
const part: fc.Arbitrary<Part> = fc.record({ from: person, to: person, units, isVoid: fc.boolean() });
const made: fc.Arbitrary<Made> = fc.record({
  kind: fc.constantFrom('plain', 'tokens', 'code', 'lent'),
  parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  succeeded: fc.boolean(),
});

/** The node leaves out what is zero. */
const unlessZero = (name: string, sun: bigint) => (sun === 0n ? {} : { [name]: sun });
const isCode = ({ kind }: Made): boolean => kind === 'tokens' || kind === 'code';
/** What fails without code is in no valid block, so one of ours that says so is not believed. */
const hasSucceeded = (one: Made): boolean =>
  one.succeeded || (!isCode(one) && OURS.includes((one.parts[0] as Part).from));

function contractOf(one: Made): { readonly type: string; readonly value: object } {
  const { from, to, units } = one.parts[0] as Part;
  const owner_address = `41${PEOPLE[from]}`;
  const there = `41${PEOPLE[to]}`;
  if (isCode(one)) {
    const value = { owner_address, contract_address: `41${PEOPLE.batch}`, data: '12345678' };
    return { type: 'TriggerSmartContract', value };
  }
  return one.kind === 'lent'
    ? { type: 'DelegateResourceContract', value: { owner_address, receiver_address: there, balance: units } }
    : {
        type: 'TransferContract',
        value: { owner_address, to_address: there, ...unlessZero('amount', units) },
      };
}

function effectsOf(one: Made): object {
  if (!isCode(one)) return { receipt: {} };
  const receipt = { energy_usage_total: 5, result: one.succeeded ? 'SUCCESS' : 'REVERT' };
  const log = one.parts.map(({ from, to, units, isVoid }) => ({
    address: isVoid ? PEOPLE.token50 : TOKEN,
    topics: [TRANSFER_TOPIC, word(PEOPLE[from]), word(PEOPLE[to])],
    data: word((units * TOKENS).toString(16)),
  }));
  const internal_transactions = one.parts.map(({ from, to, units, isVoid }, at) => ({
    hash: word(at.toString(16)),
    caller_address: `41${PEOPLE[from]}`,
    transferTo_address: `41${PEOPLE[to]}`,
    callValueInfo: [unlessZero('callValue', units)],
    note: '63616c6c',
    ...(isVoid ? { rejected: true } : {}),
  }));
  return { receipt, ...(one.kind === 'tokens' ? { log } : { internal_transactions }) };
}

/** Block and infos, read from a text with amounts as the digits of a number. */
function written(all: readonly Made[]): { readonly block: Sent; readonly infos: Sent } {
  const id = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'b');
  const timestamp = 1_795_257_486_000;
  const idAt = (at: number) => word((at + 1).toString(16));
  const txTrieRoot = all.length > 0 ? 'a'.repeat(64) : word('');
  const raw_data = { number: 9, timestamp, parentHash: id(8), txTrieRoot };
  const transactions = all.map((one, at) => {
    const { type, value } = contractOf(one);
    const ret = [{ contractRet: hasSucceeded(one) ? 'SUCCESS' : 'REVERT' }];
    return { ret, txID: idAt(at), raw_data: { contract: [{ parameter: { value }, type }] } };
  });
  const header = { blockID: id(9), block_header: { raw_data } };
  const block = all.length > 0 ? { ...header, transactions } : header;
  const infos = all.map((one, at) => {
    const place = { id: idAt(at), blockNumber: 9, blockTimeStamp: timestamp };
    return { ...place, ...effectsOf(one) };
  });
  const [blockText = '', infosText = ''] = [block, infos].map((sent) =>
    JSON.stringify(sent, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value)),
  );
  const read = (text: string) => parseTronJson(text.replaceAll(/"#(-?\d+)#"/g, '$1'));
  return { block: read(blockText), infos: read(infosText) };
}

/** What each of us is owed by these transactions, counted without the decoder. */
function owed(all: readonly Made[]): string[] {
  const sums = new Map<string, bigint>();
  for (const [at, one] of all.entries()) {
    if (!hasSucceeded(one) || one.kind === 'lent') continue;
    for (const { from, to, units, isVoid } of isCode(one) ? one.parts : one.parts.slice(0, 1)) {
      if ((isCode(one) && isVoid) || units === 0n || !OURS.includes(to) || OURS.includes(from)) continue;
      const key = `${at} ${spelled(to)} ${one.kind === 'tokens' ? 'USDT' : 'TRX'}`;
      sums.set(key, (sums.get(key) ?? 0n) + units * (one.kind === 'tokens' ? TOKENS : 1n));
    }
  }
  return Array.from(sums, ([key, sum]) => `${key} ${sum}`).toSorted();
}

describe('any block of Tron', () => {
  it('credits what was sent, to the unit', () => {
    fc.assert(
      fc.property(fc.array(made, { maxLength: 12 }), (all) => {
        const { block, infos } = written(all);
        const { transfers, touching } = readWhole(block, infos, OURS);
        const lines = transfers.map(
          ({ txHash, to, currency, amountUnits }) =>
            `${Number.parseInt(txHash, 16) - 1} ${to} ${currency} ${amountUnits}`,
        );
        expect(lines.toSorted()).to.eql(owed(all));
        for (const { txHash } of transfers) expect(touching.has(txHash)).to.equal(true);
      }),
      { numRuns: 120, seed: 1 },
    );
  });
});
