import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../dev/support/eventually.ts';
import { createKeyFinder } from '../../../src/services/merchants/key-owner.ts';
import { generateKey, modeOfKey } from '../../../src/services/merchants/key-text.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../../src/services/merchants/keys.ts';
import {
  createMerchant,
  listMerchants,
  setSubscription,
  updateMerchant,
} from '../../../src/services/merchants/merchants.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const refusalOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(Refusal);
    return error as Refusal;
  };

  it('are of one length, tell their mode and never repeat', () => {
    const keys = Array.from({ length: 200 }, (_, n) => generateKey(n % 2 === 0 ? 'live' : 'test'));
    expect(new Set(keys).size).to.equal(200);
    for (const [n, key] of keys.entries()) {
      expect(key).to.match(n % 2 === 0 ? /^sk_live_[0-9A-Za-z]{49}$/ : /^sk_test_[0-9A-Za-z]{49}$/);
      expect(modeOfKey(key)).to.equal(n % 2 === 0 ? 'live' : 'test');
    }
  });

  it('show any one mistyped character by the checksum', () => {
    fc.assert(
      fc.property(fc.nat({ max: 56 }), fc.nat({ max: 61 }), (at, letter) => {
        const key = generateKey('live');
        const typo = key.slice(0, at) + ALPHABET.charAt(letter) + key.slice(at + 1);
        return typo === key || modeOfKey(typo) === undefined;
      }),
    );
  });

  it('take any text for a malformed key without an error', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        (text) => modeOfKey(text) === undefined && modeOfKey(`sk_live_${text}`) === undefined,
      ),
    );
  });

  it('are stored as a hash and a hint only', async () => {
    const { id, key } = await createKey(api.deps, {
      merchantId: api.merchant.id,
      mode: 'live',
      label: ' server ',
    });
    const [row] = await api.deps.orm.em
      .fork()
      .execute<Record<string, unknown>[]>('select * from api_keys where id = ?', [id]);
    expect(row).to.include({
      hash: hash('sha256', key),
      prefix: key.slice(0, 12),
      last4: key.slice(-4),
      label: 'server',
      mode: 'live',
    });
    expect(JSON.stringify(row)).not.to.contain(key.slice(12, 40));
    expect(JSON.stringify(await listKeys(api.deps))).not.to.contain(key.slice(12, 40));
  });

  it('find their owner with one question for all who wait together, and with a new one after that', async () => {
    const { id, key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    const find = createKeyFinder(api.deps);
    const owners = await Promise.all(Array.from({ length: 20 }, () => find(key)));
    const expected = {
      keyId: id,
      merchantId: api.merchant.id,
      mode: 'test',
      subscribed: true,
      scopes: ['all'],
      allowedNetworks: [],
    };
    for (const owner of owners) expect(owner).to.deep.equal(expected);
    await revokeKey(api.deps, { keyId: id });
    expect(await find(key)).to.equal(undefined);
    expect(await find(generateKey('test'))).to.equal(undefined);
  });

  it('do not join a question that takes long: a hung connection holds only those who asked with it', async () => {
    const { key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    let questions = 0;
    const now = () => {
      questions += 1;
      return new Date();
    };
    const find = createKeyFinder({ ...api.deps, now });
    const asked: Promise<unknown>[] = [];
    await api.deps.orm.em.fork().transactional(async (em) => {
      await em.execute('lock table api_keys in access exclusive mode');
      asked.push(...Array.from({ length: 5 }, () => find(key)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(questions).to.equal(1);
      asked.push(find(key), find(key));
      await eventually('a question of their own', () => questions > 1);
    });
    expect(questions).to.equal(2);
    for (const owner of await Promise.all(asked)) expect(owner).to.be.an('object');
  });

  it('forget a failed question at once', async () => {
    const { key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    let broken = true;
    const now = () => {
      if (broken) throw new Error('no clock');
      return new Date();
    };
    const find = createKeyFinder({ ...api.deps, now });
    expect(
      await Promise.all([find(key), find(key)].map((one) => one.catch((error: Error) => error.message))),
    ).to.deep.equal(['no clock', 'no clock']);
    broken = false;
    expect(await find(key)).to.be.an('object');
  });

  it('end when they are revoked, and stay as they first ended', async () => {
    const { id } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live' });
    const first = await revokeKey(api.deps, { keyId: id });
    const second = await revokeKey(api.deps, { keyId: id });
    expect(first.revokedAt).to.be.a('date');
    expect(second.revokedAt?.getTime()).to.equal(first.revokedAt?.getTime());
  });

  it('are replaced with a grace that never makes an earlier end later', async () => {
    const old = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'live', label: 'a' });
    const find = createKeyFinder(api.deps);
    const next = await rotateKey(api.deps, { keyId: old.id, graceMs: 3_600_000 });
    expect(await find(old.key)).to.be.an('object');
    expect(await find(next.key)).to.include({ merchantId: api.merchant.id, mode: 'live' });
    const endOf = async () =>
      (await listKeys(api.deps, { merchantId: api.merchant.id }))
        .find(({ id }) => id === old.id)
        ?.expiresAt?.getTime();
    const end = await endOf();
    await rotateKey(api.deps, { keyId: old.id, graceMs: 86_400_000 });
    expect(await endOf()).to.equal(end);
    await rotateKey(api.deps, { keyId: old.id, graceMs: 0 });
    expect(await find(old.key)).to.equal(undefined);
    expect((await refusalOf(rotateKey(api.deps, { keyId: old.id, graceMs: 0 }))).code).to.equal('INVALID');
  });

  it('are refused to unknown merchants and for bad labels and times, with what to do', async () => {
    const unknown = await refusalOf(createKey(api.deps, { merchantId: UNKNOWN_ID, mode: 'live' }));
    expect([unknown.code, unknown.message]).to.deep.equal([
      'NOT_FOUND',
      `There is no merchant ${UNKNOWN_ID}. List the merchants with "merchant list".`,
    ]);
    expect((await refusalOf(createKey(api.deps, { merchantId: 'x', mode: 'live' }))).code).to.equal(
      'NOT_FOUND',
    );
    expect(
      (
        await refusalOf(
          createKey(api.deps, { merchantId: api.merchant.id, mode: 'live', label: 'x'.repeat(201) }),
        )
      ).code,
    ).to.equal('INVALID');
    for (const graceMs of [-1, Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
      expect((await refusalOf(rotateKey(api.deps, { keyId: UNKNOWN_ID, graceMs }))).code).to.equal('INVALID');
    }
    for (const keyId of [UNKNOWN_ID, 'x'])
      expect((await refusalOf(revokeKey(api.deps, { keyId }))).code).to.equal('NOT_FOUND');
  });

  describe('merchants', () => {
    it('are made with a key for each mode and checked withdraw addresses', async () => {
      const bsc = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
      const made = await createMerchant(api.deps, {
        name: ' Shop ',
        subscriptionActive: false,
        monthlyLimitCents: 100_000n,
        withdraw: { bsc: bsc.toLowerCase(), tron: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' },
      });
      expect([modeOfKey(made.keys.live), modeOfKey(made.keys.test)]).to.deep.equal(['live', 'test']);
      const view = (await listMerchants(api.deps)).find(({ id }) => id === made.merchantId);
      expect(view).to.deep.include({ name: 'Shop', subscriptionActive: false, monthlyLimitCents: 100_000n });
      expect(view?.withdraw).to.deep.equal({ bsc, tron: 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH' });
    });

    it('keep what a change does not name, and lose what it sets to null', async () => {
      const { merchantId } = await createMerchant(api.deps, {
        name: 'A',
        subscriptionActive: true,
        monthlyLimitCents: 5n,
      });
      const renamed = await updateMerchant(api.deps, { merchantId, name: 'B' });
      expect([renamed.name, renamed.monthlyLimitCents]).to.deep.equal(['B', 5n]);
      const freed = await updateMerchant(api.deps, { merchantId, monthlyLimitCents: null });
      expect([freed.name, freed.monthlyLimitCents]).to.deep.equal(['B', null]);
      const until = new Date('2030-01-01T00:00:00Z');
      expect(
        (await setSubscription(api.deps, { merchantId, active: true, until })).subscriptionUntil?.getTime(),
      ).to.equal(until.getTime());
    });

    it('are refused with a mistyped address, an empty or endless name, or a negative limit, and nothing is made', async () => {
      const count = (await listMerchants(api.deps)).length;
      const bad = [
        { name: 'A', withdraw: { bsc: '0x9858EfFD232B4033E47d90003D41EC34EcaEda95' } },
        { name: 'A', withdraw: { tron: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' } },
        { name: '  ' },
        { name: 'x'.repeat(201) },
        { name: 'a\0b' },
        { name: 'A', monthlyLimitCents: -1n },
      ];
      for (const input of bad)
        expect(
          (await refusalOf(createMerchant(api.deps, { subscriptionActive: true, ...input }))).code,
        ).to.equal('INVALID');
      expect((await listMerchants(api.deps)).length).to.equal(count);
      expect(
        (await refusalOf(updateMerchant(api.deps, { merchantId: UNKNOWN_ID, name: 'x' }))).code,
      ).to.equal('NOT_FOUND');
    });
  });
});
