import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createKeyFinder } from '../../../src/services/merchants/key-owner.ts';
import { generateKey, modeOfKey } from '../../../src/services/merchants/key-text.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../../src/services/merchants/keys.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { UNKNOWN_ID } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';
import { type ChangeStage, HOUR_S, startChangeStage } from './change-stage.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DAY_MS = 86_400_000;
const GUARDED = new Refusal('INVALID', 'Not now.');
const guard = () => Promise.reject(GUARDED);

describe('the text of an API key', () => {
  it('is of one length, tells its mode, never repeats, and shows any one mistyped character', () => {
    const keys = Array.from({ length: 200 }, (_, n) => generateKey(n % 2 === 0 ? 'live' : 'test'));
    expect(new Set(keys).size).to.equal(200);
    for (const [n, key] of keys.entries()) {
      expect(key).to.match(n % 2 === 0 ? /^sk_live_[0-9A-Za-z]{49}$/ : /^sk_test_[0-9A-Za-z]{49}$/);
      expect(modeOfKey(key)).to.equal(n % 2 === 0 ? 'live' : 'test');
    }
    fc.assert(
      fc.property(fc.nat({ max: 56 }), fc.nat({ max: 61 }), (at, letter) => {
        const key = generateKey('live');
        const typo = key.slice(0, at) + ALPHABET.charAt(letter) + key.slice(at + 1);
        return typo === key || modeOfKey(typo) === undefined;
      }),
    );
  });
});

describe('API keys', function () {
  this.timeout(60_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  beforeEach(() => stage.renew());
  after(() => stage?.stop());

  const scope = (mode: 'live' | 'test') => ({ merchantId: stage.merchantId, mode });
  const make = (mode: 'live' | 'test' = 'live', more: object = {}) =>
    createKey(stage.user, { ...scope(mode), ...more });

  it('are stored as a hash and a hint only', async () => {
    const { id, key } = await make('live', { label: ' server ' });
    const [row] = await stage.sql('select * from api_keys where id = ?', [id]);
    const hint = { prefix: key.slice(0, 12), last4: key.slice(-4) };
    expect(row).to.include({ hash: hash('sha256', key), ...hint, label: 'server', mode: 'live' });
    expect(JSON.stringify([row, await listKeys(stage.deps)])).not.to.contain(key.slice(12, 40));
  });

  it('find their owner with one question for all who wait together, and with a new one after that', async () => {
    const { id: keyId, key } = await make('test');
    const find = createKeyFinder(stage.deps);
    const rights = { subscribed: true, scopes: ['all'], allowedNetworks: [] };
    for (const owner of await Promise.all(Array.from({ length: 20 }, () => find(key))))
      expect(owner).to.deep.equal({ keyId, ...scope('test'), ...rights });
    await revokeKey(stage.deps, { keyId });
    expect(await find(key)).to.equal(undefined);
    expect(await find(generateKey('test'))).to.equal(undefined);
  });

  it('are replaced with a grace that never makes an earlier end later, and revoked, in the name of the user', async () => {
    const find = createKeyFinder(stage.deps);
    const old = await make('live', { label: 'server', scopes: ['read'] });
    const meant = { keyId: old.id, scope: scope('live') };
    const next = await rotateKey(stage.user, { ...meant, graceMs: HOUR_S * 1_000 });
    for (const { key } of [old, next]) expect(await find(key)).to.deep.include({ scopes: ['read'] });
    const endOf = async () =>
      (await listKeys(stage.deps, { merchantId: stage.merchantId })).find(({ id }) => id === old.id)
        ?.expiresAt;
    const end = await endOf();
    await rotateKey(stage.user, { ...meant, graceMs: DAY_MS });
    expect(await endOf()).to.deep.equal(end);
    await revokeKey(stage.user, meant);
    expect([await find(old.key), (await find(next.key)) !== undefined]).to.deep.equal([undefined, true]);
    const trail = (await stage.trail()).filter(({ subject }) => subject === old.id);
    expect(trail.map(({ action, by }) => [action, by])).to.deep.equal(
      ['key.create', 'key.rotate', 'key.rotate', 'key.revoke'].map((action) => [action, stage.userId]),
    );
  });

  it('are refused with what is wrong, behind the guard, and nothing is changed', async () => {
    const { id: keyId, key } = await make();
    const unknown = { merchantId: UNKNOWN_ID, mode: 'live' } as const;
    expect((await refusalOf(createKey(stage.operator, unknown))).code).to.equal('NOT_FOUND');
    expect((await refusalOf(make('live', { label: 'x'.repeat(201) }))).code).to.equal('INVALID');
    for (const expiresAt of [new Date(Number.NaN), stage.clock.now])
      expect((await refusalOf(make('live', { expiresAt }))).field).to.equal('expires');
    for (const graceMs of [-1, Number.NaN, 367 * DAY_MS])
      expect(
        (await refusalOf(rotateKey(stage.user, { keyId, graceMs, scope: scope('live') }))).field,
      ).to.equal('grace');
    for (const work of [
      () => createKey(stage.user, scope('live'), { guard }),
      () => rotateKey(stage.user, { keyId, graceMs: 0 }, { guard }),
      () => revokeKey(stage.user, { keyId }, { guard }),
    ])
      expect(await refusalOf(work())).to.equal(GUARDED);
    expect(await createKeyFinder(stage.deps)(key)).to.be.an('object');
  });

  it('are those of the merchant and mode alone: any other id is an unknown one', async () => {
    const other = await stage.newMerchant();
    const theirs = await createKey(stage.deps, { merchantId: other, mode: 'live' });
    const own = await make('live', { label: '<b>' });
    for (const [keyId, within] of [
      [theirs.id, scope('live')],
      [own.id, scope('test')],
      [own.id, { merchantId: other, mode: 'live' as const }],
      [UNKNOWN_ID, scope('live')],
      ["' or 1=1 --", scope('live')],
    ] as const)
      for (const work of [revokeKey, rotateKey]) {
        const refusal = await refusalOf(work(stage.user, { keyId, scope: within, graceMs: 0 }));
        expect(refusal, keyId).to.include({ code: 'NOT_FOUND', message: 'There is no such key.' });
      }
    const find = createKeyFinder(stage.deps);
    for (const { key } of [theirs, own]) expect(await find(key)).to.be.an('object');
  });
});
