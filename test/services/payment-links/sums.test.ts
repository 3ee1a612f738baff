import { expect } from 'chai';
import fc from 'fast-check';
import { assetOf, type Network } from '../../../src/domain/assets.ts';
import { formatUnits, parseUnits } from '../../../src/domain/money.ts';
import {
  fromLinkUnits,
  type LinkCandidate,
  matchLink,
  openUnitsOf,
  toLinkUnits,
} from '../../../src/domain/payment-link.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { chooseLinks } from '../../../src/services/payment-links/match.ts';
import { linkDifferences } from '../../../src/services/payment-links/money.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const networks = fc.constantFrom<Network>('bsc', 'tron');
const coin = fc.constantFrom('25', '40', '24.9', '7', '0.000001', '5', '12.5');

const which = fc.nat(9);
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      usd: fc.constantFrom('25', '25', '40', '5'),
      network: fc.constantFrom(null, null, 'bsc' as const, 'tron' as const),
      seconds: fc.constantFrom(300, 3_600),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      coins: coin,
      network: networks,
      exactOf: fc.option(fc.nat(5)),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('step' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('again' as const), which, coins: coin }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 200, 2_000) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/**
 * The sums that a link keeps, and the choices that rest
 * on them, against everything summed and looked at anew.
 */
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
  const text = (linkUnits: bigint, network: Network): string => {
    const { decimals } = assetOf(network, 'USDT');
    return formatUnits(fromLinkUnits(linkUnits, decimals), decimals);
  };

  async function expectSums(): Promise<void> {
    const { differences } = await linkDifferences(shop.deps.orm.em.fork(), { afterId: NIL, limit: 10_000 });
    expect(differences).to.deep.equal([]);
  }

  it('are those of their deposits after any history, and lead to the choice that a look at everything would make', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 18 }), async (actions) => {
        const customerId = await shop.customer();
        const paid: { id: string; hash: string; network: Network }[] = [];
        await shop.link({ customerId });
        for (const one of actions) await perform(customerId, paid, one);
        await expectSums();
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  async function perform(
    customerId: string,
    paid: { id: string; hash: string; network: Network }[],
    one: Action,
  ): Promise<void> {
    if (one.kind === 'pass') return shop.pass(one.seconds);
    if (one.kind === 'link') {
      shop.pass(1);
      await shop.link({ customerId, usd: one.usd, network: one.network, expiresInS: one.seconds });
      return;
    }
    const links = await allLinks(customerId);
    if (one.kind === 'pay') {
      const wanted = one.exactOf === null ? undefined : links[one.exactOf];
      const open = wanted ? openUnitsOf(wanted) : 0n;
      const linkUnits = open > 0n ? open : units(one.coins);
      const hash = `0x${paid.length.toString(16).padStart(4, '0')}${customerId.replaceAll('-', '')}`.padEnd(
        66,
        '0',
      );
      const expected = matchLink(moneyOf(linkUnits, one.network), links);
      const id = await shop.pay(customerId, {
        coins: text(linkUnits, one.network),
        network: one.network,
        state: 'detected',
        hash,
      });
      paid.push({ id, hash, network: one.network });
      expect(await shop.linkOf(id)).to.equal(expected?.kind === 'pays' ? expected.linkId : null);
      return;
    }
    const target = paid[one.which];
    if (!target) return;
    const { status } = await shop.deposit(target.id);
    if (one.kind === 'step') {
      if (status === 'detected') await shop.move(target.id, 'confirming');
      else if (status === 'confirming') await complete(target, links);
      else if (status === 'completed') await shop.move(target.id, 'settled');
    } else if (one.kind === 'fail') {
      if (status !== 'settled' && status !== 'failed') await shop.move(target.id, 'failed', 'REORGED');
    } else {
      // Mined again: an open one has its amount corrected, one
      // that failed comes back, a credited one keeps its amount.
      const coins = text(units(one.coins), target.network);
      await shop.pay(customerId, { coins, network: target.network, state: 'detected', hash: target.hash });
    }
  }

  async function complete(
    target: { id: string; network: Network },
    links: readonly LinkCandidate[],
  ): Promise<void> {
    const { amountUnits, minedAt, paymentLinkId } = await shop.deposit(target.id);
    const { decimals } = assetOf(target.network, 'USDT');
    await shop.move(target.id, 'completed');
    if (paymentLinkId != null || minedAt == null) return;
    const late = matchLink({ amountUnits, decimals, network: target.network, minedAt }, links);
    if (late?.kind === 'late') expect((await shop.row(late.linkId)).late, 'late').to.equal(true);
  }

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
