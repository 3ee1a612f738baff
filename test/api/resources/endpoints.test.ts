import { expect } from 'chai';
import { EVENT_TYPES } from '../../../src/domain/events.ts';
import { apiOf, call, startTestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { endpointCallsOf } from './endpoint-calls.ts';

const URL_OK = 'http://127.0.0.1:9/hook';

describe('webhook endpoints over HTTP', () => {
  const api = apiOf();
  let key: string;
  before(async () => {
    key = api.keys.test;
  });

  const { create, put, read, remove, sql } = endpointCallsOf(() => api);

  it('shows the secret once and keeps it sealed', async () => {
    const given = { url: URL_OK, events: ['deposit.completed'], description: 'shop' };
    const { status, body } = await create(given);
    expect(status).to.equal(201);
    const { secret, ...shown } = body;
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const state = { enabled: true, is_live: false, disabled_reason: null };
    expect(shown).to.deep.include({ ...given, ...state, secret_hint: secret.slice(-4) });
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

  it('lists the valid names when one is unknown or none is given', async () => {
    for (const events of [[], ['deposit.completed', 'x'], 'all', ['webhook.test'], ['__proto__']]) {
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

  it('answers 400 for what cannot be, and makes nothing', async () => {
    const urls = [
      1,
      `http://127.0.0.1/${'x'.repeat(2048)}`,
      `http://127.0.0.1/${'é'.repeat(1000)}`,
      '127.0.0.1/hook',
      ...'ftp://127.0.0.1/ http://a:b@127.0.0.1/ http://127.0.0.1/#a http://127.0.0.1:0/'.split(' '),
      'http://10.0.0.1/',
      'http://169.254.169.254/latest',
      'http://0x0a000001/',
      undefined,
    ];
    const events = [undefined, [1], { a: 1 }, Array.from({ length: 51 }, () => '*')];
    const before = await sql('select count(*)::int as n from webhook_endpoints');
    for (const body of [
      ...urls.map((url) => ({ url, events: '*' })),
      ...events.map((one) => ({ url: URL_OK, events: one })),
      ...['x'.repeat(501), 1].map((description) => ({ url: URL_OK, events: '*', description })),
    ]) {
      const answer = await create(body);
      const told = [answer.status, answer.body['code']];
      expect(told, `${JSON.stringify(body)} ${answer.text}`).to.deep.equal([400, 'VALIDATION_ERROR']);
    }
    expect(await sql('select count(*)::int as n from webhook_endpoints')).to.deep.equal(before);
  });

  it('lets only https to public hosts through where the operator opened nothing', async () => {
    const closed = await startTestApi({
      settings: { webhookTarget: { allowHttp: false, allowedCidrs: [] } },
    });
    const make = async (url: string) =>
      (await call(`${closed.url}/webhook-endpoints`, { key: closed.keys.live, body: { url, events: '*' } }))
        .status;
    for (const url of [
      'http://93.184.215.14/',
      'https://127.0.0.1/',
      'https://localhost/',
      'https://2130706433/',
    ])
      expect(await make(url), url).to.equal(400);
    expect(await make('https://93.184.215.14/hook')).to.equal(201);
    await closed.stop();
  });

  it('changes what is given and nothing else', async () => {
    const { body } = await create({ url: URL_OK, events: ['deposit.completed'], description: 'a' });
    const { secret: _secret, ...before } = body;
    const { updated_at } = (await read(body['id'])).body;
    expect((await put(body['id'], {})).body).to.deep.equal({ ...before, updated_at });
    const change = { url: 'http://127.0.0.1:10/x', description: null, enabled: false };
    const changed = await put(body['id'], { ...change, enabled_events: ['customer.created'] });
    expect(changed.body).to.deep.include({ ...change, events: ['customer.created'] });
    expect(changed.body).to.not.have.property('secret');
    const differing = { events: ['deposit.completed'], enabled_events: ['deposit.failed'] };
    const wrongs = [
      { enabled: 'yes' },
      { events: [] },
      { url: 'x' },
      { rotate_secret: 'true' },
      { url: null },
    ];
    for (const wrong of [...wrongs, { events: null }, differing])
      expect((await put(body['id'], wrong)).status, JSON.stringify(wrong)).to.equal(400);
    expect((await read(body['id'])).body).to.include(change);
  });

  it('clears what disabled an endpoint when it is enabled again', async () => {
    const { id } = (await create({ url: URL_OK, events: '*' })).body;
    await sql(
      `update webhook_endpoints set enabled = false, disabled_reason = 'gone', consecutive_failures = 9,
        gone_count = 3, gone_since = now(), failing_since = now() where id = ?`,
      [id],
    );
    const off = { enabled: false, disabled_reason: 'gone', consecutive_failures: 9 };
    expect((await read(id)).body).to.include(off);
    const on = { enabled: true, disabled_reason: null, consecutive_failures: 0 };
    expect((await put(id, { enabled: true })).body).to.include(on);
    const marks = await sql(
      'select gone_count, gone_since, failing_since from webhook_endpoints where id = ?',
      [id],
    );
    expect(marks).to.deep.equal([{ gone_count: 0, gone_since: null, failing_since: null }]);
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
    const { updated_at: at } = rotated.body;
    expect(Date.parse(earlier?.until ?? '') - Date.parse(at), 'in seconds').to.be.within(
      86_400_000,
      86_401_000,
    );
    expect((await put(body['id'], { rotate_secret: false })).body).to.not.have.property('secret');
  });

  it('deletes for good: nothing is found, changed or sent any more, and a second time is a 404', async () => {
    const { id } = (await create({ url: URL_OK, events: '*' })).body;
    expect((await remove(id)).body).to.deep.equal({ id, deleted: true });
    const at = `${api.url}/webhook-endpoints/${id}`;
    const answers = [
      await remove(id),
      await read(id),
      await put(id, { enabled: true }),
      await call(`${at}/deliveries`, { key }),
      await call(`${at}/test`, { key, method: 'POST' }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(5).fill(404));
    await call(`${api.url}/customers`, { key, body: { external_id: 'after-delete' } });
    expect(await sql('select id from webhook_deliveries where endpoint_id = ?', [id])).to.deep.equal([]);
  });

  it('refuses the 51st endpoint of a merchant and mode, also of 55 at once, and gives the place of a deleted one away', async () => {
    const { keys } = await api.newMerchant();
    const answers = await Promise.all(
      Array.from({ length: 55 }, () => create({ url: URL_OK, events: '*' }, keys.live)),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.length(50);
    expect(answers.filter(({ status }) => status === 400)).to.have.length(5);
    expect((await create({ url: URL_OK, events: '*' }, keys.test)).status).to.equal(201);
    const one = answers.find(({ status }) => status === 201);
    await remove(one?.body['id'], keys.live);
    expect((await create({ url: URL_OK, events: '*' }, keys.live)).status).to.equal(201);
  });
});
