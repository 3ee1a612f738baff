import { expect } from 'chai';
import {
  allowNetwork,
  disallowNetwork,
  MAX_ALLOWED_NETWORKS,
} from '../../../src/services/access/allowlist.ts';
import { startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { exchange, type RawAnswer } from '../../support/http/raw-http.ts';

/** 127.0.0.9 and 127.9.0.0/16 are our proxies; anybody else on the loopback net is a stranger. */
const PROXY = '127.0.0.9';
const OFFICE = '203.0.113.7';

describe('the allowlist of live keys', () => {
  let api: TestApi;
  let merchant: TestMerchant;
  before(async () => {
    api = await startTestApi({ trustedProxies: [PROXY, '127.9.0.0/16'] });
  });
  after(() => api.stop());
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
  const expectClosed = async (input: From, name = JSON.stringify(input)) => {
    const { status, body } = await ask(input);
    expect([status, body['code']], name).to.deep.equal([403, 'IP_NOT_ALLOWED']);
  };
  const expectOpen = async (input: From, name = JSON.stringify(input)) =>
    expect((await ask(input)).status, name).to.equal(200);
  const allow = (network: string) => allowNetwork(api.deps, { merchantId: merchant.id, network });

  it('lets everybody in while it is empty, then only what it names, and everybody again when the last one is gone', async () => {
    await expectOpen({});
    await allow('127.0.0.2');
    await expectClosed({});
    await expectOpen({ from: '127.0.0.2' });
    await allow('127.0.0.0/30');
    await expectOpen({});
    await expectClosed({ from: '127.0.0.4' });
    await disallowNetwork(api.deps, { merchantId: merchant.id, network: '127.0.0.0/30' });
    await expectClosed({});
    await disallowNetwork(api.deps, { merchantId: merchant.id, network: '127.0.0.2' });
    await expectOpen({});
  });

  it('is for live keys of its own merchant only', async () => {
    await allow('192.0.2.0/24');
    await expectClosed({});
    await expectOpen({ key: merchant.keys.test });
    await expectOpen({ key: api.keys.live });
  });

  it('comes after a bad key and before the subscription', async () => {
    await allow('192.0.2.0/24');
    expect((await ask({ key: `${merchant.keys.live}x` })).status).to.equal(401);
    await api.deps.orm.em
      .fork()
      .execute('update merchants set subscription_active = false where id = ?', [merchant.id]);
    await expectClosed({});
    await expectOpen({ key: api.keys.live });
  });

  it('believes no header of a stranger', async () => {
    await allow(OFFICE);
    const names = [
      'X-Forwarded-For',
      'X-Real-IP',
      'CF-Connecting-IP',
      'True-Client-IP',
      'X-Client-IP',
      'X-Cluster-Client-IP',
      'Fastly-Client-IP',
      'X-Originating-IP',
      'X-Remote-IP',
      'X-Remote-Addr',
      'Client-IP',
      'X-ProxyUser-Ip',
      'X-Forwarded',
      'Forwarded-For',
      'Forwarded',
      'Via',
      'Host',
    ];
    for (const name of names.filter((header) => header !== 'Host')) {
      for (const value of [OFFICE, `for=${OFFICE}`, `${OFFICE}, ${OFFICE}`, `::ffff:${OFFICE}`])
        await expectClosed({ headers: [`${name}: ${value}`] });
    }
    await expectClosed({
      headers: names.filter((header) => header !== 'Host').map((name) => `${name}: ${OFFICE}`),
    });
  });

  it('takes from a trusted proxy the one hop that it appended', async () => {
    await allow(OFFICE);
    await allow('2001:db8::/32');
    const forwarded: readonly [string, boolean][] = [
      [OFFICE, true],
      [`198.51.100.1, ${OFFICE}`, true],
      [`${OFFICE}, 127.9.1.1`, true],
      [`::ffff:${OFFICE}`, true],
      [`${OFFICE}:4711`, true],
      ['2001:db8::77', true],
      ['[2001:db8::77]:443', true],
      [`${OFFICE}, 198.51.100.1`, false],
      [`${OFFICE}, ${OFFICE}, 198.51.100.1, 127.9.1.1`, false],
      [`${OFFICE}, unknown`, false],
      [`${OFFICE}, `, false],
      [`unknown, 127.9.1.1`, false],
      [`2001:db9::1`, false],
      ['', false],
    ];
    for (const [value, open] of forwarded) {
      await (open ? expectOpen : expectClosed)(
        { from: PROXY, headers: [`X-Forwarded-For: ${value}`] },
        value,
      );
    }
    await expectClosed({ from: PROXY });
    await expectClosed({ from: PROXY, headers: [`X-Real-IP: ${OFFICE}`, `Forwarded: for=${OFFICE}`] });
    await expectOpen(
      { from: PROXY, headers: ['X-Forwarded-For: 198.51.100.1', `X-Forwarded-For: ${OFFICE}`] },
      'two lines',
    );
    await expectClosed(
      { from: PROXY, headers: [`X-Forwarded-For: ${OFFICE}`, 'X-Forwarded-For: 198.51.100.1'] },
      'two lines, the other way',
    );
  });

  it('holds a limited number of networks, however many are added at once', async () => {
    const added = await Promise.allSettled(
      Array.from({ length: MAX_ALLOWED_NETWORKS + 20 }, (_, index) => allow(`198.18.${index}.0/24`)),
    );
    expect(added.filter(({ status }) => status === 'fulfilled')).to.have.length(MAX_ALLOWED_NETWORKS);
    await expectClosed({});
  });
});
