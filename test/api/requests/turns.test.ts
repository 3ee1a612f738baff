import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { turnsOfMerchants } from '../../../src/app/pools.ts';
import { call, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { startWatched, type WatchedApi } from './watched-api.ts';

const POOL_SIZE = 10;
const REQUESTS = 40;

/**
 * However many requests of a merchant wait in the database
 * for each other, they wait there on few connections.
 */
describe('the connections of one merchant', function () {
  this.timeout(60_000);
  let watched: WatchedApi;
  let api: TestApi;
  let alice: TestMerchant;
  before(async () => {
    const turns = turnsOfMerchants(POOL_SIZE);
    watched = await startWatched(() => ({ poolSize: POOL_SIZE, turns, statementTimeoutMs: 60_000 }));
    api = watched.api;
    alice = await api.newMerchant();
  });
  after(() => watched?.stop());

  const waiting = async () =>
    (await watched.working()).filter((query) => query.includes('webhook_endpoints'));

  it('are few, and another merchant reads and writes while they all wait; they are given back in the end', async () => {
    const key = api.keys.live;
    const body = { url: 'http://127.0.0.1:9/', events: '*' };
    const { id } = (await call(`${api.url}/webhook-endpoints`, { key, body })).body;
    const change = { method: 'PUT', key, body: { description: randomUUID() } };
    await watched.whileLocked(`select id from webhook_endpoints where id = '${id}' for update`, async () => {
      const sent = Array.from({ length: REQUESTS }, () => call(`${api.url}/webhook-endpoints/${id}`, change));
      await eventually('requests that wait', async () => (await waiting()).length > 0);
      for (let turn = 0; turn < 5; turn += 1) {
        const read = await call(`${api.url}/customers/exists?email=a`, { key: alice.keys.live });
        const made = { key: alice.keys.live, body: { external_id: randomUUID() } };
        const written = await call(`${api.url}/customers`, made);
        expect([read.status, written.status]).to.deep.equal([200, 201]);
        expect((await waiting()).length).to.be.at.most(3);
      }
      await Promise.all(sent);
    });
    const ask = () => call(`${api.url}/customers/exists?email=a`, { key });
    await eventually('an answer to each of as many', async () =>
      (await Promise.all(Array.from({ length: REQUESTS }, ask))).every(({ status }) => status === 200),
    );
    expect(await waiting()).to.deep.equal([]);
  });
});
