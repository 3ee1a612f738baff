import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startCanary } from '../../../dev/support/receiver.ts';
import { createEndpoint, updateEndpoint } from '../../../dev/support/use-cases.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import type { Lookup } from '../../../src/services/webhooks/http/lookup.ts';
import type { EndpointDeps } from '../../../src/services/webhooks/permit.ts';
import { startTestApi, type TestApi, testSettings } from '../../support/gateway.ts';

const HOSTILE: readonly string[] = JSON.parse(
  readFileSync(new URL('../../vectors/hostile-urls.json', import.meta.url), 'utf8'),
).urls.flatMap((group: { urls: string[] }) => group.urls);

describe('saving a webhook endpoint', function () {
  this.timeout(20_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const closed = testSettings({ webhookTarget: { allowHttp: false, allowedCidrs: [] } });
  const save = (lookup: Lookup, url = 'https://hooks.shop.example/x') => {
    const deps: EndpointDeps = { ...api.deps, settings: closed, lookup };
    return createEndpoint(deps, {
      merchantId: api.merchant.id,
      mode: 'live',
      url,
      events: ['*'],
      description: null,
    });
  };
  const refused = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Refusal);
    return error as Refusal;
  };

  it('takes a name with public addresses, and stores the URL as it will be called', async () => {
    expect(
      (await save(async () => ['93.184.215.14'], 'https://HOOKS.shop.example:443/a/../b?c=ü')).url,
    ).to.equal('https://hooks.shop.example/b?c=%C3%BC');
  });

  it('refuses a name of which one answer is private', async () => {
    const refusal = await refused(save(async () => ['93.184.215.14', '10.0.0.1']));
    expect([refusal.code, refusal.field]).to.deep.equal(['INVALID', 'url']);
    expect(refusal.message).not.to.contain('10.0.0.1');
  });

  it('takes a name that does not resolve yet, or not within 2 s', async () => {
    const startedAt = performance.now();
    expect(
      await save(async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))),
    ).to.have.property('secret');
    expect(await save(() => new Promise(() => undefined))).to.have.property('secret');
    expect(performance.now() - startedAt).to.be.at.least(1_900);
  });

  it('refuses each of the hostile URLs on create and on update, without a question or a connection', async () => {
    const canary = await startCanary();
    let asked = 0;
    const lookup: Lookup = async () => {
      asked += 1;
      return ['93.184.215.14'];
    };
    try {
      for (const allowHttp of [false, true]) {
        const settings = testSettings({ webhookTarget: { allowHttp, allowedCidrs: [] } });
        const deps: EndpointDeps = { ...api.deps, settings, lookup };
        const scope = { merchantId: api.merchant.id, mode: 'test' as const };
        const made = await createEndpoint(deps, {
          ...scope,
          url: 'https://hooks.shop.example/x',
          events: ['*'],
          description: null,
        });
        const rows = () =>
          api.deps.orm.em.fork().execute('select id, url, updated_at from webhook_endpoints order by id');
        const [askedBefore, rowsBefore] = [asked, await rows()];
        expect(HOSTILE.length).to.be.at.least(200);
        for (const template of HOSTILE) {
          const url = template.replaceAll('{port}', String(canary.port));
          const created = await refused(
            createEndpoint(deps, { ...scope, url, events: ['*'], description: null }),
          );
          const updated = await refused(
            updateEndpoint(deps, { ...scope, id: made.id, url, rotateSecret: true }),
          );
          for (const { code, field } of [created, updated])
            expect([code, field], url).to.deep.equal(['INVALID', 'url']);
        }
        expect(await rows()).to.deep.equal(rowsBefore);
        expect(asked).to.equal(askedBefore);
      }
      expect(canary.connections()).to.equal(0);
    } finally {
      await canary.stop();
    }
  });

  it('leaves the endpoint as it was when the new URL is refused', async () => {
    const made = await save(async () => ['93.184.215.14']);
    const deps: EndpointDeps = { ...api.deps, settings: closed, lookup: async () => ['127.0.0.1'] };
    const change = {
      merchantId: api.merchant.id,
      mode: 'live' as const,
      id: made.id,
      url: 'https://evil.example/',
      rotateSecret: true,
    };
    await refused(updateEndpoint(deps, change));
    const [row] = await api.deps.orm.em
      .fork()
      .execute<Record<string, unknown>[]>(
        'select url, secret_sealed, earlier_secrets from webhook_endpoints where id = ?',
        [made.id],
      );
    expect(row).to.deep.include({ url: made.url, earlier_secrets: [] });
    expect(api.deps.secretBox.open(row?.['secret_sealed'] as Buffer, made.id)).to.equal(made.secret);
  });

  it('gives each of two rotations at once a secret of its own, ends with the last one, and keeps every other for its time', async () => {
    const made = await save(async () => ['93.184.215.14']);
    const rotate = () =>
      updateEndpoint(api.deps, {
        merchantId: api.merchant.id,
        mode: 'live',
        id: made.id,
        rotateSecret: true,
      });
    const [a, b] = await Promise.all([rotate(), rotate()]);
    const [row] = await api.deps.orm.em
      .fork()
      .execute<{ secret_sealed: Buffer; earlier_secrets: { sealed: string }[] }[]>(
        'select secret_sealed, earlier_secrets from webhook_endpoints where id = ?',
        [made.id],
      );
    if (!row) throw new Error('the endpoint is gone');
    const open = (sealed: Buffer) => api.deps.secretBox.open(sealed, made.id);
    const earlier = row.earlier_secrets.map(({ sealed }) => open(Buffer.from(sealed, 'base64')));
    expect([open(row.secret_sealed), earlier[0]].sort()).to.deep.equal([a.secret, b.secret].sort());
    expect(earlier.slice(1)).to.deep.equal([made.secret]);
  });
});
