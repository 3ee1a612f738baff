import { expect } from 'chai';
import type { Quote, SpendOrder } from '../../../../src/chains/spending.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { tronTransfers } from '../../../../src/chains/tron/transfer/transfer.ts';
import { PEOPLE, type Sent, TOKEN } from '../vectors.ts';
import {
  type Answers,
  API_KEY,
  answer,
  BOB,
  NOW_MS,
  orderOf,
  SOLID_MS,
  type SpendingStage,
  startSpendingStage,
  TRX,
  termsIn,
} from './stage.ts';

const { signal } = new AbortController();
const ENERGY = 27_764n;
const USED = { freeNetLimit: 600, freeNetUsed: 500 };
const hexOf = (words: string): string => Buffer.from(words).toString('hex');

describe('what a transfer on Tron takes', () => {
  let one: SpendingStage;
  let two: SpendingStage;
  before(async () => {
    [one, two] = [await startSpendingStage(1), await startSpendingStage(2)];
  });
  beforeEach(() => {
    one.answers(0, {});
    for (const at of [0, 1]) two.answers(at, {});
  });
  after(() => {
    one?.stop();
    two?.stop();
  });

  const quote = (order: SpendOrder, changed: Answers = {}): Promise<Quote> => {
    one.answers(0, changed);
    return one.spending().quote(order, {}, signal);
  };
  const isRefused = async (asked: Promise<Quote>, says: RegExp): Promise<string> => {
    const told = await asked;
    if (told.kind !== 'refused') return expect.fail(JSON.stringify(told.terms));
    const text = `${told.code}: ${told.reason}`;
    expect(text).to.match(says);
    return text;
  };
  const trial = (change: (recorded: Sent) => Sent): Answers => ({
    triggerconstantcontract: (_: unknown, recorded: Sent) => change(recorded),
  });
  const feeLimit = (energy: bigint): string => (((energy * 120n + 99n) / 100n) * 100n).toString();
  const failureOf = (asked: Promise<Quote>): Promise<string> =>
    asked.then(
      (told) => expect.fail(JSON.stringify({ ...told, units: '', mostUnits: '' })),
      (error: Error) => error.message,
    );

  it('is the energy of a recorded trial and a fifth more, and the bytes', async () => {
    const { terms, units, mostUnits } = termsIn(await quote(orderOf('token')));
    expect([terms['fee_limit'], units]).to.deep.equal([feeLimit(ENERGY), 1n]);
    // 345 bytes were recorded for such a transfer.
    expect(Number(mostUnits - BigInt(feeLimit(ENERGY)))).to.be.within(340_000, 350_000);
    // Of the final view and the newest one, the dearer.
    const dearer = (asked: { url: string }, recorded: Sent): Sent =>
      asked.url.includes('solidity') ? recorded : { ...recorded, energy_used: 64_000 };
    const dear = termsIn(await quote(orderOf('token'), { triggerconstantcontract: dearer }));
    expect(dear.terms['fee_limit']).to.equal('7680000');
  });

  it('is in terms that the signer takes, with the last solidified block as reference', async () => {
    for (const kind of ['token', 'native'] as const) {
      const { terms } = termsIn(await quote(orderOf(kind)));
      const usdtContract = TRON_ADDRESSES.format(TOKEN);
      const read = tronTransfers({ usdtContract, maxFeeLimitSun: 50n * TRX }).terms(
        terms,
        kind,
        new Date(Math.max(NOW_MS, SOLID_MS)),
      );
      expect(read.given).to.deep.equal(terms);
      expect(terms).to.include({ ref_block_bytes: '0048', ref_block_hash: 'e'.repeat(16) });
      expect(read.expiresAt?.getTime()).to.equal(Math.max(NOW_MS, SOLID_MS) + 600_000);
    }
  });

  it('is nothing for coins where the address has their bytes free, and the bytes where not', async () => {
    expect(termsIn(await quote(orderOf('native')))).to.include({ mostUnits: 0n, units: 50n * TRX });
    const paid = termsIn(await quote(orderOf('native'), { getaccountresource: USED }));
    // 268 bytes were recorded for such a transfer.
    expect(Number(paid.mostUnits)).to.be.within(265_000, 272_000);
    expect(paid.units).to.equal(50n * TRX - paid.mostUnits);
    const staked = { ...USED, NetLimit: 1_000 };
    expect(termsIn(await quote(orderOf('native'), { getaccountresource: staked })).mostUnits).to.equal(0n);
  });

  it('is the account of a receiver whom the chain does not know, in place of the bytes', async () => {
    const told = termsIn(await quote(orderOf('native'), { getaccount: {}, getaccountresource: USED }));
    expect(told.mostUnits).to.equal(1_100_000n);
    expect(termsIn(await quote(orderOf('native', 1_100_001n), { getaccount: {} })).units).to.equal(1n);
  });

  it('is refused where it costs too much, or the receiver is a contract, which the chain takes no coins for', async () => {
    const dear = quote(orderOf('native', 1_100_000n), { getaccount: {} });
    await isRefused(dear, /^worthless: sending 1.1 TRX costs 1.1 TRX of it/);
    const burns = quote(
      orderOf('token'),
      trial((recorded) => ({ ...recorded, energy_used: 420_000 })),
    );
    await isRefused(
      burns,
      /^refuses: .* burns up to 50.4 TRX for energy, .* burn 50 TRX: raise TRON_MAX_FEE/,
    );
    const contract = { address: `41${BOB}`, type: 'Contract' };
    await isRefused(quote(orderOf('native'), { getaccount: contract }), /^refuses: T.* is a contract/);
  });

  it('is refused in the words of the token, which show no secret', async () => {
    const says = (recorded: Sent, words: RegExp) =>
      isRefused(quote(orderOf('token'), { triggerconstantcontract: recorded }), words);
    const reverted = answer('wallet_triggerconstantcontract__revert_message');
    await says(reverted, /^refuses: the token refuses the transfer: paused for test$/);
    const bare = answer('wallet_triggerconstantcontract__transfer_too_much');
    await says(bare, /^refuses: .*REVERT opcode executed$/);
    const words = `the key is ${API_KEY}\n\u202e<b>http://user:pass@host/</b>`;
    const said = await says({ ...bare, result: { result: true, message: hexOf(words) } }, /^refuses: /);
    expect(said).not.to.match(new RegExp(`${API_KEY}|\n|\u202e|user:pass`));
  });

  it('is refused where the token would move another amount, or to somebody else', async () => {
    const changed = (change: (log: Sent) => Sent): Answers =>
      trial((recorded) => ({ ...recorded, logs: recorded.logs.map(change) }));
    const [topic, from] = answer('wallet_triggerconstantcontract__transfer_ok').logs[0].topics;
    for (const lie of [
      changed((log) => ({ ...log, data: '2'.padStart(64, '0') })),
      changed((log) => ({ ...log, topics: [topic, from, PEOPLE.carol.padStart(64, '0')] })),
      changed((log) => ({ ...log, address: PEOPLE.batch })),
    ])
      await isRefused(quote(orderOf('token'), lie), /another amount than is paid out, or to somebody else/);
    // Older nodes leave the logs of a trial out, and the best known token answers "no" to what it did.
    termsIn(
      await quote(
        orderOf('token'),
        trial(({ logs: _, ...recorded }) => recorded),
      ),
    );
  });

  it('believes of two prices the higher, and one node alone makes nothing cheap', async () => {
    const cheap = (_: unknown, recorded: Sent): Sent => ({
      chainParameter: recorded.chainParameter.map((one: Sent) =>
        one.key === 'getEnergyFee' ? { ...one, value: 1 } : one,
      ),
    });
    two.answers(0, { getchainparameters: cheap });
    const { terms } = termsIn(await two.spending().quote(orderOf('token'), {}, signal));
    expect(terms['fee_limit']).to.equal(feeLimit(ENERGY));
  });

  it('is not found out, instead of guessed, where an answer is none', async () => {
    const prices = (change: (one: Sent) => Sent) => (_: unknown, recorded: Sent) => ({
      chainParameter: recorded.chainParameter.map(change),
    });
    const wrong: readonly Answers[] = [
      ...[{}, [], answer('wallet_triggerconstantcontract__no_owner')].map((told) => ({
        triggerconstantcontract: told,
      })),
      ...[undefined, 1e15, '27764'].map((energy_used) => trial((recorded) => ({ ...recorded, energy_used }))),
      { getchainparameters: {} },
      { getchainparameters: { chainParameter: [] } },
      { getchainparameters: prices((one) => ({ ...one, value: -1 })) },
      { getblock: {} },
      { getaccountresource: [] },
      { getaccountresource: { freeNetLimit: 'many' } },
    ];
    for (const changed of wrong) await failureOf(quote(orderOf('token'), changed));
    await failureOf(quote(orderOf('native'), { getaccount: { address: `41${PEOPLE.carol}` } }));
  });
});
