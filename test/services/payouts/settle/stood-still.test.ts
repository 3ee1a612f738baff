import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../../src/services/payouts/pauses.ts';
import { holdStep } from '../../../../src/services/payouts/settle/living.ts';
import { shown } from '../stage.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';
import { isSent, reasonOf } from './steps.ts';
import { startFundedTronStage, TRX, type TronSettleStage } from './tron-stage.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
/** What a worker asks a chain, or sends to it, in the life of a token's payout. */
const MOMENTS = [
  'the transfer is tried',
  'a plan is made and coins for gas are asked for',
  'coins for gas are sent',
  'the transfer is asked for',
  'the transfer is sent',
] as const;

/** Stands still at the n-th of its questions, with the answer in its hand; or before it sends. */
function standingStill(spending: Spending, n: number) {
  const standing = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  let asked = 0;
  const turn = async (): Promise<void> => {
    asked += 1;
    if (asked !== n) return;
    standing.resolve();
    await going.promise;
  };
  const over: Spending = {
    ...spending,
    quote: async (...question) => {
      const answer = await spending.quote(...question);
      await turn();
      return answer;
    },
    broadcast: async (...question) => {
      await turn();
      return await spending.broadcast(...question);
    },
  };
  return { over, stands: standing.promise, goOn: () => going.resolve() };
}

/** By then what one worker has noted as sent is sent again by another one, on every chain. */
const RESEND_MS = 31_000;

/**
 * One worker takes the steps of an address until it stands still, and another one goes on until everything
 * is paid out. Then the first one goes on where it was, until nothing is left to do. Returns what the
 * destination got from the second; the first one adds nothing.
 */
async function overtaken(the: SettleStage | TronSettleStage, key: AddressKey, n: number): Promise<bigint> {
  const { over, stands, goOn } = standingStill(the.spending, n);
  const had = await the.tokensOf(DESTINATION);
  const first = the.settleOver(over)(key);
  await Promise.race([stands, first.then(() => expect.fail('it never stood still'))]);
  the.clock.aheadMs += RESEND_MS;
  await the.settle(key);
  const paid = (await the.tokensOf(DESTINATION)) - had;
  expect(await the.tokensOf(key), 'what is left').to.equal(0n);
  goOn();
  expect((await first).at(-1)).to.include({ kind: 'rest' });
  await the.finish();
  expect((await the.tokensOf(DESTINATION)) - had, 'nothing more is paid').to.equal(paid);
  return paid;
}

/** Any number of workers may be at one address, wherever each of them believes to be. */
async function writesNothing(
  the: SettleStage | TronSettleStage,
  usdt: bigint,
  moment: number,
): Promise<void> {
  const key = await the.paid(['USDT', 50n * usdt], ['USDT', 20n * usdt]);
  expect(await overtaken(the, key, moment)).to.equal(70n * usdt);
  expect(await the.states(key)).to.deep.equal(['settled']);
  expect(await the.ways(key)).to.deep.equal(['gas final', 'payout final']);
}

describe('a worker that stood still while another one went on', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  for (const [index, moment] of MOMENTS.entries())
    it(`where ${moment} writes nothing and pays nothing`, () => writesNothing(the, USDT, index + 1));

  it('on Tron where the transfer is asked for, or sent, neither', async () => {
    const tron = await startFundedTronStage();
    try {
      for (const moment of [4, 5]) await writesNothing(tron, TRX, moment);
    } finally {
      await tron.stop();
    }
  });

  it('that asked what a payout takes plans none where something was decided, and asks for none where more was completed', async () => {
    const { id: merchantId } = the.api.merchant;
    const goTo = (bsc: string) => updateMerchant(the.deps, { merchantId, withdraw: { bsc } });
    const pause = (paused: boolean) => setPaused(the.deps, { merchantId, paused });
    const key = await the.paid(['BNB', 10n ** 17n]);
    const stepWhile = (happens: () => Promise<unknown>) => {
      const quote: Spending['quote'] = async (...question) => {
        const answer = await the.spending.quote(...question);
        await happens();
        return answer;
      };
      return the.step(key, false, { ...the.spending, quote });
    };
    for (const [happens, isUndone] of [
      [() => goTo(shown('bsc', keyOfHex('d2'.repeat(20)))), () => goTo(MERCHANTS)],
      [() => pause(true), () => pause(false)],
    ] as const) {
      expect(reasonOf(await stepWhile(happens))).to.match(/^another process went on: /);
      expect(await the.payouts(key)).to.deep.equal([]);
      await isUndone();
    }
    // More is planned with it, and the next step finds out what that takes.
    const more = await stepWhile(() => the.pay(key, ['BNB', 10n ** 16n]));
    expect(more).to.include({ kind: 'went', state: 'planned' });
    expect([await the.states(key), await the.ways(key)]).to.deep.equal([['planned'], []]);
    await the.settle(key);
    expect(await the.ways(key)).to.deep.equal(['payout final']);
    // The same again, once what it counted on was used up: the address was paid out, and got as much anew.
    const payAgain = () => the.pay(key, ['BNB', 10n ** 16n]);
    await payAgain();
    const overtaking = async () => {
      await the.settle(key);
      await payAgain();
    };
    expect(reasonOf(await stepWhile(overtaking))).to.match(/^another process went on: another payout/);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    await the.settle(key);
    expect(await the.ways(key)).to.deep.equal(['payout final', 'payout final', 'payout final']);
  });

  it('with the same step in its hand as before another one asked is told that it holds no longer', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isSent);
    await the.finish();
    const payoutId = String((await the.payouts(key))[0]?.['id']);
    const decided = {
      payoutId,
      step: { does: 'prepare' },
    } as const;
    const paced = { ...the.deps, spending: the.spending };
    const held = (rows: number): Promise<string> =>
      the.deps.orm.em
        .fork()
        .transactional(async (em) => (await holdStep(em, paced, { ...decided, rows })).id);
    // It decided that before the coins were asked for.
    expect(await held(0).catch((error: Error) => error.name)).to.equal('Outdated');
    const other = the.deps.orm.em.fork();
    await other.begin();
    await holdStep(other, paced, { ...decided, rows: 1 });
    expect(await held(1).catch(String), 'while another worker holds it').to.match(
      /could not obtain lock on row/,
    );
    await other.rollback();
    expect(await held(1)).to.equal(payoutId);
    await the.settle(key);
    expect(await the.ways(key)).to.deep.equal(['gas final', 'payout final']);
  });

  it('pays once whoever takes the steps, and however many do so at once', async () => {
    const keys: AddressKey[] = [
      await the.paid(['USDT', 5n * USDT]),
      await the.paid(['USDT', 5n * USDT], ['BNB', 10n ** 16n]),
    ];
    const had = await the.tokensOf(DESTINATION);
    for (let round = 0; round < 60; round += 1) {
      const steps = await Promise.allSettled(keys.flatMap((key) => [1, 2, 3].map(() => the.step(key))));
      if (steps.every((one) => one.status === 'fulfilled' && one.value.kind === 'rest')) break;
      await the.finish();
    }
    for (const key of keys) await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(10n * USDT);
    for (const key of keys) for (const state of await the.states(key)) expect(state).to.equal('settled');
    const [twice] = await the.rows(
      'select raw from sent_transactions where raw is not null group by raw having count(*) > 1',
    );
    expect(twice).to.equal(undefined);
  });
});
