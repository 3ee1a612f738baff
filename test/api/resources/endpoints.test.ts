import { expect } from 'chai';
import { EVENT_TYPES } from '../../../src/domain/events.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { endpointCallsOf } from './endpoint-calls.ts';

const URL_OK = 'http://127.0.0.1:9/hook';

describe('webhook endpoints over HTTP', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await startTestApi();
    key = api.keys.test;
  });
  after(() => api.stop());

  const { create, put, read, remove, sql } = endpointCallsOf(() => api);

  it('shows the secret once and keeps it sealed', async () => {
    const { status, body } = await create({
      url: URL_OK,
      events: ['deposit.completed'],
      description: 'shop',
    });
    expect(status).to.equal(201);
    const { secret, ...shown } = body;
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).to.include({
      url: URL_OK,
      description: 'shop',
      enabled: true,
      is_live: false,
      secret_hint: secret.slice(-4),
      disabled_reason: null,
    });
    expect(shown['events']).to.deep.equal(['deposit.completed']);
    expect((await read(body['id'])).body).to.deep.equal(shown);
    const list = await call(`${api.url}/webhook-endpoints`, { key });
    expect(list.body['data']).to.deep.equal([shown]);
    const [row] = await sql('select secret_sealed from webhook_endpoints where id = ?', [body['id']]);
    const sealed = row?.['secret_sealed'] as Buffer;
    expect(sealed.includes(secret)).to.equal(false);
    expect(api.deps.secretBox.open(sealed, body['id'])).to.equal(secret);
    expect(() => api.deps.secretBox.open(sealed, UNKNOWN_ID)).to.throw();
  });

  it('takes one name, a list, "*" and the alias, and drops repeats', async () => {
    const names = async (body: object) => (await create({ url: URL_OK, ...body })).body['events'];
    expect(await names({ events: '*' })).to.deep.equal(['*']);
    expect(await names({ events: ['*'] })).to.deep.equal(['*']);
    expect(await names({ enabled_events: ['customer.created', 'customer.created'] })).to.deep.equal([
      'customer.created',
    ]);
    expect(await names({ events: [...EVENT_TYPES] })).to.deep.equal([...EVENT_TYPES]);
    expect(await names({ events: ['*'], enabled_events: '*' })).to.deep.equal(['*']);
  });

  it('refuses a list and an alias that differ, of which one would be passed over', async () => {
    const differing = { events: ['deposit.completed'], enabled_events: ['deposit.failed'] };
    const refused = await create({ url: URL_OK, ...differing });
    expect(refused.status).to.equal(400);
    expect(refused.body['details']).to.deep.equal([
      { path: 'enabled_events', message: 'must be the same as events' },
    ]);
    const { body } = await create({ url: URL_OK, events: ['deposit.completed'] });
    for (const enabled_events of [['deposit.failed'], 'nonsense']) {
      expect((await put(body['id'], { events: ['deposit.completed'], enabled_events })).status).to.equal(400);
    }
    expect((await read(body['id'])).body['events']).to.deep.equal(['deposit.completed']);
  });

  it('lists the valid names when one is unknown or none is given', async () => {
    for (const events of [
      [],
      ['deposit.done'],
      ['deposit.completed', 'x'],
      'all',
      ['webhook.test'],
      ['__proto__'],
    ]) {
      const answer = await create({ url: URL_OK, events });
      expect(answer.status).to.equal(400);
      for (const name of EVENT_TYPES) expect(answer.body['error']).to.contain(name);
    }
  });

  it('says which name is unknown, without letting it change the sentence', async () => {
    const told = async (events: unknown) => String((await create({ url: URL_OK, events })).body['error']);
    expect(await told(['deposit.completed', 'deposit.done'])).to.match(
      /^There is no event "deposit\.done"\. /,
    );
    expect(await told(['a', 'b', 'c', 'd', 'e'])).to.match(/^There is no event "a", "b", "c" and 2 more\. /);
    expect(await told(`\u202e\n"x${'y'.repeat(80)}`)).to.match(/^There is no event "\?\?\?xy{36}…"\. /);
    expect(await told([])).to.not.contain('There is no event');
  });

  it('names the URL and the events where both are wrong, when it is made and when it is changed', async () => {
    const wrong = { url: 'http://10.0.0.1/', events: ['nonsense'] };
    const { body: made } = await create({ url: URL_OK, events: '*' });
    for (const { status, body } of [await create(wrong), await put(made['id'], wrong)]) {
      expect(status).to.equal(400);
      expect(body['details'].map(({ path }: { path: string }) => path)).to.have.members(['url', 'events']);
      expect(body['error'])
        .to.contain('"nonsense"')
        .and.to.match(/public|address/i);
    }
  });

  const bad: Record<string, object> = {
    'no url': { events: '*' },
    'no events': { url: URL_OK },
    'a number as url': { url: 1, events: '*' },
    'a url over 2048 characters': { url: `http://127.0.0.1/${'x'.repeat(2048)}`, events: '*' },
    'a url that percent-encoding makes too long': {
      url: `http://127.0.0.1/${'é'.repeat(1000)}`,
      events: '*',
    },
    'no scheme': { url: '127.0.0.1/hook', events: '*' },
    'another scheme': { url: 'ftp://127.0.0.1/', events: '*' },
    'user information': { url: 'http://a:b@127.0.0.1/', events: '*' },
    'a fragment': { url: 'http://127.0.0.1/#a', events: '*' },
    'port 0': { url: 'http://127.0.0.1:0/', events: '*' },
    'a private address': { url: 'http://10.0.0.1/', events: '*' },
    'the metadata address': { url: 'http://169.254.169.254/latest', events: '*' },
    'an address in another spelling': { url: 'http://0x0a000001/', events: '*' },
    'events that are no names': { url: URL_OK, events: [1] },
    'an object as events': { url: URL_OK, events: { a: 1 } },
    'very many events': { url: URL_OK, events: Array.from({ length: 51 }, () => '*') },
    'a description of 501 characters': { url: URL_OK, events: '*', description: 'x'.repeat(501) },
    'a number as description': { url: URL_OK, events: '*', description: 1 },
  };
  for (const [name, body] of Object.entries(bad)) {
    it(`answers 400 for ${name}`, async () => {
      const before = await sql('select count(*)::int as n from webhook_endpoints');
      const answer = await create(body);
      expect([answer.status, answer.body['code']], answer.text).to.deep.equal([400, 'VALIDATION_ERROR']);
      expect(await sql('select count(*)::int as n from webhook_endpoints')).to.deep.equal(before);
    });
  }

  it('lets only https to public hosts through where the operator opened nothing', async () => {
    const closed = await startTestApi({
      settings: { webhookTarget: { allowHttp: false, allowedCidrs: [] } },
    });
    try {
      const status = async (url: string) =>
        (await call(`${closed.url}/webhook-endpoints`, { key: closed.keys.live, body: { url, events: '*' } }))
          .status;
      for (const url of [
        'http://93.184.215.14/',
        'https://127.0.0.1/',
        'https://localhost/',
        'https://[::1]/',
        'https://[::ffff:10.0.0.1]/',
        'https://2130706433/',
      ]) {
        expect(await status(url), url).to.equal(400);
      }
      expect(await status('https://93.184.215.14/hook')).to.equal(201);
    } finally {
      await closed.stop();
    }
  });

  it('changes what is given and nothing else', async () => {
    const { body } = await create({ url: URL_OK, events: ['deposit.completed'], description: 'a' });
    const { secret: _secret, ...before } = body;
    expect((await put(body['id'], {})).body).to.deep.equal({
      ...before,
      updated_at: (await read(body['id'])).body['updated_at'],
    });
    const changed = await put(body['id'], {
      url: 'http://127.0.0.1:10/x',
      events: '*',
      description: null,
      enabled: false,
    });
    expect(changed.body).to.include({ url: 'http://127.0.0.1:10/x', description: null, enabled: false });
    expect(changed.body).to.not.have.property('secret');
    expect((await put(body['id'], { enabled_events: ['customer.created'] })).body['events']).to.deep.equal([
      'customer.created',
    ]);
    for (const wrong of [
      { enabled: 'yes' },
      { events: [] },
      { url: 'x' },
      { rotate_secret: 'true' },
      { url: null },
      { events: null },
    ]) {
      expect((await put(body['id'], wrong)).status, JSON.stringify(wrong)).to.equal(400);
    }
    expect((await read(body['id'])).body).to.include({ url: 'http://127.0.0.1:10/x', enabled: false });
  });

  it('clears what disabled an endpoint when it is enabled again', async () => {
    const { body } = await create({ url: URL_OK, events: '*' });
    await sql(
      `update webhook_endpoints set enabled = false, disabled_reason = 'gone', consecutive_failures = 9,
        gone_count = 3, gone_since = now(), failing_since = now() where id = ?`,
      [body['id']],
    );
    expect((await read(body['id'])).body).to.include({
      enabled: false,
      disabled_reason: 'gone',
      consecutive_failures: 9,
    });
    expect((await put(body['id'], { enabled: true })).body).to.include({
      enabled: true,
      disabled_reason: null,
      consecutive_failures: 0,
    });
    const [row] = await sql(
      'select gone_count, gone_since, failing_since from webhook_endpoints where id = ?',
      [body['id']],
    );
    expect(row).to.deep.equal({ gone_count: 0, gone_since: null, failing_since: null });
  });

  it('rotates the secret and keeps the old one sealed beside it for 24 hours', async () => {
    const { body } = await create({ url: URL_OK, events: '*' });
    const rotated = await put(body['id'], { rotate_secret: true });
    expect(rotated.body['secret'])
      .to.match(/^whsec_/)
      .and.not.equal(body['secret']);
    expect(rotated.body['secret_hint']).to.equal(rotated.body['secret'].slice(-4));
    const [row] = await sql('select secret_sealed, earlier_secrets from webhook_endpoints where id = ?', [
      body['id'],
    ]);
    const [earlier, ...more] = (row?.['earlier_secrets'] ?? []) as { sealed: string; until: string }[];
    const open = (sealed: Buffer) => api.deps.secretBox.open(sealed, body['id']);
    expect(open(row?.['secret_sealed'] as Buffer)).to.equal(rotated.body['secret']);
    expect(open(Buffer.from(earlier?.sealed ?? '', 'base64'))).to.equal(body['secret']);
    expect(more).to.deep.equal([]);
    const hours = (Date.parse(earlier?.until ?? '') - Date.now()) / 3_600_000;
    expect(hours).to.be.within(23.9, 24);
    expect((await put(body['id'], { rotate_secret: false })).body).to.not.have.property('secret');
  });

  it('deletes for good: nothing is found, changed or sent any more, and a second time is a 404', async () => {
    const { body } = await create({ url: URL_OK, events: '*' });
    expect((await remove(body['id'])).body).to.deep.equal({ id: body['id'], deleted: true });
    for (const answer of [
      await remove(body['id']),
      await read(body['id']),
      await put(body['id'], { enabled: true }),
    ]) {
      expect(answer.status).to.equal(404);
    }
    expect((await call(`${api.url}/webhook-endpoints/${body['id']}/deliveries`, { key })).status).to.equal(
      404,
    );
    expect(
      (await call(`${api.url}/webhook-endpoints/${body['id']}/test`, { key, method: 'POST' })).status,
    ).to.equal(404);
    const made = await call(`${api.url}/customers`, { key, body: { external_id: 'after-delete' } });
    const sent = await sql(
      `select d.id from webhook_deliveries d join events e on e.id = d.event_id
        where e.subject_id = ? and d.endpoint_id = ?`,
      [made.body['id'], body['id']],
    );
    expect(sent).to.deep.equal([]);
  });

  it('refuses the 51st endpoint of a merchant and mode, also of 60 at once, and gives the place of a deleted one away', async () => {
    const { keys } = await api.newMerchant();
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => create({ url: URL_OK, events: '*' }, keys.live)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(50);
    expect(answers.filter(({ status }) => status === 400)).to.have.length(10);
    expect((await create({ url: URL_OK, events: '*' }, keys.test)).status).to.equal(201);
    const one = answers.find(({ status }) => status === 201);
    await remove(one?.body['id'], keys.live);
    expect((await create({ url: URL_OK, events: '*' }, keys.live)).status).to.equal(201);
  });
});
