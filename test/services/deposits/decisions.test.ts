import { LockMode } from '@mikro-orm/core';
import { expect } from 'chai';
import { Deposit } from '../../../src/db/entities/index.ts';
import { recordDecision } from '../../../src/services/deposits/decisions.ts';
import { decideToFail, failDeposit } from '../../../src/services/deposits/operator.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const COMMAND = { by: 'Ann', reason: 'a sanctioned sender' };
const NONE = /^no operator's decision of this name and reason is recorded .* "gateway deposit fail"$/;

/** What an operator decides about a deposit is a row before anything else happens. */
describe('a decision to fail a deposit', function () {
  this.timeout(60_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const open = async (state: 'detected' | 'failed' = 'detected') =>
    await shop.pay(await shop.customer(), { coins: '5', state });
  const saidOf = async (work: Promise<unknown>): Promise<string> =>
    await work.then(
      () => 'done',
      (error: Error) => error.message,
    );
  const fail = (depositId: string, more: object = {}) =>
    saidOf(failDeposit(shop.deps, { depositId, ...COMMAND, ...more }));

  it('is carried out only where it was recorded, by this name, for this reason, deposit and generation', async () => {
    const [depositId, other] = [await open(), await open()];
    expect(await fail(depositId)).to.match(NONE);
    await recordDecision(shop.deps, { depositId, ...COMMAND });
    for (const more of [{ by: 'Bob' }, { reason: 'another' }, { depositId: other }])
      expect(await fail(depositId, more), JSON.stringify(more)).to.match(NONE);
    expect((await shop.deposit(depositId)).status).to.equal('detected');
    expect(await fail(depositId)).to.equal('done');
    expect(await shop.deposit(depositId)).to.include({ status: 'failed', failureReason: COMMAND.reason });
    const back = await open('failed');
    await recordDecision(shop.deps, { depositId: back, ...COMMAND });
    await shop.move(back, 'detected');
    expect(await fail(back)).to.match(NONE);
    expect(await fail(back, { generation: 1 })).to.match(/came back as generation 2/);
  });

  it('is one row, however often it is repeated', async () => {
    const depositId = await open();
    for (let times = 0; times < 2; times += 1) {
      await recordDecision(shop.deps, { depositId, ...COMMAND });
      await decideToFail(shop.deps, { depositId, ...COMMAND });
    }
    const rows = 'select by_name, reason, generation from deposit_decisions where deposit_id = ?';
    expect(await shop.sql(rows, [depositId])).to.deep.equal([
      { by_name: COMMAND.by, reason: COMMAND.reason, generation: 1 },
    ]);
  });

  it('is demanded by the database as well, and not for what no person decided', async () => {
    const depositId = await open();
    const failed = (by: string | null) =>
      transact(shop.deps, async (tx) => {
        const lockMode = LockMode.PESSIMISTIC_WRITE;
        const deposit = await tx.em.findOneOrFail(Deposit, depositId, { lockMode });
        const to = { to: 'failed', failureCode: 'REJECTED_BY_OPERATOR', reason: 'typed' } as const;
        await applyTransition(tx, shop.deps, deposit, { ...to, by, headNumber: null });
      });
    expect(await saidOf(failed('Ann'))).to.contain('by a decision that was not recorded');
    expect((await shop.deposit(depositId)).status).to.equal('detected');
    await failed(null);
    expect((await shop.deposit(depositId)).status).to.equal('failed');
  });
});
