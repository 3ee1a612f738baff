import { expect } from 'chai';
import { apiOf, call } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from '../resources/link-calls.ts';

/** Deposits and links by what the merchant knows: an address, an id of its own, an email. */
describe('lists by exactly what something is called', () => {
  const api = apiOf();
  let key: string;
  let ann: Row;
  let bob: Row;
  const links = linkCallsOf(() => api);
  before(async () => {
    key = api.keys.test;
    const made = async (name: string): Promise<Row> => {
      const body = { external_id: name, email: `${name}@example.com` };
      const { body: customer } = await call(`${api.url}/customers`, { key, body });
      for (const network of ['bsc', 'tron'])
        await call(`${api.url}/test/simulate-deposit`, {
          key,
          body: { customer_id: customer['id'], network },
        });
      return customer;
    };
    ann = await made('Ann');
    bob = await made('Bob');
  });

  const addressOf = (customer: Row, network: string): string =>
    customer['addresses'].find((row: Row) => row['network'] === network).address;
  const find = async (query: string, by = key) => {
    const { status, body } = await call(`${api.url}/deposits?${query}`, { key: by });
    expect([status, body['pagination'].total], query).to.deep.equal([200, body['data'].length]);
    return body['data'].map((row: Row) => `${row['external_id']} ${row['network']}`).sort();
  };

  it('find the deposits of a customer by external_id and email, in this very case', async () => {
    for (const query of ['external_id=Ann', 'email=Ann@example.com', 'email=%20Ann@example.com%20'])
      expect(await find(query)).to.deep.equal(['Ann bsc', 'Ann tron']);
    for (const query of ['external_id=ann', 'email=ann@example.com', 'external_id=An', 'email=nobody@x.y'])
      expect(await find(query), query).to.deep.equal([]);
  });

  it('find the deposits to an address: of an EVM chain in any case, of Tron as it is', async () => {
    const [bsc, tron] = [addressOf(ann, 'bsc'), addressOf(ann, 'tron')];
    for (const one of [bsc, bsc.toLowerCase(), `0x${bsc.slice(2).toUpperCase()}`])
      expect(await find(`address=${one}`), one).to.deep.equal(['Ann bsc']);
    expect(await find(`address=${tron}`)).to.deep.equal(['Ann tron']);
    expect(await find(`address=0x${'ab'.repeat(20)}`)).to.deep.equal([]);
  });

  it('take several filters together, all of which have to be true', async () => {
    expect(await find('external_id=Ann&network=tron')).to.deep.equal(['Ann tron']);
    expect(await find(`external_id=Bob&address=${addressOf(bob, 'bsc')}`)).to.deep.equal(['Bob bsc']);
    for (const query of [
      'external_id=Ann&email=Bob@example.com',
      `email=Bob@example.com&address=${addressOf(ann, 'bsc')}`,
      `network=tron&address=${addressOf(ann, 'bsc')}`,
      `external_id=Ann&customer_id=${bob['id']}`,
    ])
      expect(await find(query), query).to.deep.equal([]);
  });

  it('are refused for a text that is no address, and for an empty one', async () => {
    const bsc = addressOf(ann, 'bsc');
    const mistyped = bsc.replace(/[a-fA-F](?=[^a-fA-F]*$)/, (letter) =>
      letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
    );
    for (const address of ['0x1', '', 'nowhere', addressOf(ann, 'tron').toLowerCase(), mistyped]) {
      const { status, body } = await call(`${api.url}/deposits?address=${address}`, { key });
      const told = [status, body['code'], body['details'][0].path];
      expect(told).to.deep.equal([400, 'VALIDATION_ERROR', 'address']);
    }
    const { body } = await call(`${api.url}/deposits?address=0x1`, { key });
    expect(body['error']).to.equal('address must be a complete address of one of the networks.');
    for (const query of ['external_id=', 'email=', `external_id=${'x'.repeat(256)}`, 'email=a&email=b'])
      expect((await call(`${api.url}/deposits?${query}`, { key })).status, query).to.equal(400);
  });

  it('find the payment links of an order', async () => {
    const [one, again] = [await links.make({ external_id: 'A-1' }), await links.make({ external_id: 'A-1' })];
    await links.make({ external_id: 'a-1' });
    await links.make();
    expect(links.ids(await links.list('external_id=A-1'))).to.deep.equal([again['id'], one['id']]);
    expect(links.ids(await links.list('external_id=A-1&limit=1'))).to.deep.equal([again['id']]);
    for (const by of [api.keys.live, (await api.newMerchant()).keys.test])
      expect(links.ids(await links.list('external_id=A-1', by))).to.deep.equal([]);
    expect((await links.list('external_id=')).status).to.equal(400);
  });
});
