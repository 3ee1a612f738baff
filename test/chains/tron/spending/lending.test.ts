import { expect } from 'chai';
import type { Loan } from '../../../../src/chains/spending.ts';
import type { Asked } from '../endpoints/node.ts';
import type { Sent } from '../vectors.ts';
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

  /** What accounts have, of the lender and of everybody else. */
  const having = (lender: Sent, other: Sent): Answers => ({
    getaccountresource: ({ body }: Asked) =>
      JSON.parse(String(body)).address === `41${ALICE}` ? lender : other,
  });
  const FREE = { freeNetUsed: 0 };
  const usual = (changed: Answers = {}): Answers => ({
    ...having({ ...STAKED, ...FREE }, { ...LENT, ...FREE }),
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

  it('is of two endpoints what the worse says', async () => {
    const liar = usual({
      getaccountresource: { ...LENT, ...FREE, EnergyLimit: 90_000_000, EnergyUsed: 0, TotalEnergyWeight: 1 },
      getcandelegatedmaxsize: { max_size: Number(LENDABLE) * 10 },
    });
    const { has, lendable, units } = await look(usual());
    expect(await look(liar, usual())).to.include({ has, lendable, units });
    expect(await look(usual(), liar)).to.include({ has, lendable, units });
  });

  it('is neither had nor lent, lent nor back, where one of two endpoints says so alone', async () => {
    const broken = usual({ getcandelegatedmaxsize: [] });
    const { has, units } = await look(usual());
    expect(await look(usual(), broken)).to.include({ has: 0n, units, lendable: 0n });
    expect(await look(broken, usual())).to.include({ has: 0n, units, lendable: 0n });
    expect((await look(usual(), usual())).has).to.equal(has);
    const lent = (...each: Answers[]) =>
      lendingOf(each.length > 1 ? two : one, ...each).lent(PARTIES, signal);
    const nothing = usual({ getdelegatedresourcev2: {} });
    const unread = usual({ getdelegatedresourcev2: { delegatedResource: 1 } });
    const all = 30_000n * TRX;
    expect([await lent(usual()), await lent(nothing)]).to.deep.equal([all, 0n]);
    for (const [first, second, units] of [
      [nothing, usual(), all],
      [usual(), nothing, all],
      [unread, usual(), all],
      [nothing, unread, undefined],
      [unread, nothing, undefined],
      [nothing, nothing, 0n],
    ] as const)
      expect(await lent(first, second)).to.equal(units);
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
  it('is asked of nobody who tells what cannot be', async () => {
    for (const [what, changed] of Object.entries(HOSTILE)) {
      const told = await look(usual(changed)).then(
        () => 'a loan',
        (error: Error) => error.name,
      );
      expect(told, what).to.equal('RpcUnavailable');
    }
  });
});
