import { expect } from 'chai';
import {
  allowNetwork,
  disallowNetwork,
  MAX_ALLOWED_NETWORKS,
} from '../../../src/services/access/allowlist.ts';
import { apiOf, type TestMerchant } from '../../support/gateway.ts';
import { exchange, type RawAnswer } from '../../support/http/raw-http.ts';

/** Our proxy; anybody else on the loopback net is a stranger. */
const PROXY = '127.0.0.9';
const OFFICE = '203.0.113.7';

describe('the allowlist of live keys', () => {
  const api = apiOf({ trustedProxies: [PROXY] });
  let merchant: TestMerchant;
  beforeEach(async () => {
    merchant = await api.newMerchant();
  });

  type From = { readonly from?: string; readonly headers?: readonly string[]; readonly key?: string };
  const ask = async ({
    from = '127.0.0.1',
    headers = [],
    key = merchant.keys.live,
  }: From): Promise<RawAnswer> => {
    const head = [
      'GET /api/v1/customers HTTP/1.1',
      'Host: x',
      `x-api-key: ${key}`,
      ...headers,
      'Connection: close',
    ];
    const [answer] = await exchange(api.origin, `${head.join('\r\n')}\r\n\r\n`, { from });
    if (!answer) throw new Error('no answer');
    return answer;
  };
  const expectClosed = async (input: From) => {
    const { status, body } = await ask(input);
    expect([status, body['code']], JSON.stringify(input)).to.deep.equal([403, 'IP_NOT_ALLOWED']);
  };
  const expectOpen = async (input: From) =>
    expect((await ask(input)).status, JSON.stringify(input)).to.equal(200);
  const allow = (network: string) => allowNetwork(api.deps, { merchantId: merchant.id, network });

  it('lets everybody in while it is empty, then only what it names, and is for live keys of its own merchant', async () => {
    await expectOpen({});
    await allow('192.0.2.0/24');
    await allow('127.0.0.0/30');
    await expectOpen({});
    await expectClosed({ from: '127.0.0.4' });
    for (const key of [merchant.keys.test, api.keys.live]) await expectOpen({ from: '127.0.0.4', key });
    for (const network of ['127.0.0.0/30', '192.0.2.0/24'])
      await disallowNetwork(api.deps, { merchantId: merchant.id, network });
    await expectOpen({ from: '127.0.0.4' });
  });

  it('goes by the address that a trusted proxy appended, and believes no header of a stranger', async () => {
    await allow(OFFICE);
    const forwarded = (value: string) => ({ headers: [`X-Forwarded-For: ${value}`] });
    await expectClosed(forwarded(OFFICE));
    await expectOpen({ from: PROXY, ...forwarded(`198.51.100.1, ${OFFICE}`) });
    await expectClosed({ from: PROXY, ...forwarded(`${OFFICE}, 198.51.100.1`) });
  });

  it('holds a limited number of networks, however many are added at once', async () => {
    const added = await Promise.allSettled(
      Array.from({ length: MAX_ALLOWED_NETWORKS + 20 }, (_, index) => allow(`198.18.${index}.0/24`)),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).to.have.length(MAX_ALLOWED_NETWORKS);
  });
});
