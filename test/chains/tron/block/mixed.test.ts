// Blocks of every mixture, written as a node writes them: what is credited is what was sent, and nothing that
// is shuffled, cut or shown twice is read.
import { expect } from 'chai';
import fc from 'fast-check';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { Move } from '../../../../src/chains/outgoing.ts';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { parseTronJson } from '../../../../src/chains/tron/block/exact-json.ts';
import { EVERYBODY, PEOPLE, type Person, read, readWhole, type Sent, TOKEN } from '../vectors.ts';

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const OURS: readonly Person[] = ['bob', 'carol', 'dave', 'erin'];
const MAX_SUN = 2n ** 63n - 1n;
const word = (digits: string): string => digits.padStart(64, '0');
const spelled = (person: Person): string => TRON_ADDRESSES.format(PEOPLE[person] as AddressKey);

/** One payment within a transaction. */
type Part = {
  readonly from: Person;
  readonly to: Person;
  readonly units: bigint;
  /** `true` for what brings nothing: rejected, another contract's, of another token. */
  readonly isVoid: boolean;
};
/** One transaction: plain, with logs or with internal transactions. */
type Made = {
  readonly kind: 'plain' | 'tokens' | 'code' | 'lent';
  readonly parts: readonly Part[];
  readonly succeeded: boolean;
  readonly fee: bigint;
  /** TRX that a call brings to the contract. */
  readonly callValue: bigint;
};
const CODE: readonly Made['kind'][] = ['tokens', 'code'];

const person = fc.constantFrom(...EVERYBODY);
const sun = fc.oneof(fc.bigInt({ min: 0n, max: 10n }), fc.bigInt({ min: 0n, max: MAX_SUN }));
const part: fc.Arbitrary<Part> = fc.record({
  from: person,
  to: person,
  units: sun,
  isVoid: fc.boolean(),
});
const made: fc.Arbitrary<Made> = fc.record({
  kind: fc.constantFrom('plain', 'tokens', 'code', 'lent'),
  parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  succeeded: fc.boolean(),
  fee: sun,
  callValue: sun,
});
const blocks = fc.array(made, { maxLength: 12 });

/** The node leaves out what is zero. */
const unlessZero = (name: string, units: bigint) => (units === 0n ? {} : { [name]: units });

function contractOf({ kind, parts: [first], callValue }: Made): {
  readonly type: string;
  readonly value: object;
} {
  const { from, to, units } = first as Part;
  const owner = { owner_address: `41${PEOPLE[from]}` };
  if (kind === 'lent')
    return {
      type: 'DelegateResourceContract',
      value: { ...owner, receiver_address: `41${PEOPLE[to]}`, balance: units },
    };
  if (kind !== 'plain')
    return {
      type: 'TriggerSmartContract',
      value: {
        ...owner,
        contract_address: `41${PEOPLE.batch}`,
        data: '12345678',
        ...unlessZero('call_value', callValue),
      },
    };
  return {
    type: 'TransferContract',
    value: { ...owner, to_address: `41${PEOPLE[to]}`, ...unlessZero('amount', units) },
  };
}

/** What fails without code is in no valid block, so one of ours that says so is not believed. */
const hasSucceeded = ({ kind, parts: [first], succeeded }: Made): boolean =>
  succeeded || (!CODE.includes(kind) && OURS.includes((first as Part).from));

function effectsOf({ kind, parts, succeeded, fee }: Made): object {
  const taken = unlessZero('fee', fee);
  if (!CODE.includes(kind)) return { ...taken, receipt: {} };
  const receipt = { energy_usage_total: 5, result: succeeded ? 'SUCCESS' : 'REVERT' };
  const log = parts.map(({ from, to, units, isVoid }) => ({
    address: isVoid ? PEOPLE.token50 : TOKEN,
    topics: [TRANSFER, word(PEOPLE[from]), word(PEOPLE[to])],
    data: word(units.toString(16)),
  }));
  const internal_transactions = parts.map(({ from, to, units, isVoid }, at) => ({
    hash: word(at.toString(16)),
    caller_address: `41${PEOPLE[from]}`,
    transferTo_address: `41${PEOPLE[to]}`,
    callValueInfo: [unlessZero('callValue', units)],
    note: '63616c6c',
    ...(isVoid ? { rejected: true } : {}),
  }));
  return { ...taken, receipt, ...(kind === 'tokens' ? { log } : { internal_transactions }) };
}

