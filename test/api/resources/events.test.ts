import { expect } from 'chai';
import { verifyWebhook } from '../../../packages/sdk/src/index.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { buildHeaders } from '../../../src/services/webhooks/http/signature.ts';
import { call, startTestApi, type TestApi, type TestMerchant, UNKNOWN_ID } from '../../support/gateway.ts';

type Row = { id: string; event: string; subject_id: string; sequence: number; payload: string };

describe('GET /events', function () {
  this.timeout(30_000);
  let api: TestApi;
  let merchant: TestMerchant;
  let customerId: string;
  let depositId: string;
  before(async () => {
    api = await startTestApi();
    merchant = await api.newMerchant();
    const customer = await post('/customers', { external_id: 'ü-\u202e"\\', email: 'ann@example.com' });
    customerId = customer.body['id'];
    const body = { customer_id: customerId, outcome: 'settled', events: 'full' };
    depositId = (await post('/test/simulate-deposit', body)).body['id'];
  });
  after(() => api.stop());

  const post = async (path: string, body: object, key = merchant.keys.test) =>
    await call(`${api.url}${path}`, { key, method: 'POST', body });
  const list = async (query = '', key = merchant.keys.test) =>
    await call(`${api.url}/events?${query}`, { key });
  const rows = async (query = '', key?: string): Promise<Row[]> => (await list(query, key)).body['data'];

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
    expect(JSON.parse(created.payload)).to.deep.equal({
      event: created.event,
      data: created.data,
      timestamp: created.timestamp,
    });
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    const head = { eventId: created.id, event: created.event, attempt: 1, sentAt: new Date(), body: sent };
    const headers = buildHeaders({ ...head, secrets: [secret] });
    expect(verifyWebhook({ rawBody: created.payload, headers, secret }).data['external_id']).to.equal(
      'ü-\u202e"\\',
    );
    const one = await call(`${api.url}/events/${created.id}`, { key: merchant.keys.test });
    expect(one.body).to.deep.equal({ ...created, deliveries: [] });
  });

  it('filters by name, by what it is about and by time, and counts in seconds', async () => {
    expect((await rows('type=deposit.settled')).map(({ event }) => event)).to.deep.equal(['deposit.settled']);
    const own = await rows(`subject_id=${depositId}`);
    expect(own.map(({ sequence }) => sequence).toSorted()).to.deep.equal([1, 2, 3, 4]);
    const at = (ms: number) => encodeURIComponent(new Date(Date.now() + ms).toISOString());
    expect(await rows(`created_from=${at(-60_000)}&created_to=${at(5_000)}`)).to.have.length(5);
    expect(await rows(`created_to=${at(-60_000)}`)).to.deep.equal([]);
    expect(await rows(`type=payment.late&subject_id=${depositId}`)).to.deep.equal([]);
    for (const query of ['type=deposit.done', 'subject_id=x', 'created_from=yesterday', 'limit=101'])
      expect((await list(query)).status, query).to.equal(400);
  });

  it('is walked by cursors in both directions, each row once', async () => {
    const all = (await rows()).map(({ id }) => id);
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await list(`limit=2${after}`);
      seen.push(...body['data'].map(({ id }: Row) => id));
      if (!body['has_more']) break;
      after = `&starting_after=${seen.at(-1)}`;
    }
    expect(seen).to.deep.equal(all);
    const newer = await rows(`limit=100&ending_before=${all.at(-1)}`);
    expect(newer.map(({ id }) => id)).to.deep.equal(all.slice(0, -1));
    expect((await list(`starting_after=${UNKNOWN_ID}`)).status).to.equal(400);
  });

  it('knows nothing of the other mode, of other merchants, and needs a key that may read', async () => {
    expect(await rows('', merchant.keys.live)).to.deep.equal([]);
    const other = await api.newMerchant();
    expect(await rows('', other.keys.test)).to.deep.equal([]);
    expect(await rows(`subject_id=${depositId}`, other.keys.test)).to.deep.equal([]);
    const [row] = await rows();
    expect((await list(`starting_after=${row?.id}`, other.keys.test)).status).to.equal(400);
    expect((await call(`${api.url}/events`, {})).status).to.equal(401);
  });

  it('says how far back it is final: no further than the oldest transaction that may write one', async () => {
    const lagMs = async () => Date.now() - Date.parse((await list()).body['complete_before']);
    expect(await lagMs(), 'the difference of clocks').to.be.within(59_000, 65_000);
    const url = api.deps.orm.config.get('clientUrl') ?? '';
    /** How far back it is final three seconds after this program began a transaction. */
    const during = async (applicationName: string, does: string): Promise<number> => {
      const orm = await openOrm({ url, poolSize: 1, applicationName });
      try {
        return await orm.em.fork().transactional(async (em) => {
          await em.execute(does);
          await new Promise((resolve) => setTimeout(resolve, 3_000));
          return await lagMs();
        });
      } finally {
        await orm.close(true);
      }
    };
    expect(await during('gateway worker', 'select 1'), 'one of ours').to.be.within(62_000, 68_000);
    const changed = await during('psql', 'update merchants set name = name');
    expect(changed, 'whoever has changed something').to.be.within(62_000, 68_000);
    // A dump of some hours would hold back whoever follows, and writes nothing.
    const reads = 'select count(*) from events';
    const [dump, backup] = await Promise.all([during('pg_dump', reads), during('gateway backup', reads)]);
    expect([dump, backup].every((lag) => lag < 62_000)).to.equal(true);
  });
});
