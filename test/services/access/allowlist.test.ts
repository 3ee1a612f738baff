import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import {
  allowNetwork,
  disallowNetwork,
  isAllowedFrom,
  listAllowedNetworks,
} from '../../../src/services/access/allowlist.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { testDeps } from '../../support/gateway.ts';

const UNKNOWN = '3e3c0ebf-d57e-4e7c-999a-d121996d8b80';

describe('the networks of live keys', () => {
  let database: FreshDatabase;
  let deps: Deps;
  let merchantId: string;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, []);
    ({ merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true }));
  });
  after(async () => {
    await deps.orm.close(true);
    await database.drop();
  });

  const add = async (network: string) => (await allowNetwork(deps, { merchantId, network })).networks;
  const remove = async (network: string) => (await disallowNetwork(deps, { merchantId, network })).networks;
  const refusal = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.an.instanceof(Refusal);
    return (error as Refusal).message;
  };

  it('are stored in one spelling, however they are given', async () => {
    expect(await add(' 203.0.113.7 ')).to.deep.equal(['203.0.113.7/32']);
    expect(await add('::ffff:203.0.113.7')).to.deep.equal(['203.0.113.7/32']);
    expect(await add('::ffff:198.51.100.0/120')).to.deep.equal(['203.0.113.7/32', '198.51.100.0/24']);
    expect((await add('2001:0DB8::/32')).at(-1)).to.equal('2001:db8::/32');
    expect((await add('2001:db8:0:0::5')).at(-1)).to.equal('2001:db8::5/128');
    expect((await add('0.0.0.0/0')).at(-1)).to.equal('0.0.0.0/0');
    expect(await remove('0.0.0.0/0')).to.have.length(4);
    expect(await remove('::ffff:cb00:7107/128')).to.deep.equal([
      '198.51.100.0/24',
      '2001:db8::/32',
      '2001:db8::5/128',
    ]);
    expect((await listAllowedNetworks(deps, { merchantId })).networks).to.have.length(3);
  });

  it('are refused with host bits behind the prefix, and in every form that is none, with nothing changed', async () => {
    const before = await listAllowedNetworks(deps, { merchantId });
    expect(await refusal(add('203.0.113.7/24'))).to.match(
      /Give 203\.0\.113\.0\/24 for the whole network, or 203\.0\.113\.7 for the address\.$/,
    );
    expect(await refusal(add('2001:db8::1/32'))).to.contain('Give 2001:db8::/32 ');
    expect(await refusal(remove('203.0.113.7/24'))).to.contain('203.0.113.0/24');
    const wrong = [
      '',
      '203.0.113.0/33',
      '1.2.3',
      'localhost',
      '10.0.0.0/8,10.1.0.0/16',
      '::ffff:1.2.3.4/90',
      '2001:db8::/129',
      'fe80::1%eth0',
      '10.0.0.0/08',
      '10.0.0.0/-1',
      '010.0.0.0/8',
      'x'.repeat(9_000),
      '1.2.3.4\0',
    ];
    for (const network of wrong) expect(await refusal(add(network)), network).to.match(/^.{0,250}Give /);
    expect(await listAllowedNetworks(deps, { merchantId })).to.deep.equal(before);
  });

  it('cannot be removed where they are not listed, and need a merchant', async () => {
    expect(await refusal(remove('192.0.2.1'))).to.match(/is not on the list/);
    const gone = { merchantId: UNKNOWN, network: '192.0.2.1' };
    const asks = [
      () => allowNetwork(deps, gone),
      () => disallowNetwork(deps, gone),
      () => listAllowedNetworks(deps, gone),
      () => listAllowedNetworks(deps, { merchantId: 'x' }),
    ];
    for (const ask of asks) {
      expect(await refusal(ask())).to.match(/There is no merchant/);
    }
  });

  it('let in an address in any spelling, and nobody whose address is not known', () => {
    expect(isAllowedFrom([], '')).to.equal(true);
    expect(isAllowedFrom(['0.0.0.0/0', '::/0'], '')).to.equal(false);
    expect(isAllowedFrom(['203.0.113.0/24'], '::ffff:203.0.113.9')).to.equal(true);
    expect(isAllowedFrom(['0.0.0.0/0'], '2001:db8::1')).to.equal(false);
    expect(isAllowedFrom(['::/0'], '203.0.113.9')).to.equal(false);
    expect(isAllowedFrom(['192.0.2.1/32', '2001:db8::/32'], '2001:DB8:ffff::1')).to.equal(true);
  });
});