/** Block and infos as text, with amounts as the digits of a number. */
function written(all: readonly Made[]): { readonly block: Sent; readonly infos: Sent } {
  const id = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'b');
  const timestamp = 1_795_257_486_000;
  const hashes = all.map((_, at) => word((at + 1).toString(16)));
  const raw = {
    number: 9,
    timestamp,
    parentHash: id(8),
    txTrieRoot: all.length > 0 ? 'a'.repeat(64) : word(''),
  };
  const transactions = all.map((each, at) => {
    const { type, value } = contractOf(each);
    const contractRet = hasSucceeded(each) ? 'SUCCESS' : 'REVERT';
    return {
      ret: [{ contractRet }],
      txID: hashes[at],
      raw_data: {
        contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
      },
    };
  });
  const infos = all.map((each, at) => {
    const belonging = { id: hashes[at], blockNumber: 9, blockTimeStamp: timestamp };
    return { ...belonging, ...effectsOf(each) };
  });
  const header = { blockID: id(9), block_header: { raw_data: raw } };
  return { block: all.length > 0 ? { ...header, transactions } : header, infos };
}

function asText(sent: unknown): string {
  const text = JSON.stringify(sent, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value));
  return text.replaceAll(/"#(-?\d+)#"/g, '$1');
}

/** What each of us is owed by these transactions, counted without the decoder. */
function owed(all: readonly Made[]): string[] {
  const sums = new Map<string, bigint>();
  for (const [at, { kind, parts, ...each }] of all.entries())
    for (const { from, to, units, isVoid } of kind === 'plain' ? parts.slice(0, 1) : parts) {
      const counts = kind === 'plain' || !isVoid;
      if (!hasSucceeded({ ...each, kind, parts }) || kind === 'lent' || !counts || units === 0n) continue;
      if (!OURS.includes(to) || OURS.includes(from)) continue;
      const key = `${at} ${spelled(to)} ${kind === 'tokens' ? 'USDT' : 'TRX'}`;
      sums.set(key, (sums.get(key) ?? 0n) + units);
    }
  return Array.from(sums, ([key, units]) => `${key} ${units}`).toSorted();
}

type Left = { readonly at: number; readonly from: Person; readonly to: Person; readonly move: string };

/** What left each of us, counted without the decoder: only a transaction itself and the token take it. */
function leaving(all: readonly Made[]): Left[] {
  const sums = new Map<string, Left & { readonly units: bigint }>();
  for (const [at, each] of all.entries()) {
    const { kind, parts, callValue } = each;
    const { from, to, units } = parts[0] as Part;
    const tokens = kind === 'tokens' ? parts.filter(({ isVoid }) => !isVoid) : [];
    const coins =
      kind === 'plain' ? [{ from, to, units }] : [{ from, to: 'batch' as const, units: callValue }];
    const moved = [
      ...(kind === 'lent' ? [] : coins.map((part) => ({ ...part, currency: 'TRX' }))),
      ...tokens.map((part) => ({ ...part, currency: 'USDT' })),
    ];
    for (const { from, to, units, currency } of hasSucceeded(each) ? moved : []) {
      if (!OURS.includes(from) || from === to || units === 0n) continue;
      const key = `${at} ${from} ${to} ${currency}`;
      const sum = (sums.get(key)?.units ?? 0n) + units;
      sums.set(key, { at, from, to, units: sum, move: `${spelled(to)} ${currency} ${sum}` });
    }
  }
  return [...sums.values()];
}

