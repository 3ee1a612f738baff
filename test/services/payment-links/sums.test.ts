import { expect } from 'chai';
import fc from 'fast-check';
import { assetOf, type Network } from '../../../src/domain/assets.ts';
import { parseUnits } from '../../../src/domain/money.ts';
import {
  fromLinkUnits,
  type LinkCandidate,
  matchLink,
  toLinkUnits,
} from '../../../src/domain/payment-link.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { chooseLinks } from '../../../src/services/payment-links/match.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const networks = fc.constantFrom<Network>('bsc', 'tron');
const coin = fc.constantFrom('25', '40', '24.9', '7', '0.000001', '5', '12.5');

/** The sums that a link keeps, and the choices that rest on them, against everything looked at anew. */
describe('the sums of payment links', function () {
  this.timeout(120_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  /** All links of a customer, oldest first, with what is assigned to them summed by the test itself. */
  async function allLinks(customerId: string): Promise<LinkCandidate[]> {
    const deposits = await shop.sql<{ link: string; network: Network; units: string }>(
      'select payment_link_id as link, network, amount_units::text as units from deposits where customer_id = ? and payment_link_id is not null',
      [customerId],
    );
    const assigned = (id: string) =>
      deposits
        .filter(({ link }) => link === id)
        .map(({ network, units }) => toLinkUnits(BigInt(units), assetOf(network, 'USDT').decimals))
        .reduce((sum, one) => sum + one, 0n);
    const order = 'select id from payment_links where customer_id = ? order by created_at, id';
    const ids = await shop.sql<{ id: string }>(order, [customerId]);
    return await Promise.all(
      ids.map(async ({ id }) => {
        const { status, amountUnits, leastUnits, network, createdAt, expiresAt } = await shop.row(id);
        const kept = { status, amountUnits, leastUnits, network: network ?? null, createdAt, expiresAt };
        return { id, ...kept, assignedUnits: assigned(id) };
      }),
    );
  }

  const moneyOf = (coins: bigint, network: Network) => {
    const { decimals } = assetOf(network, 'USDT');
    return { amountUnits: fromLinkUnits(coins, decimals), decimals, network, minedAt: shop.clock.now };
  };
  const units = (coins: string): bigint => parseUnits(coins, 18);
  it('are compared by reconcile --books', async () => {
    const link = await shop.link({ customerId: await shop.customer() });
    await shop.pay(link.customer_id, { coins: '10', state: 'detected' });
    expect((await auditLedger(shop.deps, { pageRows: 3 })).links).to.deep.equal([]);
    const em = shop.deps.orm.em.fork();
    await em.begin();
    await em.execute('alter table payment_links disable trigger payment_links_sums_update');
    await em.execute('update payment_links set open_count = 7 where id = ?', [link.id]);
    await em.execute('alter table payment_links enable trigger payment_links_sums_update');
    await em.commit();
    const { links, total } = await auditLedger(shop.deps, { pageRows: 3 });
    expect(links.map(({ linkId, kept, found }) => [linkId, kept.openCount, found.openCount])).to.deep.equal([
      [link.id, 7, 1],
    ]);
    expect(total).to.equal(1);
  });

  it('choose for all deposits of a block at once what they choose one after the other', async () => {
    const customers = [await shop.customer(), await shop.customer()];
    const payment = fc.record({ customer: fc.nat(1), coins: coin, exactOf: fc.option(fc.nat(11)) });
    const payments = fc.array(payment, { minLength: 1, maxLength: 12 });
    for (let count = 0; count < 24; count += 1) {
      shop.pass(1);
      await shop.link({
        customerId: customers[count % 2] ?? '',
        usd: ['25', '40', '5', '12.5'][count % 4] ?? '5',
        network: count % 7 === 0 ? 'tron' : null,
      });
    }
    const all = await Promise.all(customers.map(allLinks));
    await fc.assert(
      fc.asyncProperty(payments, networks, async (block, network) => {
        const links = all.map((some) => some.map((link) => ({ ...link })));
        const deposits = block.map(({ customer, coins, exactOf }) => {
          const exact = exactOf === null ? undefined : links[customer]?.[exactOf];
          const money = moneyOf(exact ? exact.amountUnits : units(coins), network);
          const paid = { customerId: customers[customer] ?? '', currency: 'USDT' as const, network };
          const { amountUnits, minedAt } = money;
          const row = { ...paid, amountUnits, minedAt, paymentLinkId: null as string | null };
          return { money, customer, row };
        });
        const rows = deposits.map(({ row }) => ({ deposit: row }));
        await chooseLinks(shop.deps.orm.em.fork(), shop.deps, rows);
        for (const { money, customer, row } of deposits) {
          const match = matchLink(money, links[customer] ?? []);
          expect(row.paymentLinkId).to.equal(match?.kind === 'pays' ? match.linkId : null);
          const taken = links[customer]?.find(({ id }) => id === row.paymentLinkId);
          if (!taken) continue;
          const assignedUnits = taken.assignedUnits + toLinkUnits(money.amountUnits, money.decimals);
          Object.assign(taken, { assignedUnits });
        }
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
