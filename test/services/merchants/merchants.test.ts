import { expect } from 'chai';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { allowNetwork, disallowNetwork, isAllowedFrom } from '../../../src/services/access/allowlist.ts';
import { modeOfKey } from '../../../src/services/merchants/key-text.ts';
import {
  createMerchant,
  listMerchants,
  renameMerchant,
  setSubscription,
  updateMerchant,
} from '../../../src/services/merchants/merchants.ts';
import { requireNoContract } from '../../../src/services/merchants/withdraw-addresses.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';
import { shown } from '../payouts/stage.ts';
import { type ChangeStage, startChangeStage } from './change-stage.ts';

const BSC = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const TRON = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
const GUARDED = new Refusal('INVALID', 'Not now.');
const guard = () => Promise.reject(GUARDED);

describe('merchants', function () {
  this.timeout(60_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  beforeEach(() => stage.renew());
  after(() => stage?.stop());

  const own = async (merchantId = stage.merchantId) =>
    (await listMerchants(stage.deps)).find(({ id }) => id === merchantId);
  const update = (change: object) => updateMerchant(stage.deps, { merchantId: stage.merchantId, ...change });

  it('are made with a key for each mode and checked withdraw addresses', async () => {
    const terms = { subscriptionActive: false, monthlyLimitCents: 100_000n };
    const withdraw = { bsc: BSC.toLowerCase(), tron: TRON };
    const made = await createMerchant(stage.deps, { name: ' Shop ', ...terms, withdraw });
    expect([modeOfKey(made.keys.live), modeOfKey(made.keys.test)]).to.deep.equal(['live', 'test']);
    const facts = { name: 'Shop', ...terms, withdraw: { bsc: BSC, tron: TRON } };
    expect(await own(made.merchantId)).to.deep.include(facts);
  });

  it('keep what a change does not name, and lose what it sets to null', async () => {
    await update({ name: 'A', monthlyLimitCents: 5n });
    expect(await update({ name: 'B' })).to.deep.include({ name: 'B', monthlyLimitCents: 5n });
    expect(await update({ monthlyLimitCents: null })).to.deep.include({ name: 'B', monthlyLimitCents: null });
    const until = new Date('2030-01-01T00:00:00Z');
    const { merchantId } = stage;
    expect(await setSubscription(stage.deps, { merchantId, active: true, until })).to.deep.include({
      subscriptionUntil: until,
    });
  });

  it('are refused with a mistyped address, an empty or endless name, or a negative limit, and nothing is made', async () => {
    const count = (await listMerchants(stage.deps)).length;
    for (const input of [
      { withdraw: { bsc: BSC.replace('94', '95') } },
      { withdraw: { tron: BSC } },
      { name: '  ' },
      { monthlyLimitCents: -1n },
    ]) {
      const making = createMerchant(stage.deps, { name: 'A', subscriptionActive: true, ...input });
      expect((await refusalOf(making)).code, Object.keys(input).join()).to.equal('INVALID');
    }
    expect((await listMerchants(stage.deps)).length).to.equal(count);
    expect((await refusalOf(update({ merchantId: UNKNOWN_ID, name: 'x' }))).code).to.equal('NOT_FOUND');
  });

  it('are called by any text of 1 to 200 characters, kept as it is and written down, behind the guard', async () => {
    const rename = async (name: string, how = {}) =>
      await renameMerchant(stage.user, stage.merchantId, { name }, how);
    const { userId, merchantId } = stage;
    const before = (await own())?.name;
    const name = '<script>alert(1)</script>\n\u202egnihton';
    expect(await rename(` ${name} `)).to.deep.equal({ name });
    const facts = { action: 'merchant.set', subject: merchantId, before: { name: before }, after: { name } };
    expect((await stage.trail()).at(-1)).to.deep.equal({ ...facts, by: userId });
    for (const bad of ['', '\u200b\u200d', 'x'.repeat(201), 'a\0b'])
      expect((await refusalOf(rename(bad))).field, JSON.stringify(bad)).to.equal('name');
    expect(await refusalOf(rename('Other', { guard }))).to.equal(GUARDED);
    expect((await refusalOf(renameMerchant(stage.user, UNKNOWN_ID, { name: 'x' }))).code).to.equal(
      'NOT_FOUND',
    );
    expect((await own())?.name).to.equal(name);
  });

  it('have their allowlist changed in the name of a user, behind the guard, in one spelling', async () => {
    const { merchantId } = stage;
    const add = { merchantId, network: '::ffff:203.0.113.0/120' };
    expect(await refusalOf(allowNetwork(stage.user, add, { guard }))).to.equal(GUARDED);
    expect((await allowNetwork(stage.user, add)).networks).to.deep.equal(['203.0.113.0/24']);
    expect(
      (await refusalOf(allowNetwork(stage.operator, { ...add, network: '203.0.113.7/24' }))).message,
    ).to.match(/Give 203\.0\.113\.0\/24 for the whole network, or 203\.0\.113\.7 for the address\.$/);
    for (const network of ['', '203.0.113.0/33', '10.0.0.0/8,10.1.0.0/16', '010.0.0.0/8', 'x'.repeat(9_000)])
      expect((await refusalOf(allowNetwork(stage.user, { merchantId, network }))).message).to.match(/Give /);
    const gone = { merchantId, network: '192.0.2.1' };
    expect((await refusalOf(disallowNetwork(stage.user, gone))).message).to.match(/is not on the list/);
    expect(await refusalOf(disallowNetwork(stage.user, add, { guard }))).to.equal(GUARDED);
    expect((await disallowNetwork(stage.user, add)).networks).to.deep.equal([]);
    expect((await stage.trail()).slice(-2).map(({ action, by }) => [action, by])).to.deep.equal([
      ['allow-ip.add', stage.userId],
      ['allow-ip.remove', stage.userId],
    ]);
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

  it('are refused a withdraw address that nobody owns, or from where what is sent comes back', async () => {
    const { contracts } = stage.deps.settings;
    await stage.customer();
    await stage.customer('test');
    const ours = await stage.sql<{ network: Network; address: string }>(
      'select network, address from deposit_addresses where merchant_id = ? order by network, mode',
      [stage.merchantId],
    );
    expect(ours).to.have.length(4);
    const ofKey = (network: Network, key: string) => shown(network, keyOfHex(key));
    const gas = { bsc: ofKey('bsc', '9a'.repeat(20)), tron: ofKey('tron', '9a'.repeat(20)) };
    await publishGasWallets(stage.deps, gas);
    const wrong = [
      ...ours.map(({ network, address }) => [network, address, /is an address of this gateway\. /] as const),
      ...(['bsc', 'tron'] as const).flatMap((network) => [
        [network, ofKey(network, '0'.repeat(40)), /is the address zero, /] as const,
        [network, contracts[network], /is the contract of the token\. /] as const,
        [network, gas[network], /is an address of this gateway\. /] as const,
      ]),
    ];
    for (const [network, address, says] of wrong)
      expect((await refusalOf(stage.set(address, network))).message, address)
        .to.match(says)
        .and.match(/Ask the merchant for an address of a wallet of their own\.$/);
    expect((await own())?.withdraw).to.deep.equal({ bsc: null, tron: null });
    expect((await stage.set(BSC.toLowerCase())).withdraw).to.include({ bsc: BSC });
  });

  it('are refused one where code runs, or where nobody can say so, each with what to do', async () => {
    type Chains = Parameters<typeof requireNoContract>[0];
    const chain = (hasCode: () => Promise<boolean>): Chains => new Map([['bsc', { hasCode }]]);
    const ask = (chains: Chains) => requireNoContract(chains, 'bsc', BSC);
    expect(await ask(chain(async () => false))).to.equal(true);
    // Nothing is paid out on a chain that is not watched, so that nobody need be asked.
    for (const none of [new Map(), new Map([['bsc', {}]])]) expect(await ask(none)).to.equal(false);
    for (const [chains, says] of [
      [chain(async () => true), /is a contract on bsc\. Ask the merchant/],
      [chain(() => Promise.reject(new Error('away'))), /no RPC endpoint of bsc answers\. See with "doctor"/],
    ] as const)
      expect((await refusalOf(ask(chains))).message)
        .to.match(says)
        .and.match(/, or give --allow-contract if the merchant is sure that it takes such payments\.$/);
  });
});
