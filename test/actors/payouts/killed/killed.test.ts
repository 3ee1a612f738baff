import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { GatewayChild } from '../../../support/gateway-child.ts';
import { everythingSettled, expectPaidOnce } from './paid-once.ts';
import { randoms } from './random.ts';
import { type KillingStage, startKillingStage } from './stage.ts';

const SEED = 20_261_125;
/** Of worker and signer together. */
const KILLS = 20;
const WORKER_DIES_WITHIN_MS = 1_200;
const SIGNER_DIES_WITHIN_MS = 800;
const STANDS_STILL_MS = 1_500;
/** In the second test, to one of so many customers, who may be paid again while a payout is under way. */
const PAID_EVERY_MS = 700;
const CUSTOMERS = 6;

/**
 * Worker and signer are killed with SIGKILL and started again. Many addresses are paid out at once, of
 * tokens, which need coins for gas first, and of coins, so that each kill meets all of them.
 */
describe('payouts whose worker or signer is killed', function () {
  this.timeout(300_000);
  let the: KillingStage;
  let worker: GatewayChild;
  let signer: GatewayChild;
  before(async () => {
    the = await startKillingStage();
  });
  after(() => the?.stop());

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const states = async (): Promise<string[]> =>
    (await the.rows('select state from sent_transactions order by created_at')).map(({ state }) =>
      String(state),
    );
  const eachIs = (state: string) =>
    eventually(
      `everything that was asked for being ${state}`,
      async () => {
        const now = await states();
        return now.length > 0 && now.every((one) => one === state);
      },
      60_000,
    );
  const startWorker = async (): Promise<void> => {
    worker = await the.startWorker();
    await the.replaceActors('with the watchers');
  };

  /** Customers who have paid tokens, coins, and both, on every chain. */
  const customersPay = async (): Promise<void> => {
    for (const currencies of [['USDT', 'USDT'], ['coin'], ['USDT', 'coin']] as const) {
      const customer = await the.newCustomer();
      for (const chain of the.chains)
        for (const currency of currencies) await the.pay(chain, customer[chain.network], currency);
    }
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

  it('are made once where that happens at each of the seven moments of a payout', async () => {
    [worker, signer] = await Promise.all([the.startWorker(), the.startSigner()]);
    await noteGasWallets();
    await customersPay();
    await the.reach('completed');

    await the.gates.close('asked');
    await the.setDestinations();
    await the.gates.reached('asked');
    await the.kill(worker);
    await the.gates.left('asked');
    expect(await states(), 'before the ask').to.deep.equal([]);
    await the.gates.open('asked');

    await the.kill(signer);
    await startWorker();
    const addresses = new Set(the.paid.map(({ chain, address }) => `${chain.network} ${address}`)).size;
    await eventually('everything being asked for', async () => (await states()).length === addresses, 60_000);
    await the.kill(worker);
    expect(new Set(await states()), 'after the ask').to.deep.equal(new Set(['asked']));

    await the.gates.close('signed');
    signer = await the.startSigner();
    await the.gates.reached('signed');
    await the.kill(signer);
    await the.gates.left('signed');
    expect(new Set(await states()), 'after the journal').to.deep.equal(new Set(['asked']));
    await the.gates.open('signed');

    signer = await the.startSigner();
    await eachIs('signed');
    await the.kill(signer);

    the.clock.pause();
    for (const chain of the.chains) chain.losesAnswers(true);
    await startWorker();
    await eventually(
      'every broadcast',
      () => the.chains.every((chain) => chain.lost() >= addresses / the.chains.length),
      60_000,
    );
    await the.kill(worker);
    for (const chain of the.chains) chain.losesAnswers(false);
    expect(new Set(await states()), 'after the broadcast').to.deep.equal(new Set(['sent']));

    await the.clock.mine();
    await startWorker();
    await eventually('one in a block', async () => (await states()).includes('mined'), 60_000);
    await the.kill(worker);
    expect(await states(), 'after the block').to.include('mined');

    await the.gates.close('settled');
    the.clock.resume();
    [signer] = await Promise.all([the.startSigner(), startWorker()]);
    await the.gates.reached('settled');
    await the.kill(worker);
    await the.gates.left('settled');
    expect(await the.rows("select 1 from payouts where state = 'settled'")).to.deep.equal([]);
    await the.gates.open('settled');

    await startWorker();
    await everythingSettled(the);
    await expectPaidOnce(the);
  });

  /**
   * Kills the worker, at once or after it stood still while another one went on; there is a living one
   * again then.
   */
  async function killWorker(random: () => number, standsStill: boolean): Promise<void> {
    if (!standsStill) {
      await the.kill(worker);
      await startWorker();
      return;
    }
    const before = worker;
    const next = await the.startWorker();
    before.child.pause();
    await the.replaceActors('with the watchers');
    await sleep(random() * STANDS_STILL_MS);
    before.child.resume();
    await sleep(random() * WORKER_DIES_WITHIN_MS);
    await the.kill(before);
    worker = next;
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
          const customer = customers[Math.floor(ofPayments() * CUSTOMERS)];
          const currency = ofPayments() < 0.5 ? 'USDT' : 'coin';
          await the.pay(chain, customer?.[chain.network] ?? '', currency);
        }
    };
    const killsSigners = async (): Promise<void> => {
      for (let turn = 0; turn < KILLS / 2; turn += 1) {
        await sleep(ofSigners() * SIGNER_DIES_WITHIN_MS);
        await the.kill(signer);
        signer = await the.startSigner();
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
  });
});
