import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { statementsOf } from '../../support/statements.ts';

/** What a deposit costs the database: each statement is a way there and back. */
describe('the statements of a step', function () {
  this.timeout(60_000);
  let shop: Shop;
  let sent: string[];
  before(async () => {
    shop = await startShop();
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    await createEndpoint(shop.deps, {
      ...scope,
      url: 'http://127.0.0.1:1/hooks',
      events: ['*'],
      description: null,
    });
    await shop.scanned('bsc', shop.clock.now);
    sent = await statementsOf(shop.deps.orm);
  });
  after(async () => {
    await shop?.stop();
  });

  async function stepsOf(
    above: { head: number; final: number },
    from: 'detected' | 'confirming' = 'detected',
  ): Promise<string[]> {
    const id = await shop.pay(await shop.customer(), { coins: '5', state: from });
    const { blockNumber, sequence } = await shop.deposit(id);
    const final = blockNumber + above.final;
    await shop.sql(
      `update chain_cursors set head_number = ?, scanned_number = greatest(scanned_number, ?),
         finalized_number = ?, reread_number = ?,
         anchored_number = ?, anchored_hash = '0x', moved_at = ?, polled_at = ?`,
      [blockNumber + above.head, final, final, final, final, shop.clock.now, shop.clock.now],
    );
    await shop.sql('update deposits set verified_at = ? where id = ?', [
      final >= blockNumber ? shop.clock.now : null,
      id,
    ]);
    sent.length = 0;
    await advanceDeposit(shop.deps, { depositId: id, alarmed: false, known: { generation: 1, sequence } });
    if (process.env['SHOW'])
      console.log(sent.map((line) => line.replace(/\s+/g, ' ').slice(0, 110)).join('\n'), '\n');
    return [...sent];
  }

  it('that waits are two', async () => {
    expect(await stepsOf({ head: 0, final: -1 })).to.have.length(2);
  });

  it('that moves on are few', async () => {
    expect((await stepsOf({ head: 1, final: -1 })).length).to.be.at.most(12);
    expect((await stepsOf({ head: 40, final: 5 }, 'confirming')).length).to.be.at.most(15);
    expect((await stepsOf({ head: 40, final: 5 })).length).to.be.at.most(20);
  });
});
