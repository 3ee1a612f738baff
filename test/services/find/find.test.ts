import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, createEndpoint } from '../../../dev/support/use-cases.ts';
import { createUser } from '../../../src/services/access/users.ts';
import { getDeposit } from '../../../src/services/deposits/reads.ts';
import type { Found, Pages } from '../../../src/services/find/found.ts';
import { readGiven } from '../../../src/services/find/given.ts';
import { findAll } from '../../../src/services/find/views.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { DESTINATION } from '../../support/payout-rows.ts';

const PAGES: Pages = {
  workflow: (id) => `ui/${id}`,
  dashboard: (mode, path) => `${mode}${path}`,
  explorers: { bsc: 'https://bscscan.com', tron: undefined },
};
const GAS = '0x1111111111111111111111111111111111111111';
const EMAIL = 'Payer@Example.com';

/** What somebody has in their hand, in every spelling of it, and what it is said to be. */
describe('what an operator looks up', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customer: string;
  let addresses: { readonly bsc: string; readonly tron: string };
  const hash = `0x${randomBytes(32).toString('hex')}`;

  before(async () => {
    const payouts = { networks: ['bsc' as const], minUnits: new Map(), maxFeeBasisPoints: 500n };
    shop = await startShop({ settings: { payouts } });
    const { deps, merchantId } = shop;
    const scope = { merchantId, mode: 'live' as const };
    await createEndpoint(deps, { ...scope, url: 'http://127.0.0.1:9/', events: ['*'], description: null });
    const names = { externalId: 'user-42', email: EMAIL, name: null, metadata: {} };
    const made = await createCustomer(deps, { ...scope, ...names });
    customer = made.id;
    const of = (network: string) => made.addresses.find((row) => row.network === network)?.address ?? '';
    addresses = { bsc: of('bsc'), tron: of('tron') };
    await shop.sql(
      'insert into gas_wallets (network, address_key, address, created_at) values (?, ?, ?, now())',
      ['bsc', GAS.slice(2), GAS],
    );
    await shop.sql('insert into withdraw_addresses (merchant_id, network, address) values (?, ?, ?)', [
      merchantId,
      'bsc',
      DESTINATION,
    ]);
  });
  after(() => shop?.stop());

  const find = async (text: string): Promise<Found[]> =>
    await findAll({ em: shop.deps.orm.em.fork(), deps: shop.deps, pages: PAGES }, readGiven(text));
  const ids = async (text: string) => (await find(text)).map(({ kind, id }) => [kind, id]);
  const kinds = async (text: string) => (await find(text)).map(({ kind }) => kind);
  const rowId = async (sql: string): Promise<string> => (await shop.sql<{ id: string }>(sql))[0]?.id ?? '';

  it('finds a deposit by its hash in any spelling, by its id, its actor and a page of an explorer', async () => {
    const id = await shop.pay(customer, { coins: '25', state: 'confirming', hash });
    const digits = hash.slice(2);
    const actor = `deposit:bsc:${hash}:${addresses.bsc}:USDT`;
    for (const text of [digits.toUpperCase(), id, `https://bscscan.com/tx/${hash}?a=b`, actor])
      expect(await ids(text), text).to.deep.equal([['deposit', id]]);
    const [found] = await find(hash);
    const command = `deposit show ${id}`;
    expect(found).to.deep.include({ merchant_id: shop.merchantId, command });
    const asked = { merchantId: shop.merchantId, mode: 'live' as const, id };
    const { payment_token: _, ...view } = await getDeposit(shop.deps, asked);
    expect(found?.view).to.deep.equal(view);
    expect([found?.why, found?.action].join()).to.match(/of 15 confirmations.*,nothing to do/);
  });

  it('finds everything else by its id, and by what people call it', async () => {
    await createUser(shop.deps, { merchantId: shop.merchantId, email: EMAIL });
    await shop.pay(customer, { coins: '3', state: 'settled' });
    const link = await shop.link({ customerId: customer, externalId: 'order-7' });
    for (const [text, ...expected] of [
      [addresses.tron, 'address'],
      [addresses.tron.toLowerCase()],
      [addresses.bsc, 'address', 'deposit', 'deposit'],
      [GAS.toUpperCase().replace('0X', '0x'), 'gas_wallet'],
      [EMAIL.toLowerCase(), 'customer', 'user'],
      ['user-42', 'customer'],
      ['nobody'],
      ["' or 1=1 --"],
      [link.id, 'payment_link'],
      [`https://pay.example/pay/${link.token}?lang=de`, 'payment_link'],
      ['order-7', 'payment_link'],
      [await rowId('select id from webhook_endpoints limit 1'), 'endpoint'],
      [await rowId("select id from events where type = 'deposit.completed' limit 1"), 'event'],
      [await rowId('select id from webhook_deliveries limit 1'), 'delivery'],
      [await rowId('select id from payouts limit 1'), 'payout'],
      [shop.merchantId, 'merchant'],
    ] as const)
      expect(await kinds(text), text).to.deep.equal(expected);
    // What the link's token opens is named of the link alone, not of what paid it.
    const paid = await shop.pay(customer, { coins: '9' });
    expect(await shop.linkOf(paid)).to.equal(link.id);
    for (const id of [paid, await rowId(`select id from events where subject_id = '${paid}'`)])
      expect(JSON.stringify(await find(id)))
        .to.include(paid)
        .and.not.include(link.token);
    expect(await kinds(DESTINATION.toLowerCase()))
      .to.include('withdraw_address')
      .and.include('payout');
  });

  it('finds an API key by what lists show of it, and refuses a whole one and a signing secret', async () => {
    const { id, key } = await createKey(shop.deps, { merchantId: shop.merchantId, mode: 'live' });
    const [start, end] = [key.slice(0, 12), key.slice(-4)];
    for (const text of [id, `${start}…${end}`]) {
      expect(await ids(text), text).to.deep.include(['api_key', id]);
      expect(JSON.stringify(await find(text))).to.not.include(key);
    }
    expect(() => readGiven(key)).to.throw(/whole API key.*"key revoke ID".*ends with/);
    expect(() => readGiven(`see ${key} please`)).to.throw(/whole API key/);
    expect(() => readGiven(`whsec_${'a'.repeat(32)}`)).to.throw(/signing secret/);
  });
});
