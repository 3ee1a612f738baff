import { expect } from 'chai';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';

type Shown = { readonly network: string; readonly address: string };

/** An address of Tron has one spelling, and every other one is refused before anything is looked for. */
describe('addresses and hashes of Tron over HTTP', () => {
  let api: TestApi;
  let key: string;
  let customer: string;
  let address: string;
  let spellings: Record<string, string>;

  before(async () => {
    api = await startTestApi();
    key = api.keys.test;
    const made = await call(`${api.url}/customers`, { key, body: { external_id: 'payer' } });
    customer = made.body['id'];
    const addresses: readonly Shown[] = made.body['addresses'];
    address = addresses.find(({ network }) => network === 'tron')?.address ?? '';
    const hex = TRON_ADDRESSES.key(address);
    spellings = {
      'a wrong checksum': address.slice(0, -1) + (address.endsWith('1') ? '2' : '1'),
      'letters in another case': address.toLowerCase(),
      'hex that begins with 41': `41${hex}`,
      'hex that begins with 0x41': `0x41${hex}`,
      'a character too few': address.slice(0, -1),
    };
  });
  after(() => api.stop());

  const simulate = (body: object) =>
    call(`${api.url}/test/simulate-deposit`, {
      key,
      body: { customer_id: customer, network: 'tron', ...body },
    });
  const found = async (by: string) =>
    await call(`${api.url}/customers?address=${encodeURIComponent(by)}`, { key });

  it('finds the customer by the one spelling alone, with or without blanks around it', async () => {
    for (const by of [address, ` ${address} `]) {
      const { status, body } = await found(by);
      expect([status, body['data']?.[0]?.id, body['data']?.length], by).to.deep.equal([200, customer, 1]);
    }
    for (const [name, by] of Object.entries(spellings)) {
      const { status, body } = await found(by);
      const told = [status, body['code'], body['details']?.[0]?.path];
      expect(told, name).to.deep.equal([400, 'VALIDATION_ERROR', 'address']);
    }
  });

  it('answers 400 to every other spelling of a sender, and to the address of another network', async () => {
    const evm = { 'an address of BNB Chain': `0x${TRON_ADDRESSES.key(address)}` };
    for (const [name, from] of [...Object.entries(spellings), ...Object.entries(evm)]) {
      const { status, body } = await simulate({ from_address: from });
      expect([status, body['details']?.[0]?.path], name).to.deep.equal([400, 'from_address']);
    }
    const taken = await simulate({ from_address: address });
    expect([taken.status, taken.body['from_address']], taken.text).to.deep.equal([201, address]);
  });

  it('takes two spellings of a hash for one transaction, and none that begins with 0x', async () => {
    const hash = 'ab'.repeat(32);
    const first = await simulate({ transaction_hash: hash });
    const again = await simulate({ transaction_hash: hash.toUpperCase() });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.body).to.deep.equal(first.body);
    expect(again.body).to.include({ transaction_hash: hash });
    const listed = await call(`${api.url}/deposits?transaction_hash=${hash.toUpperCase()}`, { key });
    expect(listed.body['data'].map((row: { id: string }) => row.id)).to.deep.equal([first.body['id']]);
    const prefixed = await simulate({ transaction_hash: `0x${hash}` });
    expect([prefixed.status, prefixed.body['details']?.[0]?.path]).to.deep.equal([400, 'transaction_hash']);
  });
});
