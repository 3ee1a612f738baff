import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type Orm, openOrm } from '../../../src/db/orm.ts';
import { call, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { startWatched, type WatchedApi } from '../requests/watched-api.ts';

const RUSH = 60;

/** One merchant's lists, however many, never take from the others what they need. */
describe('lists of one merchant', function () {
  this.timeout(60_000);
  let watched: WatchedApi;
  let api: TestApi;
  let listOrm: Orm;
  let other: TestMerchant;
  before(async () => {
    watched = await startWatched(async (url) => {
      listOrm = await openOrm({ url, poolSize: 6, applicationName: 'lists', statementTimeoutMs: 60_000 });
      return { listOrm, statementTimeoutMs: 60_000 };
    });
    api = watched.api;
    other = await api.newMerchant();
  });
  after(async () => {
    await listOrm?.close(true);
    await watched?.stop();
  });

  const active = async () =>
    (await watched.working('lists')).filter((query) => query.includes('payment_links')).length;

  it('run three at a time, those of others have their turn, and all are over in the end', async () => {
    await watched.whileLocked('lock table payment_links in access exclusive mode', async () => {
      const ask = (_: unknown, index: number) =>
        call(`${api.url}/payment-links?limit=${index + 1}`, { key: api.keys.test });
      const answers = Promise.all(Array.from({ length: RUSH }, ask));
      await eventually('the lists that have their turn', async () => (await active()) >= 3);
      let most = 0;
      for (let turn = 0; turn < 10; turn += 1) {
        const one = await call(`${api.url}/customers/exists?external_id=${turn}`, { key: other.keys.live });
        const list = await call(`${api.url}/customers`, { key: other.keys.live });
        expect([one.status, list.status], 'of another merchant').to.deep.equal([200, 200]);
        most = Math.max(most, await active());
      }
      const refused = await answers;
      const codes = refused.map(({ status, body }) => `${status} ${body['code']}`);
      // Those that had their turn waited for the lock; the others waited for their own.
      expect(new Set(codes)).to.deep.equal(new Set(['429 RATE_LIMITED', '503 UNAVAILABLE']));
      expect(codes.filter((code) => code.startsWith('503')).length).to.be.within(3, RUSH / 2);
      const waits = refused.map(
        ({ status, headers }) => status === 503 || headers.get('retry-after') === '2',
      );
      expect(new Set(waits)).to.deep.equal(new Set([true]));
      expect(most).to.be.at.most(3);
    });
    await eventually('the end of the lists', async () => (await active()) === 0);
    expect((await call(`${api.url}/payment-links`, { key: api.keys.test })).status).to.equal(200);
  });
});
