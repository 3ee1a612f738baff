import { expect } from 'chai';
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

  it('answers 400 for what cannot be, and makes nothing', async () => {
    const urls = [`http://127.0.0.1/${'x'.repeat(2048)}`, 'http://169.254.169.254/latest', undefined];
    const events = [undefined, [], ['deposit.completed', 'x'], Array(51).fill('*')];
    const before = await sql('select count(*)::int as n from webhook_endpoints');
    for (const body of [
      ...urls.map((url) => ({ url, events: '*' })),
      ...events.map((one) => ({ url: URL_OK, events: one })),
      { url: URL_OK, events: '*', description: 'x'.repeat(501) },
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
    for (const url of ['http://93.184.215.14/', 'https://127.0.0.1/', 'https://2130706433/'])
      expect(await make(url), url).to.equal(400);
    expect(await make('https://93.184.215.14/hook')).to.equal(201);
    await closed.stop();
  });

  it('changes what is given and nothing else', async () => {
    const { body } = await create({ url: URL_OK, events: ['deposit.completed'], description: 'a' });
    const { secret: _secret, ...before } = body;
    const { updated_at: _, ...after } = (await put(body['id'], {})).body;
    expect({ ...after, updated_at: before['updated_at'] }).to.deep.equal(before);
    const change = { url: 'http://127.0.0.1:10/x', description: null, enabled: false };
    const changed = await put(body['id'], { ...change, enabled_events: ['customer.created'] });
    expect(changed.body).to.deep.include({ ...change, events: ['customer.created'] });
    expect(changed.body).to.not.have.property('secret');
    for (const wrong of [{ enabled: 'yes' }, { events: [] }, { url: 'x' }, { rotate_secret: 'true' }])
      expect((await put(body['id'], wrong)).status, JSON.stringify(wrong)).to.equal(400);
    expect((await read(body['id'])).body).to.include(change);
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
