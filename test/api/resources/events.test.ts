import { expect } from 'chai';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { buildHeaders } from '../../../src/services/webhooks/http/signature.ts';
import { apiOf, call, type TestMerchant } from '../../support/gateway.ts';

type Row = { id: string; event: string; subject_id: string; sequence: number; payload: string };

describe('GET /events', function () {
  this.timeout(30_000);
  const api = apiOf();
  let merchant: TestMerchant;
  let customerId: string;
  before(async () => {
    merchant = await api.newMerchant();
    const customer = await post('/customers', { external_id: 'ü-\u202e"\\', email: 'ann@example.com' });
    customerId = customer.body['id'];
    const body = { customer_id: customerId, outcome: 'settled', events: 'full' };
    await post('/test/simulate-deposit', body);
  });

  const post = async (path: string, body: object, key = merchant.keys.test) =>
    await call(`${api.url}${path}`, { key, method: 'POST', body });
  const list = async () => await call(`${api.url}/events`, { key: merchant.keys.test });

  it('shows what happened, newest first, with the bytes that are signed', async () => {
    const { status, body } = await list();
    expect(status).to.equal(200);
    expect(body['pagination']).to.deep.equal({ page: 1, limit: 25, total: 5, total_pages: 1 });
    const created = body['data'].find(({ event }: Row) => event === 'customer.created');
    expect(created).to.include({ subject_id: customerId, sequence: 1 });
    const [stored] = await api.deps.orm.em
      .fork()
      .execute<{ body: Buffer }[]>('select body from events where id = ?', [created.id]);
    const sent = stored?.body ?? Buffer.alloc(0);
    expect(Buffer.from(created.payload).equals(sent), 'byte by byte').to.equal(true);
    const { event, data, timestamp } = created;
    expect(JSON.parse(created.payload)).to.deep.equal({ event, data, timestamp });
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const head = { eventId: created.id, event: created.event, attempt: 1, sentAt: new Date(), body: sent };
    const headers = buildHeaders({ ...head, secrets: [secret] });
    const verified = verifyWebhook({ rawBody: created.payload, headers, secret });
    expect(verified.data['external_id']).to.equal('ü-\u202e"\\');
    const one = await call(`${api.url}/events/${created.id}`, { key: merchant.keys.test });
    expect(one.body).to.deep.equal({ ...created, deliveries: [] });
  });

  it('says how far back it is final: no further than the oldest transaction that may write one', async () => {
    const url = api.deps.orm.config.get('clientUrl') ?? '';
    const finalMs = async () => Date.parse((await list()).body['complete_before']);
    /** How much further it is final after a second of a transaction of this program. */
    const during = async (applicationName: string, does: string): Promise<number> => {
      const orm = await openOrm({ url, poolSize: 1, applicationName });
      try {
        return await orm.em.fork().transactional(async (em) => {
          await em.execute(does);
          const before = await finalMs();
          await new Promise((resolve) => setTimeout(resolve, 1_100));
          return (await finalMs()) - before;
        });
      } finally {
        await orm.close(true);
      }
    };
    expect(await during('gateway worker', 'select 1'), 'one of ours').to.equal(0);
    const changed = await during('psql', 'update merchants set name = name');
    expect(changed, 'whoever has changed something').to.equal(0);
    // A dump of some hours would hold back whoever follows, and writes nothing.
    const reads = 'select count(*) from events';
    for (const program of ['pg_dump', 'gateway backup'])
      expect(await during(program, reads), program).to.be.at.least(1_000);
  });
});
