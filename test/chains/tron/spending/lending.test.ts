import { expect } from 'chai';
import type { Loan } from '../../../../src/chains/spending.ts';
import type { Asked } from '../endpoints/node.ts';
import {
  ALICE,
  type Answers,
  answer,
  BOB,
  NOW_MS,
  SOLID_MS,
  type SpendingStage,
  startSpendingStage,
  TRX,
} from './stage.ts';

const { signal } = new AbortController();
const PARTIES = { lender: ALICE, borrower: BOB };
/** 33,317 of energy at 100 sun. */
const TERMS = { fee_limit: '3331700' };
const STAKED = answer('wallet_getaccountresource__staked') as Record<string, number>;
const LENT = answer('wallet_getaccountresource__delegated_to') as Record<string, number>;
const LENDABLE = 90_000n * TRX;

describe('energy on Tron that is lent', () => {
  let one: SpendingStage;
  let two: SpendingStage;
  before(async () => {
    [one, two] = [await startSpendingStage(1), await startSpendingStage(2)];
  });
  after(() => {
    one?.stop();
    two?.stop();
  });

  const usual = (changed: Answers = {}): Answers => ({
    getaccountresource: ({ body }: Asked) =>
      JSON.parse(String(body)).address === `41${ALICE}`
        ? { ...STAKED, freeNetUsed: 0 }
        : { ...LENT, freeNetUsed: 0 },
    getcandelegatedmaxsize: { max_size: Number(LENDABLE) },
    getdelegatedresourcev2: answer('wallet_getdelegatedresourcev2'),
    ...changed,
  });
  const lendingOf = (stage: SpendingStage, ...each: Answers[]) => {
    for (const [at, changed] of each.entries()) stage.answers(at, changed);
    const { lending } = stage.spending();
    if (!lending) throw new Error('nothing is lent');
    return lending;
  };
  const look = (...each: Answers[]): Promise<Loan> =>
    lendingOf(each.length > 1 ? two : one, ...each).look(PARTIES, TERMS, signal);

  it('is the part of the stake that covers the limit and a twentieth more, by the ratio of the whole chain', async () => {
    const loan = await look(usual());
    const wanted = (33_317n * 105n + 99n) / 100n;
    const [limit, weight] = [
      BigInt(STAKED['TotalEnergyLimit'] ?? 0),
      BigInt(STAKED['TotalEnergyWeight'] ?? 0),
    ];
    expect(loan).to.deep.equal({
      has: BigInt((LENT['EnergyLimit'] ?? 0) - (LENT['EnergyUsed'] ?? 0)),
      needs: 33_317n,
      units: ((wanted * weight + limit - 1n) / limit) * TRX,
      lendable: LENDABLE,
      coinUnits: 0n,
      isKnown: true,
      mostUnits: 0n,
    });
    // What was lent gives at least what was wanted.
    expect(((loan.units / TRX) * limit) / weight >= wanted).to.equal(true);
  });

  it('takes coins for bytes that are not free, and for an address that the chain does not know', async () => {
    const used = { freeNetLimit: 600, freeNetUsed: 571 };
    const paying = await look(
      usual({
        getaccountresource: ({ body }: Asked) =>
          JSON.parse(String(body)).address === `41${ALICE}`
            ? { ...STAKED, ...used, NetUsed: 0, NetLimit: 0 }
            : { ...LENT, ...used },
      }),
    );
    expect(Number(paying.coinUnits)).to.be.within(340_000, 350_000);
    expect(Number(paying.mostUnits)).to.be.within(2 * 270_000, 2 * 290_000);
    const unknown = await look(
      usual({
        getaccount: {},
        getaccountresource: ({ body }: Asked) =>
          JSON.parse(String(body)).address === `41${ALICE}` ? { ...STAKED, freeNetUsed: 0 } : {},
      }),
    );
    expect(unknown).to.include({ isKnown: false, has: 0n });
    expect(Number(unknown.coinUnits)).to.be.within(340_000, 350_000);
  });

  it('has nothing to lend where nobody staked, and where the wallet is unknown to the chain', async () => {
    expect((await look(usual({ getcandelegatedmaxsize: {} }))).lendable).to.equal(0n);
    const nobody = usual({ getaccountresource: {}, getcandelegatedmaxsize: {} });
    expect((await look(nobody)).lendable).to.equal(0n);
  });

  it('is of no use where an endpoint tells a ratio that no chain has', async () => {
    for (const ratio of [
      { TotalEnergyWeight: Number.MAX_SAFE_INTEGER },
      { TotalEnergyLimit: 1 },
      { TotalEnergyLimit: Number.MAX_SAFE_INTEGER, TotalEnergyWeight: 0 },
    ]) {
      const loan = await look(usual({ getaccountresource: { ...STAKED, ...ratio } }));
      expect(loan.units >= TRX && loan.units <= 10n ** 17n, JSON.stringify(ratio)).to.equal(true);
    }
  });

  it('is of two endpoints what the worse says', async () => {
    const has = BigInt((LENT['EnergyLimit'] ?? 0) - (LENT['EnergyUsed'] ?? 0));
    const liar = usual({
      getaccountresource: {
        ...LENT,
        freeNetUsed: 0,
        EnergyLimit: 90_000_000,
        EnergyUsed: 0,
        TotalEnergyWeight: 1,
      },
      getcandelegatedmaxsize: { max_size: Number(LENDABLE) * 10 },
    });
    const honest = await look(usual());
    for (const both of [
      [liar, usual()],
      [usual(), liar],
    ] as const) {
      const loan = await look(...both);
      expect(loan.has).to.equal(has);
      expect(loan.lendable).to.equal(LENDABLE);
      expect(loan.units).to.equal(honest.units);
    }
  });

  it('is neither had nor lent where one of two endpoints says so alone', async () => {
    const broken = usual({ getcandelegatedmaxsize: [] });
    const { has, units } = await look(usual());
    for (const both of [
      [usual(), broken],
      [broken, usual()],
    ] as const)
      expect(await look(...both)).to.include({ has: 0n, units, lendable: 0n });
    expect((await look(usual(), usual())).has).to.equal(has);
  });

  it('is known to be lent while one of two endpoints says so', async () => {
    const lent = async (...each: Answers[]) =>
      await lendingOf(each.length > 1 ? two : one, ...each).lent(PARTIES, signal);
    expect(await lent(usual())).to.equal(30_000n * TRX);
    expect(await lent(usual({ getdelegatedresourcev2: {} }))).to.equal(0n);
    expect(await lent(usual({ getdelegatedresourcev2: {} }), usual())).to.equal(30_000n * TRX);
    expect(await lent(usual(), usual({ getdelegatedresourcev2: {} }))).to.equal(30_000n * TRX);
  });

  it('is not known to be back where one of two endpoints says so alone', async () => {
    const [nothing, broken] = [
      usual({ getdelegatedresourcev2: {} }),
      usual({ getdelegatedresourcev2: { delegatedResource: 1 } }),
    ];
    expect(await lendingOf(two, nothing, broken).lent(PARTIES, signal)).to.equal(undefined);
    expect(await lendingOf(two, broken, nothing).lent(PARTIES, signal)).to.equal(undefined);
    expect(await lendingOf(two, broken, usual()).lent(PARTIES, signal)).to.equal(30_000n * TRX);
    expect(await lendingOf(two, nothing, nothing).lent(PARTIES, signal)).to.equal(0n);
  });

  it('is signed with the last solidified block as reference, burns nothing, and ends after ten minutes', async () => {
    const terms = await lendingOf(one, usual()).terms(signal);
    const timestamp = Math.max(NOW_MS, SOLID_MS);
    expect(terms).to.deep.equal({
      fee_limit: '0',
      ref_block_bytes: '0048',
      ref_block_hash: 'e'.repeat(16),
      timestamp,
      expiration: timestamp + 600_000,
    });
  });

  const HOSTILE: Readonly<Record<string, Answers>> = {
    'a maximum that is no number': { getcandelegatedmaxsize: { max_size: '9' } },
    'a maximum below zero': { getcandelegatedmaxsize: { max_size: -1 } },
    'a maximum beyond all coins': { getcandelegatedmaxsize: { max_size: 2 ** 62 } },
    'no maximum': { getcandelegatedmaxsize: [] },
    'energy that is no number': { getaccountresource: { EnergyLimit: {} } },
    'no resources': { getaccountresource: 'none' },
    'another account': { getaccount: { address: `41${'ab'.repeat(20)}` } },
  };
  for (const [what, changed] of Object.entries(HOSTILE))
    it(`is asked of nobody who tells ${what}`, async () => {
      const told = await look(usual(changed)).then(
        () => 'a loan',
        (error: Error) => error.name,
      );
      expect(told).to.equal('RpcUnavailable');
    });
});
