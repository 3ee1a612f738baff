import { expect } from 'chai';
import { apiOf, call } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from '../resources/link-calls.ts';

/** Deposits and links by what the merchant knows: an address, an id of its own, an email. */
describe('lists by exactly what something is called', () => {
  const api = apiOf();
  let key: string;
  let ann: Row;
  const links = linkCallsOf(() => api);
  before(async () => {
    key = api.keys.test;
    ann = await made('Ann');
    await made('Bob');
  });

  /** A customer with a deposit on each chain, of the merchant whose key this is. */
  const made = async (name: string, by = key): Promise<Row> => {
    const body = { external_id: name, email: `${name}@example.com` };
    const { body: customer } = await call(`${api.url}/customers`, { key: by, body });
    for (const network of ['bsc', 'tron']) {
      const paid = { customer_id: customer['id'], network };
      await call(`${api.url}/test/simulate-deposit`, { key: by, body: paid });
    }
    return customer;
  };

  const addressOf = (customer: Row, network: string): string =>
    customer['addresses'].find((row: Row) => row['network'] === network).address;
  const find = async (query: string, by = key) => {
    const { status, body } = await call(`${api.url}/deposits?${query}`, { key: by });
    expect([status, body['pagination'].total], query).to.deep.equal([200, body['data'].length]);
    return body['data'].map((row: Row) => `${row['external_id']} ${row['network']}`).sort();
  };

  it('find the deposits of a customer by external_id and email, in this very case', async () => {
    for (const query of ['external_id=Ann', 'email=Ann@example.com'])
      expect(await find(query)).to.deep.equal(['Ann bsc', 'Ann tron']);
    for (const query of ['external_id=ann', 'email=ann@example.com', 'external_id=An'])
      expect(await find(query), query).to.deep.equal([]);
  });

  it('find the deposits to an address: of an EVM chain in any case, of Tron as it is', async () => {
    expect(await find(`address=${addressOf(ann, 'bsc').toLowerCase()}`)).to.deep.equal(['Ann bsc']);
    expect(await find(`address=${addressOf(ann, 'tron')}`)).to.deep.equal(['Ann tron']);
  });

  it('show nothing of another merchant, who may use the same names, nor of the other mode', async () => {
    const other = (await api.newMerchant()).keys.test;
    const theirs = await made('Ann', other);
    for (const query of ['external_id=Ann', 'email=Ann@example.com'])
      for (const by of [key, other])
        expect(await find(query, by), query).to.deep.equal(['Ann bsc', 'Ann tron']);
    expect(await find(`address=${addressOf(theirs, 'bsc')}`)).to.deep.equal([]);
    for (const by of [other, api.keys.live])
      expect(await find(`address=${addressOf(ann, 'bsc')}`, by)).to.deep.equal([]);
  });

  it('find the payment links of an order', async () => {
    const [one, again] = [await links.make({ external_id: 'A-1' }), await links.make({ external_id: 'A-1' })];
    await links.make({ external_id: 'a-1' });
    await links.make();
    expect(links.ids(await links.list('external_id=A-1'))).to.deep.equal([again['id'], one['id']]);
    for (const by of [api.keys.live, (await api.newMerchant()).keys.test])
      expect(links.ids(await links.list('external_id=A-1', by))).to.deep.equal([]);
    expect((await links.list('external_id=')).status).to.equal(400);
  });
});
