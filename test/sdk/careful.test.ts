import { expect } from 'chai';
import { type ClientOptions, createClient } from '../../packages/sdk/src/client.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';

describe('the care that the client takes', function () {
  this.timeout(30_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());
  const clientOf = (more: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: api.url, apiKey: api.keys.test, ...more });

  it('says once which parameters the gateway ignored', async () => {
    const client = clientOf();
    const [said, { warn }] = [[] as string[], console];
    console.warn = (text: string) => said.push(text);
    try {
      const misspelt = { exernal_id: 'user-1' } as { external_id?: string };
      for (let time = 0; time < 2; time += 1) await client.customers.list(misspelt);
    } finally {
      console.warn = warn;
    }
    expect(said).to.deep.equal([
      'deposit-gateway-sdk: /customers: the gateway ignored exernal_id (did you mean external_id?)',
    ]);
  });

  it('refuses a live key in a page of a browser', () => {
    Object.assign(globalThis, { document: {} });
    try {
      expect(() => clientOf({ apiKey: api.keys.live })).to.throw(TypeError, 'never reach a browser');
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
    expect(() => clientOf({ apiKey: api.keys.live })).not.to.throw();
  });
});
