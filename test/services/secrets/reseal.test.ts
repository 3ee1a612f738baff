import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint, updateEndpoint } from '../../../dev/support/use-cases.ts';
import { createSecretBox, type SecretBox } from '../../../src/base/secret-box.ts';
import { User, WebhookEndpoint } from '../../../src/db/entities/index.ts';
import { getAddressPageLink } from '../../../src/services/address-pages/links.ts';
import { countLeft, resealSecrets } from '../../../src/services/secrets/reseal.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

/** More than two pages. */
const USERS = 410;

/** A new SECRETS_KEY: what the older one sealed is sealed anew, until the older one can be taken away. */
describe('secrets under an older key', function () {
  this.timeout(60_000);
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const between = createSecretBox(newer, older);
  const present = createSecretBox(newer);
  let api: TestApi;
  let endpointId: string;
  let secrets: readonly string[];
  const customer = { external_id: 'user-1', email: null };
  const userIds: string[] = [];
  let customerId: string;
  let pageToken: string;

  const scope = () => ({ merchantId: api.merchant.id, mode: 'live' as const });
  const register = () =>
    createEndpoint(api.deps, { ...scope(), url: 'http://127.0.0.1:1/', events: ['*'], description: null });

  before(async () => {
    api = await startTestApi({ deps: { secretBox: createSecretBox(older) } });
    const { deps } = api;
    const made = await register();
    const changed = await updateEndpoint(deps, { ...scope(), id: made.id, rotateSecret: true });
    endpointId = made.id;
    secrets = [changed.secret ?? '', made.secret];
    const once = { key: api.keys.live, headers: { 'Idempotency-Key': 'key-1' } };
    const first = await call(`${api.url}/customers`, { ...once, body: customer });
    expect(first.status).to.equal(201);
    customerId = first.body['id'];
    pageToken = await tokenUnder(createSecretBox(older));
    const em = deps.orm.em.fork();
    for (let index = 0; index < USERS; index += 1) {
      const id = deps.newId();
      userIds.push(id);
      em.create(User, {
        id,
        merchantId: api.merchant.id,
        email: `user-${index}@shop.test`,
        passwordHash: 'x',
        totpLastStep: null,
        lastLoginAt: null,
        totpSealed: deps.secretBox.seal(`totp-${index}`, id),
        createdAt: deps.now(),
        updatedAt: deps.now(),
      });
    }
    await em.flush();
  });
  after(() => api?.stop());

  const under = (secretBox: SecretBox) => ({ ...api.deps, secretBox });
  const tokenUnder = async (box: SecretBox) =>
    (await getAddressPageLink(under(box), { ...scope(), id: customerId, publicUrl: '' })).token;

  it('are all sealed under the present one, by workers that do it at the same time, and once', async () => {
    expect(await countLeft(under(between))).to.equal(USERS + 3);
    const turns = await Promise.all([resealSecrets(under(between)), resealSecrets(under(between))]);
    await resealSecrets(under(between));
    expect(turns.reduce((sum, { resealed }) => sum + resealed, 0)).to.be.at.most(USERS + 3);
    expect(await countLeft(under(between))).to.equal(0);
    expect(await resealSecrets(under(between))).to.deep.equal({ resealed: 0, unopened: 0 });
    expect(
      api.lines.filter((line) => /nothing is left under SECRETS_KEY_PREVIOUS/.test(line.text)),
    ).to.not.have.length(0);
  });

  it('open with the present key alone afterwards, each with what it held', async () => {
    const em = api.deps.orm.em.fork();
    const endpoint = await em.findOneOrFail(WebhookEndpoint, endpointId);
    const earlier = endpoint.earlierSecrets.map(({ sealed }) =>
      present.open(Buffer.from(sealed, 'base64'), endpointId),
    );
    expect([present.open(endpoint.secretSealed, endpointId), ...earlier]).to.deep.equal(secrets);
    const users = await em.find(User, { id: { $in: userIds } });
    const held = new Map(
      users.map(({ id, totpSealed }) => [id, present.open(totpSealed ?? Buffer.alloc(0), id)]),
    );
    expect(userIds.map((id) => held.get(id))).to.deep.equal(userIds.map((_, index) => `totp-${index}`));
    const rows = await em.execute<{ id: string; body_sealed: Buffer }[]>(
      'select id, body_sealed from idempotency_answers',
    );
    const opened = rows.map((row) => JSON.parse(present.open(row.body_sealed, row.id)).external_id);
    expect(opened).to.deep.equal(['user-1']);
    expect(await tokenUnder(present)).to.equal(pageToken);
  });

  it('stay where neither key opens them, and are named', async () => {
    const [id = ''] = userIds;
    const strange = createSecretBox(randomBytes(32)).seal('lost', id);
    await api.deps.orm.em.fork().execute('update users set totp_sealed = ? where id = ?', [strange, id]);
    expect(await resealSecrets(under(between))).to.deep.equal({ resealed: 0, unopened: 1 });
    expect(await countLeft(under(between))).to.equal(1);
    expect(api.lines.filter((line) => /opens with neither key/.test(line.text))).to.have.length(1);
  });
});
