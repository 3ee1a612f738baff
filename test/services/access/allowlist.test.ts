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
import { testDeps, UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';

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
  const list = async () => (await listAllowedNetworks(deps, { merchantId })).networks;

  it('are stored in one spelling, however they are given', async () => {
    for (const [given, stored] of [
      [' 203.0.113.7 ', '203.0.113.7/32'],
      ['::ffff:203.0.113.7', '203.0.113.7/32'],
      ['::ffff:198.51.100.0/120', '198.51.100.0/24'],
      ['2001:0DB8::/32', '2001:db8::/32'],
      ['2001:db8:0:0::5', '2001:db8::5/128'],
      ['0.0.0.0/0', '0.0.0.0/0'],
    ] as const)
      expect((await add(given)).at(-1), given).to.equal(stored);
    expect(await remove('0.0.0.0/0')).to.have.length(4);
    const left = ['198.51.100.0/24', '2001:db8::/32', '2001:db8::5/128'];
    expect(await remove('::ffff:cb00:7107/128')).to.deep.equal(left);
    expect(await list()).to.deep.equal(left);
  });

  it('are refused with host bits behind the prefix, and in every form that is none, with nothing changed', async () => {
    const before = await list();
    for (const change of [add, remove])
      expect((await refusalOf(change('203.0.113.7/24'))).message).to.match(
        /Give 203\.0\.113\.0\/24 for the whole network, or 203\.0\.113\.7 for the address\.$/,
      );
    for (const network of [
      '',
      '203.0.113.0/33',
      '1.2.3',
      '10.0.0.0/8,10.1.0.0/16',
      '::ffff:1.2.3.4/90',
      '2001:db8::1/32',
      'fe80::1%eth0',
      '10.0.0.0/08',
      '010.0.0.0/8',
      'x'.repeat(9_000),
      '1.2.3.4\0',
    ])
      expect((await refusalOf(add(network))).message, network).to.match(/^.{0,250}Give /);
    expect(await list()).to.deep.equal(before);
  });

  it('cannot be removed where they are not listed, and need a merchant', async () => {
    expect((await refusalOf(remove('192.0.2.1'))).message).to.match(/is not on the list/);
    const gone = { merchantId: UNKNOWN_ID, network: '192.0.2.1' };
    for (const ask of [allowNetwork, disallowNetwork, listAllowedNetworks])
      expect((await refusalOf(ask(deps, gone))).message).to.match(/There is no merchant/);
  });

  it('let in an address in any spelling, and nobody whose address is not known', () => {
    for (const [networks, address, allowed] of [
      [[], '', true],
      [['0.0.0.0/0', '::/0'], '', false],
      [['203.0.113.0/24'], '::ffff:203.0.113.9', true],
      [['0.0.0.0/0'], '2001:db8::1', false],
      [['::/0'], '203.0.113.9', false],
      [['192.0.2.1/32', '2001:db8::/32'], '2001:DB8:ffff::1', true],
    ] as const)
      expect(isAllowedFrom(networks, address), `${networks} ${address}`).to.equal(allowed);
  });
});
