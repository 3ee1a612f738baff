import { expect } from 'chai';
import { z } from 'zod';
import { ignoredParameters } from '../../../src/api/requests/ignored.ts';
import { depositQuery } from '../../../src/contract/deposit.ts';
import { apiOf, call } from '../../support/gateway.ts';

const of = (...names: string[]) =>
  ignoredParameters(depositQuery, Object.fromEntries(names.map((name) => [name, ''])));

describe('query parameters that a route does not know', () => {
  const api = apiOf();

  const told = async (path: string, body?: object) => {
    const answer = await call(`${api.url}${path}`, { key: api.keys.test, ...(body ? { body } : {}) });
    return [answer.status, answer.headers.get('X-Ignored-Parameters')];
  };

  it('are named by the answer, each with the one that was meant, and change nothing else', async () => {
    expect(await told('/deposits?adress=0x1&foo=1')).to.deep.equal([
      200,
      'adress (did you mean address?), foo',
    ]);
    expect(await told('/deposits?limit=5')).to.deep.equal([200, null]);
    expect(await told('/deposits')).to.deep.equal([200, null]);
    expect(await told('/balance?curency=USDT')).to.deep.equal([200, 'curency']);
    expect(await told('/customers?mode=test', { external_id: 'a', unknown: 1 })).to.deep.equal([201, 'mode']);
  });

  it('are named by a refusal as well, and by an answer that is given again', async () => {
    expect(await told('/deposits?limit=0&stauts=failed')).to.deep.equal([
      400,
      'stauts (did you mean status?)',
    ]);
    expect(await told('/deposits/none?x=1')).to.deep.equal([404, 'x']);
    const headers = { 'Idempotency-Key': 'again' };
    for (const replayed of [null, 'true']) {
      const body = { external_id: 'once' };
      const answer = await call(`${api.url}/customers?y=1`, { key: api.keys.test, headers, body });
      expect([answer.headers.get('Idempotency-Replayed'), answer.headers.get('X-Ignored-Parameters')])
        .to.deep //
        .equal([replayed, 'y']);
    }
    const nobody = await call(`${api.url}/deposits?foo=1`);
    expect([nobody.status, nobody.headers.get('X-Ignored-Parameters')]).to.deep.equal([401, null]);
  });

  it('are found in another style, by a slip or two, or by words that only one name has', () => {
    const meant: [string, string | undefined][] = [
      ['customerId', 'customer_id'],
      ['Transaction-Hash', 'transaction_hash'],
      ['email[]', 'email'],
      ['emial', 'email'],
      ['LIMIT', 'limit'],
      ['mail', 'email'],
      ['hash', 'transaction_hash'],
      ['from', 'created_from'],
      ['after', 'starting_after'],
      ...['size', 'ma', 'created', '_', 'id', 'action'].map((name): [string, undefined] => [name, undefined]),
    ];
    for (const [name, one] of meant) {
      const value = of(name) ?? '';
      expect(/did you mean (\w+)\?/.exec(value)?.[1], `${name}: ${value}`).to.equal(one);
    }
    expect(ignoredParameters(undefined, { a: '1' })).to.equal('a');
    expect(ignoredParameters(z.object({}), {})).to.equal(undefined);
  });

  it('stay harmless whatever they are called, and short', async () => {
    expect(of('a\r\nSet-Cookie: x=1')).to.equal('a%0D%0ASet-Cookie%3A%20x%3D1');
    expect(of("é'(,)<b>‮%\u007f")).to.equal('%C3%A9%27%28%2C%29%3Cb%3E%E2%80%AE%25%7F');
    expect(of('')).to.equal('(empty)');
    expect(of('__proto__x', 'constructor')).to.equal('__proto__x, constructor');
    expect(of('a'.repeat(1_000_000))).to.equal(`${'a'.repeat(64)}...`);
    const many = of(...Array.from({ length: 5_000 }, (_none, index) => `${'é'.repeat(50)}${index}`)) ?? '';
    expect(many).to.match(/, and 4990 more$/);
    expect(many.length).to.be.lessThan(1_000);
    for (const query of ['a%0D%0AEvil:%201=x', 'a%0aEvil=1', '%F0%9F%92%A9=1', '=1']) {
      const answer = await call(`${api.url}/deposits?${query}`, { key: api.keys.test });
      expect([answer.status, answer.headers.get('evil')], query).to.deep.equal([200, null]);
      expect(answer.headers.get('X-Ignored-Parameters')).to.match(/^[\x20-\x7e]+$/);
    }
    const names = Array.from({ length: 1_500 }, (_none, index) => `q${index}`).join('&');
    const answer = await call(`${api.url}/deposits?${names}&limit=0`, { key: api.keys.test });
    expect([answer.status, answer.body['details'][0].path]).to.deep.equal([400, 'limit']);
    expect(answer.headers.get('X-Ignored-Parameters')).to.match(/^q0, .*, and 1490 more$/);
  });
});
