import { expect } from 'chai';
import {
  allowNetwork,
  disallowNetwork,
  listAllowedNetworks,
} from '../../../src/services/access/allowlist.ts';
import { createKeyFinder } from '../../../src/services/merchants/key-owner.ts';
import { createKey, listOwnKeys, revokeKey, rotateKey } from '../../../src/services/merchants/keys.ts';
import { listMerchants, renameMerchant } from '../../../src/services/merchants/merchants.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';
import { type ChangeStage, startChangeStage } from './change-stage.ts';

const HOSTILE = [
  '<script>alert(1)</script>',
  '"; drop table merchants; --',
  '=HYPERLINK("http://evil.example")',
  '\u202egnihton',
  'line\nbreak\ttab',
  '漢字かな🧾👩‍👩‍👧',
  `${'x'.repeat(199)}é`,
];
const GUARDED = new Refusal('INVALID', 'Not now.');
const guard = () => Promise.reject(GUARDED);

describe('what a signed-in user sets', function () {
  this.timeout(60_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  after(() => stage?.stop());
  const nameOf = async () =>
    (await listMerchants(stage.deps)).find(({ id }) => id === stage.merchantId)?.name;

  describe('the name', () => {
    const rename = async (name: string, how = {}) =>
      await renameMerchant(stage.user, stage.merchantId, { name }, how);

    it('is any text of 1 to 200 characters, kept as it is and written down', async () => {
      for (const name of HOSTILE) {
        const before = await nameOf();
        expect(await rename(` ${name} `)).to.deep.equal({ name });
        expect(await nameOf()).to.equal(name);
        expect((await stage.trail()).at(-1)).to.deep.equal({
          action: 'merchant.set',
          subject: stage.merchantId,
          before: { name: before },
          after: { name },
          by: stage.userId,
        });
      }
      const rows = (await stage.trail()).length;
      await rename(HOSTILE.at(-1) ?? '');
      expect(await stage.trail()).to.have.length(rows);
    });

    it('is refused when nobody could read it, and the guard is asked before', async () => {
      const before = await nameOf();
      for (const name of ['', ' \t\n ', '\u200b\u200d', 'x'.repeat(201), 'a\0b', 'half \ud800 pair'])
        expect((await refusalOf(rename(name))).field, JSON.stringify(name)).to.equal('name');
      expect(await refusalOf(rename('Other', { guard }))).to.equal(GUARDED);
      expect((await refusalOf(renameMerchant(stage.user, UNKNOWN_ID, { name: 'x' }))).code).to.equal(
        'NOT_FOUND',
      );
      expect(await nameOf()).to.equal(before);
    });
  });

  describe('the keys', () => {
    const scope = (mode: 'live' | 'test') => ({ merchantId: stage.merchantId, mode });

    it('are those of the merchant and mode alone: any other id is an unknown one', async () => {
      const other = await stage.newMerchant();
      const theirs = await createKey(stage.deps, { merchantId: other, mode: 'live' });
      const own = await createKey(stage.user, { ...scope('live'), label: '<b>' });
      const find = createKeyFinder(stage.deps);
      const said = new Set<string>();
      for (const [keyId, within] of [
        [theirs.id, scope('live')],
        [theirs.id, scope('test')],
        [own.id, scope('test')],
        [own.id, { merchantId: other, mode: 'live' as const }],
        [UNKNOWN_ID, scope('live')],
        ["' or 1=1 --", scope('live')],
      ] as const) {
        const input = { keyId, scope: within };
        // One after the other: a refusal that nobody awaits yet fails whatever test runs.
        for (const work of [
          () => revokeKey(stage.user, input),
          () => rotateKey(stage.user, { ...input, graceMs: 0 }),
        ]) {
          const refusal = await refusalOf(work());
          said.add(`${refusal.code} ${refusal.message}`);
        }
      }
      expect([...said]).to.deep.equal(['NOT_FOUND There is no such key.']);
      for (const { key } of [theirs, own]) expect(await find(key)).to.be.an('object');
    });

    it('are made, rotated with grace and revoked in the name of the user, in sentences without commands', async () => {
      const find = createKeyFinder(stage.deps);
      const made = await createKey(stage.user, { ...scope('live'), label: 'server', scopes: ['read'] });
      const meant = { keyId: made.id, scope: scope('live') };
      const next = await rotateKey(stage.user, { ...meant, graceMs: 3_600_000 });
      for (const { key } of [made, next]) expect(await find(key)).to.deep.include({ scopes: ['read'] });
      await revokeKey(stage.user, meant);
      expect([await find(made.key), (await find(next.key)) !== undefined]).to.deep.equal([undefined, true]);
      const ended = await refusalOf(rotateKey(stage.user, { ...meant, graceMs: 0 }));
      expect(ended.message).to.equal('This key has ended already. Make a new one.');
      const trail = (await stage.trail()).filter(({ subject }) => subject === made.id);
      expect(trail.map(({ action, by }) => [action, by])).to.deep.equal(
        ['key.create', 'key.rotate', 'key.revoke'].map((action) => [action, stage.userId]),
      );
      const rotating = { keyId: next.id, scope: scope('live') };
      for (const graceMs of [-1, Number.NaN, 367 * 86_400_000, Number.MAX_SAFE_INTEGER])
        expect((await refusalOf(rotateKey(stage.user, { ...rotating, graceMs }))).field).to.equal('grace');
      for (const expiresAt of [new Date(Number.NaN), stage.clock.now])
        expect((await refusalOf(createKey(stage.user, { ...scope('live'), expiresAt }))).field).to.equal(
          'expires',
        );
      for (const work of [
        () => createKey(stage.user, scope('live'), { guard }),
        () => rotateKey(stage.user, { keyId: next.id, graceMs: 0 }, { guard }),
        () => revokeKey(stage.user, { keyId: next.id }, { guard }),
      ])
        expect(await refusalOf(work())).to.equal(GUARDED);
      expect(await find(next.key)).to.be.an('object');
    });

    it('are listed with the valid ones first, and a user makes no more than people can look after', async () => {
      const merchantId = await stage.newMerchant();
      const test = { merchantId, mode: 'test' as const };
      const first = await createKey(stage.deps, test);
      for (let made = 2; made < 99; made += 1) await createKey(stage.user, test);
      stage.pass(1);
      const last = await createKey(stage.deps, {
        ...test,
        expiresAt: new Date(stage.clock.now.getTime() + 1_000),
      });
      stage.pass(1);
      const newest = await createKey(stage.user, test);
      const full = await refusalOf(createKey(stage.user, test));
      expect(full.message).to.match(/^100 keys are valid in test mode/);
      const rotating = { keyId: newest.id, graceMs: 60_000, scope: test };
      expect((await refusalOf(rotateKey(stage.user, rotating))).message).to.equal(full.message);
      // An operator is not bound by it, and live keys are counted by themselves.
      await createKey(stage.operator, test);
      await createKey(stage.user, { merchantId, mode: 'live' });
      await revokeKey(stage.user, { keyId: newest.id });
      const { keys, more } = await listOwnKeys(stage.deps, test);
      expect([keys.length, more]).to.deep.equal([102, false]);
      expect(keys.slice(-2).map(({ id }) => id)).to.deep.equal([newest.id, last.id]);
      // The merchant's own first key was made with it.
      expect(keys.slice(-4, -2).map(({ id }) => id)).to.include(first.id);
      expect(new Set(keys.map(({ mode }) => mode))).to.deep.equal(new Set(['test']));
    });
  });

  describe('the allowlist', () => {
    it('is changed in the name of the user, behind the guard, in sentences without commands', async () => {
      const { merchantId } = stage;
      const add = { merchantId, network: '203.0.113.0/24' };
      expect(await refusalOf(allowNetwork(stage.user, add, { guard }))).to.equal(GUARDED);
      expect((await allowNetwork(stage.user, add)).networks).to.deep.equal(['203.0.113.0/24']);
      expect(await refusalOf(disallowNetwork(stage.user, add, { guard }))).to.equal(GUARDED);
      const absent = await refusalOf(disallowNetwork(stage.user, { merchantId, network: '198.51.100.1' }));
      expect(absent.message).to.match(/^198\.51\.100\.1(\/32)? is not on the list\.$/);
      expect((await disallowNetwork(stage.user, add)).networks).to.deep.equal([]);
      expect((await listAllowedNetworks(stage.deps, { merchantId })).networks).to.deep.equal([]);
      expect((await stage.trail()).slice(-2).map(({ action, by }) => [action, by])).to.deep.equal([
        ['allow-ip.add', stage.userId],
        ['allow-ip.remove', stage.userId],
      ]);
    });
  });
});