/** The lines in which a block should tell of it. */
function told(all: readonly Made[]): { readonly sent: string[]; readonly taken: string[] } {
  const left = leaving(all);
  const senders = all.map(({ parts: [first] }) => (first as Part).from);
  const sent = all.flatMap((each, at) => {
    const from = senders[at] as Person;
    const moves = left.filter((one) => one.at === at && one.from === from).map(({ move }) => move);
    const line = `${at} ${spelled(from)} null ${hasSucceeded(each)} ${each.fee}`;
    return OURS.includes(from) ? [[line, ...moves.toSorted()].join()] : [];
  });
  const taken = left
    .filter(({ at, from }) => senders[at] !== from)
    .map(({ at, from, move }) => `${at} ${spelled(from)} ${move}`);
  return { sent, taken: taken.toSorted() };
}

const placeOf = ({ txHash }: { readonly txHash: string }): number => Number.parseInt(txHash, 16) - 1;

const again = ({ block, infos }: { readonly block: Sent; readonly infos: Sent }) =>
  readWhole(parseTronJson(asText(block)), parseTronJson(asText(infos)), OURS);

describe('any block of Tron', () => {
  it('credits what was sent, to the unit', () => {
    fc.assert(
      fc.property(blocks, (all) => {
        const { transfers, touching } = again(written(all));
        const lines = transfers.map(
          ({ txHash, to, currency, amountUnits }) =>
            `${placeOf({ txHash })} ${to} ${currency} ${amountUnits}`,
        );
        expect(lines.toSorted()).to.eql(owed(all));
        for (const { txHash } of transfers) expect(touching.has(txHash)).to.equal(true);
      }),
      { numRuns: 400 },
    );
  });

  it('tells every transaction of ours, its fee, and what left us by whomever, to the unit', () => {
    const lineOf = ({ to, currency, units }: Move) => `${to} ${currency} ${units}`;
    fc.assert(
      fc.property(blocks, (all) => {
        const { sent = [], taken = [], touching } = again(written(all));
        const lines = sent.map((one) =>
          [
            `${placeOf(one)} ${one.from} ${one.nonce} ${one.ok} ${one.feeUnits}`,
            ...one.moves.map(lineOf).toSorted(),
          ].join(),
        );
        const takenLines = taken.map((one) => `${placeOf(one)} ${one.from} ${lineOf(one)}`);
        expect({ sent: lines, taken: takenLines.toSorted() }).to.eql(told(all));
        for (const { txHash } of [...sent, ...taken]) expect(touching.has(txHash)).to.equal(true);
      }),
      { numRuns: 400 },
    );
  });

  it('is refused, or not there yet, where a part of it is shuffled, cut, shown twice or of another', () => {
    const several = fc.array(made, { minLength: 2, maxLength: 8 });
    const faults: Readonly<Record<string, (list: Sent[], at: number) => unknown>> = {
      cut: (list, at) => list.splice(at, 1),
      'cut behind': (list, at) => list.splice(at),
      twice: (list, at) => list.splice(at, 0, list[at]),
      'another in its place': (list, at) => list.splice(at, 1, list[(at + 1) % list.length]),
      shuffled: (list, at) => list.push(...list.splice(at === list.length - 1 ? 0 : at, 1)),
      unknown: (list, at) => list.splice(at, 1, null),
    };
    const places = ['transactions', 'infos', 'both'] as const;
    const fault = fc.constantFrom(...Object.keys(faults));
    fc.assert(
      fc.property(several, fault, fc.constantFrom(...places), fc.nat(7), (all, name, place, where) => {
        const sent = written(all);
        const at = where % all.length;
        if (place !== 'infos') faults[name]?.(sent.block.transactions, at);
        if (place !== 'transactions') faults[name]?.(sent.infos, at);
        // Both changed alike, in order and number: a block of other transactions, which only its root tells.
        fc.pre(place !== 'both' || name === 'twice' || name === 'another in its place' || name === 'unknown');
        const outcome = () =>
          read(parseTronJson(asText(sent.block)), parseTronJson(asText(sent.infos)), OURS);
        let found: unknown;
        try {
          found = outcome();
        } catch (error) {
          expect(error).to.be.instanceOf(EndpointFailure);
        }
        expect(found, `${name} of ${place} at ${at}`).to.equal(undefined);
      }),
      { numRuns: 400 },
    );
  });
});
