import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, createEndpoint } from '../../../dev/support/use-cases.ts';
import { createUser } from '../../../src/services/access/users.ts';
import { findAll } from '../../../src/services/find/find.ts';
import type { Found, Pages } from '../../../src/services/find/found.ts';
import { readGiven } from '../../../src/services/find/given.ts';
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
    shop = await startShop({
      settings: { payouts: { networks: ['bsc'], minUnits: new Map(), maxFeeBasisPoints: 500n } },
    });
    const { deps, merchantId } = shop;
    await createEndpoint(deps, {
      merchantId,
      mode: 'live',
      url: 'http://127.0.0.1:9/hook',
      events: ['*'],
      description: null,
    });
    const names = { externalId: 'user-42', email: EMAIL, name: null, metadata: {} };
    const made = await createCustomer(deps, { merchantId, mode: 'live', ...names });
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

  const find = async (text: string): Promise<Found[]> => await findAll(shop.deps, PAGES, readGiven(text));
  const kinds = async (text: string): Promise<string[]> => (await find(text)).map(({ kind }) => kind);
  const rowId = async (sql: string): Promise<string> => (await shop.sql<{ id: string }>(sql))[0]?.id ?? '';

  it('finds a deposit by its hash in any spelling, by its id, its actor and a page of an explorer', async () => {
    const id = await shop.pay(customer, { coins: '25', state: 'confirming', hash });
    const digits = hash.slice(2);
    for (const text of [
      hash,
      digits,
      digits.toUpperCase(),
      `0x${digits.toUpperCase()}`,
      ` ${hash}\n`,
      id,
      id.toUpperCase(),
      `https://bscscan.com/tx/${hash}?a=b`,
      `deposit:bsc:${hash}:${addresses.bsc}:USDT`,
    ]) {
      const [found, ...more] = await find(text);
      expect([found?.kind, found?.id, more.length], text).to.deep.equal(['deposit', id, 0]);
    }
    const [found] = await find(hash);
    expect(found).to.deep.include({
      is_live: true,
      merchant_id: shop.merchantId,
      command: `deposit show ${id}`,
    });
    expect(found?.what).to.include('25 USDT on bsc').and.include(EMAIL).and.include(hash);
    expect(found?.state).to.match(/^confirming since /);
    expect(found?.why).to.match(/of 15 confirmations/);
    expect(found?.action).to.match(/^nothing to do/);
    expect(found?.links).to.deep.equal({
      explorer: `https://bscscan.com/tx/${hash}`,
      dashboard: `live/deposits/${id}`,
      checkout: null,
      temporal: `ui/deposit:bsc:${hash}:${addresses.bsc}:USDT`,
    });
  });

  it('says of a deposit that is stuck what "deposit stuck" says of it', async () => {
    const { listStuck } = await import('../../../src/services/deposits/stuck.ts');
    shop.pass(2 * 3_600);
    const stuck = (await listStuck(shop.deps)).find((row) => row.transaction_hash === hash);
    const [found] = await find(hash);
    expect(stuck?.reason).to.match(/bsc is not watched/);
    expect([found?.why, found?.action]).to.deep.equal([stuck?.reason, stuck?.action]);
  });

  it('says of what failed, was credited and was paid out why, and what is left to do', async () => {
    const says = async (id: string) => {
      const [found] = await find(id);
      return `${found?.why} → ${found?.action}`;
    };
    const failed = await shop.pay(customer, { coins: '1', state: 'failed' });
    expect(await says(failed)).to.match(/it failed \(REORGED\).* → nothing to do: no final block/);
    const completed = await shop.pay(customer, { coins: '2' });
    expect(await says(completed)).to.match(/waits for its payout → .*"merchant show/);
    const settled = await shop.pay(customer, { coins: '3', state: 'settled' });
    expect(await says(settled)).to.equal('it was paid out to the merchant → nothing to do');
    const reason = 'the gas wallet has too few coins';
    await shop.sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, needs_units,
        needs_address, since, updated_at) values ('bsc', ?, ?, ?, 'USDT', 'waiting_for_gas', ?, 1000000000000000, ?, now(), now())`,
      [addresses.bsc.slice(2).toLowerCase(), shop.merchantId, addresses.bsc, reason, GAS],
    );
    expect(await says(completed))
      .to.include(reason)
      .and.include(`→ send at least 0.001 BNB to ${GAS}`);
    // Nothing that alarms, and nothing that goes by itself either.
    for (const [code, why] of [
      ['no_destination', 'no withdraw address is set; set one'],
      ['paused', 'payouts are paused; resume them'],
    ]) {
      await shop.sql(
        'update settlement_waits set code = ?, reason = ?, needs_units = null, needs_address = null',
        [code, why],
      );
      expect(await says(completed)).to.include(`${why} → do what the reason says`);
    }
  });

  it('finds a customer by the address in any spelling of either network, and says what is paid there', async () => {
    const key = addresses.tron;
    const hex =
      (
        await shop.sql<{ key: string }>(
          `select address_key as key from deposit_addresses where address = ?`,
          [key],
        )
      )[0]?.key ?? '';
    for (const text of [
      addresses.bsc,
      addresses.bsc.toLowerCase(),
      `0x${addresses.bsc.slice(2).toUpperCase()}`,
      addresses.bsc.slice(2),
    ])
      expect(await kinds(text), text)
        .to.include('address')
        .and.include('deposit');
    for (const text of [key, `41${hex}`, `41${hex.toUpperCase()}`, `0x41${hex}`, `0x${hex}`, hex]) {
      const [found] = await find(text);
      expect(found?.kind, text).to.equal('address');
      expect(found?.what, text).to.include(`the tron address ${key} of customer ${EMAIL}`);
    }
    // Base58 tells small letters from capital ones: a text of another case is another one, or none.
    expect(await kinds(key.toLowerCase())).to.deep.equal([]);
  });

  it('finds our gas wallet, withdraw addresses and where payouts went', async () => {
    expect(await kinds(GAS.toUpperCase().replace('0X', '0x'))).to.deep.equal(['gas_wallet']);
    expect(await kinds(DESTINATION.toLowerCase()))
      .to.include('withdraw_address')
      .and.include('payout');
  });

  it('finds customers and users by email in any case, and by what merchants call them', async () => {
    await createUser(shop.deps, { merchantId: shop.merchantId, email: EMAIL });
    for (const text of [EMAIL, EMAIL.toLowerCase(), EMAIL.toUpperCase()])
      expect(await kinds(text), text).to.deep.equal(['customer', 'user']);
    expect(await kinds('user-42')).to.deep.equal(['customer']);
    expect(await kinds('USER-42')).to.deep.equal([]);
  });

  it('finds a payment link by id, token, page and external id', async () => {
    const link = await shop.link({ customerId: customer, externalId: 'order-7' });
    for (const text of [link.id, link.token, `https://pay.example/pay/${link.token}?lang=de`, 'order-7']) {
      const [found] = await find(text);
      expect([found?.kind, found?.id], text).to.deep.equal(['payment_link', link.id]);
      expect(found?.why).to.equal('waits for the payer');
      expect(found?.links.checkout).to.equal(`https://pay.example/pay/${link.token}`);
    }
  });

  it('finds endpoint, event, delivery, merchant and payout by their ids', async () => {
    for (const [kind, sql] of [
      ['endpoint', 'select id from webhook_endpoints'],
      ['event', "select id from events where type = 'deposit.completed'"],
      ['delivery', 'select id from webhook_deliveries'],
      ['payout', 'select id from payouts'],
    ] as const)
      expect(await kinds(await rowId(`${sql} limit 1`)), kind).to.deep.equal([kind]);
    expect(await kinds(shop.merchantId)).to.deep.equal(['merchant']);
  });

  it('finds an API key by what lists show of it, and refuses a whole one and a signing secret', async () => {
    const { id, key } = await createKey(shop.deps, { merchantId: shop.merchantId, mode: 'live' });
    for (const text of [
      id,
      `${key.slice(0, 12)}…${key.slice(-4)}`,
      `${key.slice(0, 12)}...${key.slice(-4)}`,
      key.slice(-4),
    ]) {
      const found = await find(text);
      expect(
        found.map((one) => [one.kind, one.id]),
        text,
      ).to.deep.include(['api_key', id]);
      expect(JSON.stringify(found)).to.not.include(key);
    }
    expect(() => readGiven(key)).to.throw(/whole API key.*"key revoke ID".*ends with/);
    expect(() => readGiven(`see ${key} please`)).to.throw(/whole API key/);
    expect(() => readGiven(`whsec_${'a'.repeat(32)}`)).to.throw(/signing secret/);
  });

  it('finds what is of test mode and says so', async () => {
    const names = { externalId: 'tester', email: null, name: null, metadata: {} };
    const { id } = await createCustomer(shop.deps, { merchantId: shop.merchantId, mode: 'test', ...names });
    expect((await find(id)).map((one) => one.is_live)).to.deep.equal([false]);
    expect((await find('tester')).map((one) => one.is_live)).to.deep.equal([false]);
  });

  it('lists each of several that one text stands for', async () => {
    const shared = `0x${randomBytes(32).toString('hex')}`;
    const other = await shop.customer();
    const ids = [
      await shop.pay(customer, { coins: '4', hash: shared }),
      await shop.pay(other, { coins: '5', hash: shared }),
    ];
    expect((await find(shared)).map(({ id }) => id).sort()).to.deep.equal(ids.sort());
  });

  it('knows nothing of texts that nobody has, whatever they are made of', async () => {
    for (const text of [
      'nobody',
      `0x${'0'.repeat(64)}`,
      '%',
      "' or 1=1 --",
      '\u202egpj',
      'a'.repeat(2_000),
      'https://',
      'http://x/%zz',
      '…',
      'deposit:bsc:',
    ])
      expect(await kinds(text), text).to.deep.equal([]);
  });
});
