import { expect } from 'chai';
import { createEndpoint, updateEndpoint } from '../../../dev/support/use-cases.ts';
import type { Lookup } from '../../../src/services/webhooks/http/lookup.ts';
import type { EndpointDeps } from '../../../src/services/webhooks/permit.ts';
import { startTestApi, type TestApi, testSettings } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';

const PUBLIC: Lookup = async () => ['93.184.215.14'];

describe('saving a webhook endpoint', function () {
  this.timeout(20_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const scope = () => ({ merchantId: api.merchant.id, mode: 'live' as const });
  const closed = (lookup: Lookup, allowHttp = false): EndpointDeps => ({
    ...api.deps,
    settings: testSettings({ webhookTarget: { allowHttp, allowedCidrs: [] } }),
    lookup,
  });
  const save = (lookup: Lookup, url = 'https://hooks.shop.example/x', allowHttp = false) =>
    createEndpoint(closed(lookup, allowHttp), { ...scope(), url, events: ['*'], description: null });
  const rows = () =>
    api.deps.orm.em
      .fork()
      .execute<{ id: string; url: string; secret_sealed: Buffer; earlier_secrets: { sealed: string }[] }[]>(
        'select id, url, secret_sealed, earlier_secrets from webhook_endpoints order by id',
      );

  it('takes a name with public addresses, and stores the URL as it will be called', async () => {
    const { url } = await save(PUBLIC, 'https://HOOKS.shop.example:443/a/../b?c=ü');
    expect(url).to.equal('https://hooks.shop.example/b?c=%C3%BC');
  });

  it('refuses a name of which one answer is private, and leaves an endpoint as it was', async () => {
    const mixed: Lookup = async () => ['93.184.215.14', '10.0.0.1'];
    const made = await save(PUBLIC);
    const before = await rows();
    const change = { ...scope(), id: made.id, url: 'https://evil.example/', rotateSecret: true };
    for (const refusal of [
      await refusalOf(save(mixed)),
      await refusalOf(updateEndpoint(closed(mixed), change)),
    ]) {
      expect([refusal.code, refusal.field]).to.deep.equal(['INVALID', 'url']);
      expect(refusal.message).not.to.contain('10.0.0.1');
    }
    expect(await rows()).to.deep.equal(before);
  });

  it('gives each of two rotations at once a secret of its own, ends with the last one, and keeps every other for its time', async () => {
    const { id, secret } = await save(PUBLIC);
    const rotate = () => updateEndpoint(api.deps, { ...scope(), id, rotateSecret: true });
    const [a, b] = await Promise.all([rotate(), rotate()]);
    const row = (await rows()).find((one) => one.id === id) ?? expect.fail('the endpoint is gone');
    const open = (sealed: Buffer) => api.deps.secretBox.open(sealed, id);
    const earlier = row.earlier_secrets.map(({ sealed }) => open(Buffer.from(sealed, 'base64')));
    expect([open(row.secret_sealed), earlier[0]].sort()).to.deep.equal([a.secret, b.secret].sort());
    expect(earlier.slice(1)).to.deep.equal([secret]);
  });
});
