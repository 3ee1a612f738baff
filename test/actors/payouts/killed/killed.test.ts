import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { killAtEachMoment, type Living, MOMENTS } from './moments.ts';
import { everythingSettled, expectPaidOnce } from './paid-once.ts';
import type { PayingChain } from './paying-chain.ts';
import { randoms } from './random.ts';
import { customersPay, customersPayAndGetGas, figuresOf, newCustomers } from './rounds.ts';
import { type KillingStage, startKillingStage } from './stage.ts';

const ROUNDS = Number.parseInt(process.env['KILL_ROUNDS'] ?? '1', 10);
const SEED = Number.parseInt(process.env['KILL_SEED'] ?? '20261125', 10);
const ROUND_MS = 150_000;
/** By chance, of worker and signer together. */
const KILLS = 20;
const WORKER_DIES_WITHIN_MS = 1_200;
const SIGNER_DIES_WITHIN_MS = 800;
const STANDS_STILL_MS = 1_500;
/** In the second test, to one of so many customers, who may be paid again while a payout is under way. */
const PAID_EVERY_MS = 700;
const CUSTOMERS = 6;
/** So many payments on a chain that are not settled, and nobody pays: a slow machine gets no more. */
const MOST_OPEN = 15;

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

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const startWorker = async (): Promise<void> => {
    living.worker = await the.startWorker();
    await the.replaceActors('with the watchers');
  };

  const noteGasWallets = async (): Promise<void> => {
    for (const chain of the.chains)
      await chain.pay({ currency: 'coin', units: chain.gasUnits }, the.gas[chain.network]);
    const noted = 'select 1 from gas_wallets where noted_at is not null';
    await eventually(
      'the gas wallets being noted',
      async () => (await the.rows(noted)).length >= the.chains.length,
    );
  };

  /**
   * Every other round the coins for gas are there before, so that the transfers of tokens themselves are at
   * each moment; in the others the coins for them are, or the transfers of coins.
   */
  it(`are made once where that happens ${ROUNDS} times at each of the seven moments`, async () => {
    const round = { random: randoms(SEED + 7), died: new Map<string, number>() };
    [living.worker, living.signer] = await Promise.all([the.startWorker(), the.startSigner()]);
    await noteGasWallets();
    await the.setPaused(true);
    await the.setDestinations();
    const customers = await newCustomers(the, 3);
    for (let turn = 1; turn <= ROUNDS; turn += 1) {
      if (turn % 2 === 1) await customersPay(the, customers, [['USDT', 'USDT'], ['coin'], ['USDT', 'coin']]);
      else await customersPayAndGetGas(the, await newCustomers(the, 2));
      await killAtEachMoment(the, living, round);
      await expectPaidOnce(the);
      await the.setPaused(true);
      if (ROUNDS > 1) console.log(`      round ${turn}: ${await figuresOf(the)}`);
    }
    for (const moment of MOMENTS)
      for (const { network } of the.chains) {
        const what = `${moment} ${network}`;
        expect(round.died.get(what) ?? 0, what).to.equal(ROUNDS);
      }
    await the.setPaused(false);
  });

  /**
   * Kills the worker, at once or after it stood still while another one went on; there is a living one
   * again then.
   */
  async function killWorker(random: () => number, standsStill: boolean): Promise<void> {
    if (!standsStill) {
      await the.kill(living.worker);
      await startWorker();
      return;
    }
    const before = living.worker;
    const next = await the.startWorker();
    before.child.pause();
    await the.replaceActors('with the watchers');
    await sleep(random() * STANDS_STILL_MS);
    before.child.resume();
    await sleep(random() * WORKER_DIES_WITHIN_MS);
    await the.kill(before);
    living.worker = next;
    await the.replaceActors('but the watchers');
  }

  it(`are made once where that happens ${KILLS} times by chance, or a worker stands still beside another one`, async () => {
    const random = ['payments', 'workers', 'signers'].map((_, index) => randoms(SEED + index));
    const [ofPayments, ofWorkers, ofSigners] = random as [() => number, () => number, () => number];
    let over = false;
    const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => the.newCustomer()));
    const pays = async (): Promise<void> => {
      for (; !over; await sleep(PAID_EVERY_MS))
        for (const chain of the.chains) {
          if ((await openOn(chain)) >= MOST_OPEN) continue;
          const customer = customers[Math.floor(ofPayments() * CUSTOMERS)];
          const currency = ofPayments() < 0.5 ? 'USDT' : 'coin';
          await the.pay(chain, customer?.[chain.network] ?? '', currency);
        }
    };
    const openOn = async (chain: PayingChain): Promise<number> => {
      const settled = "select 1 from deposits where status = 'settled' and network = ?";
      const paid = the.paid.filter((one) => one.chain === chain);
      return paid.length - (await the.rows(settled, [chain.network])).length;
    };
    const killsSigners = async (): Promise<void> => {
      for (let turn = 0; turn < KILLS / 2; turn += 1) {
        await sleep(ofSigners() * SIGNER_DIES_WITHIN_MS);
        await the.kill(living.signer);
        living.signer = await the.startSigner();
      }
    };
    const killsWorkers = async (): Promise<void> => {
      for (let turn = 0; turn < KILLS / 2; turn += 1) {
        await sleep(ofWorkers() * WORKER_DIES_WITHIN_MS);
        await killWorker(ofWorkers, turn % 2 === 1);
      }
    };
    const kills = Promise.all([killsWorkers(), killsSigners()]).finally(() => {
      over = true;
    });
    await Promise.all([pays(), kills]);
    await everythingSettled(the);
    await expectPaidOnce(the);
    if (process.env['KILL_ENERGY'] !== 'delegate') return;
    const lent = await the.rows("select 1 from sent_transactions where purpose = 'delegate' and ok");
    const back = await the.rows("select 1 from sent_transactions where purpose = 'reclaim' and ok");
    expect(lent.length, 'loans').to.be.greaterThan(0);
    expect(back.length, 'loans that are back').to.equal(lent.length);
    console.log(`      energy was lent and is back ${lent.length} times`);
  });
});
