import { LockMode } from '@mikro-orm/core';
import { expect } from 'chai';
import { Deposit } from '../../../src/db/entities/index.ts';
import { recordDecision } from '../../../src/services/deposits/decisions.ts';
import { decideToFail, failDeposit } from '../../../src/services/deposits/operator.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const COMMAND = { by: 'Ann', reason: 'a sanctioned sender' };

/** What an operator decides about a deposit is a row before anything else happens. */
describe('a decision to fail a deposit', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop?.stop();
  });

  const open = async () => await shop.pay(await shop.customer(), { coins: '5', state: 'detected' });
  const decisions = async (depositId: string) =>
    await shop.sql('select by_name, reason, generation from deposit_decisions where deposit_id = ?', [
      depositId,
    ]);
  const refusalOf = async (work: Promise<unknown>): Promise<string> =>
    await work.then(
      () => 'nothing was refused',
      (error: Error) => error.message,
    );

  it('is carried out only where it was recorded, by this name and for this reason', async () => {
    const depositId = await open();
    const none = /^no operator's decision of this name and reason is recorded .* "gateway deposit fail"$/;
    expect(await refusalOf(failDeposit(shop.deps, { depositId, ...COMMAND }))).to.match(none);
    await recordDecision(shop.deps, { depositId, ...COMMAND });
    expect(await refusalOf(failDeposit(shop.deps, { depositId, ...COMMAND, by: 'Bob' }))).to.match(none);
    expect(await refusalOf(failDeposit(shop.deps, { depositId, ...COMMAND, reason: 'another' }))).to.match(
      none,
    );
    expect((await shop.deposit(depositId)).status).to.equal('detected');
    await failDeposit(shop.deps, { depositId, ...COMMAND });
    expect(await shop.deposit(depositId)).to.include({ status: 'failed', failureReason: COMMAND.reason });
  });

  it('counts for the generation that it was made for, and for that deposit', async () => {
    const [depositId, other] = [
      await shop.pay(await shop.customer(), { coins: '5', state: 'failed' }),
      await open(),
    ];
    await recordDecision(shop.deps, { depositId, ...COMMAND });
    await shop.move(depositId, 'detected');
    expect(await refusalOf(failDeposit(shop.deps, { depositId, ...COMMAND }))).to.match(
      /^no operator's decision/,
    );
    expect(await refusalOf(failDeposit(shop.deps, { depositId: other, ...COMMAND }))).to.match(
      /^no operator's decision/,
    );
  });

  it('is one row, however often it is repeated', async () => {
    const depositId = await open();
    for (let times = 0; times < 3; times += 1) await recordDecision(shop.deps, { depositId, ...COMMAND });
    expect(await decisions(depositId)).to.deep.equal([
      { by_name: COMMAND.by, reason: COMMAND.reason, generation: 1 },
    ]);
    await decideToFail(shop.deps, { depositId, ...COMMAND });
    await decideToFail(shop.deps, { depositId, ...COMMAND });
    expect(await decisions(depositId)).to.have.length(1);
  });

  it('is demanded by the database as well, and not for what no person decided', async () => {
    const depositId = await open();
    const fail = (by: string | null) =>
      transact(shop.deps, async (tx) => {
        const deposit = await tx.em.findOneOrFail(Deposit, depositId, {
          lockMode: LockMode.PESSIMISTIC_WRITE,
        });
        await applyTransition(tx, shop.deps, deposit, {
          to: 'failed',
          failureCode: 'REJECTED_BY_OPERATOR',
          reason: 'typed',
          by,
          headNumber: null,
        });
      });
    expect(await refusalOf(fail('Ann'))).to.contain('by a decision that was not recorded');
    expect((await shop.deposit(depositId)).status).to.equal('detected');
    await fail(null);
    expect((await shop.deposit(depositId)).status).to.equal('failed');
  });
});
