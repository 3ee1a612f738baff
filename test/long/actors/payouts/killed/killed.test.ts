import { expect } from 'chai';
import { createRandom } from '../../../../../dev/random.ts';
import { expectPaidOnce } from '../../../../actors/dramas/killed/paid-once.ts';
import { type KillingStage, startKillingStage } from '../../../../actors/dramas/killed/stage.ts';
import { killAtEachMoment, type Living, MOMENTS } from './moments.ts';

const ROUNDS = Number.parseInt(process.env['KILL_ROUNDS'] ?? '1', 10);
const SEED = process.env['KILL_SEED'] ?? '20261125';
const ROUND_MS = 150_000;
/** What each of three customers pays on every chain. */
const PAID = [['USDT', 'USDT'], ['coin'], ['USDT', 'coin']] as const;

/**
 * Worker and signer are killed with SIGKILL and started again. Many addresses are paid out at once, of
 * tokens, which need coins for gas first, and of coins, so that each kill meets all of them.
 */
describe('payouts whose worker or signer is killed', function () {
  this.timeout(300_000 + ROUNDS * ROUND_MS);
  let the: KillingStage;
  const living = {} as Living;
  before(async () => {
    the = await startKillingStage();
  });
  after(() => the?.stop());

  it(`are made once where that happens ${ROUNDS} times at each of the seven moments`, async () => {
    const round = { random: createRandom(SEED).next, died: new Map<string, number>() };
    [living.worker, living.signer] = await Promise.all([the.startWorker(), the.startSigner()]);
    await the.fillGasWallets();
    await the.setPaused(true);
    await the.setDestinations();
    const customers = await Promise.all(PAID.map(() => the.newCustomer()));
    for (let turn = 1; turn <= ROUNDS; turn += 1) {
      for (const [index, customer] of customers.entries())
        for (const chain of the.chains)
          for (const currency of PAID[index] ?? []) await the.pay(chain, customer[chain.network], currency);
      await the.reach('completed', 'settled');
      await killAtEachMoment(the, living, round);
      await expectPaidOnce(the);
      await the.setPaused(true);
    }
    for (const moment of MOMENTS)
      for (const { network } of the.chains) {
        const what = `${moment} ${network}`;
        expect(round.died.get(what) ?? 0, what).to.equal(ROUNDS);
      }
  });
});
