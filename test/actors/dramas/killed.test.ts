import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { GatewayChild } from '../../support/gateway-child.ts';
import { everythingSettled, expectPaidOnce, onlyInTheJournal } from './killed/paid-once.ts';
import { type KillingStage, startKillingStage } from './killed/stage.ts';

/** Processes that die or stand still while money is on its way; test/long does it at every point. */
describe('money whose processes are killed or stand still', function () {
  this.timeout(180_000);
  let the: KillingStage;
  let worker: GatewayChild;
  let signer: GatewayChild;
  before(async () => {
    the = await startKillingStage();
    [worker, signer] = await Promise.all([the.startWorker(), the.startSigner()]);
    await the.fillGasWallets();
    await the.setDestinations();
    await the.setPaused(true);
  });
  after(() => the?.stop());

  const pays = async (currency: 'USDT' | 'coin'): Promise<void> => {
    const customer = await the.newCustomer();
    for (const chain of the.chains) await the.pay(chain, customer[chain.network], currency);
  };
  const everyDeposit = () =>
    eventually(
      'every deposit',
      async () => (await the.rows('select 1 from deposits')).length === the.paid.length,
    );

  it('is in no payout twice where the signer dies after its journal, and the worker after a broadcast and under deposits that are not final', async () => {
    await pays('USDT');
    await the.reach('completed');
    for (const { network } of the.chains) await the.gates.close('signed', network);
    await the.setPaused(false);
    const network = await Promise.any(
      the.chains.map(async (one) => {
        await the.gates.reached('signed', one.network);
        return one.network;
      }),
    );
    await the.kill(signer);
    await the.gates.left('signed', network);
    expect(await onlyInTheJournal(the, network), 'in the journal, and in no row').to.have.length(1);
    for (const one of the.chains) await the.gates.open('signed', one.network);
    const lost = the.chains.map((chain) => chain.lost());
    for (const chain of the.chains) chain.losesAnswers(true);
    signer = await the.startSigner();
    // The other chain may wait for its next look at that moment: one broadcast is what the worker dies after.
    await eventually('a broadcast', () =>
      the.chains.some((chain, index) => chain.lost() > (lost[index] ?? 0)),
    );
    the.clock.pause();
    await pays('coin');
    await the.clock.mine();
    await everyDeposit();
    await the.kill(worker);
    for (const chain of the.chains) chain.losesAnswers(false);
    the.clock.resume();
    worker = await the.startWorker();
    await the.replaceActors('with the watchers');
    await the.reach('completed', 'settled');
  });

  it('is taken over from a worker that stands still, which does no harm when it goes on: all is paid out once', async () => {
    const other = await the.startWorker();
    worker.child.pause();
    await pays('coin');
    // Only the other one can have seen them.
    await everyDeposit();
    worker.child.resume();
    await everythingSettled(the);
    await expectPaidOnce(the);
    expect([worker, other].map(({ child }) => child.running())).to.deep.equal([true, true]);
  });
});
