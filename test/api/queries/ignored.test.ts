import { expect } from 'chai';
import { ignoredParameters } from '../../../src/api/requests/ignored.ts';
import { depositQuery } from '../../../src/contract/deposit.ts';
import { apiOf, call } from '../../support/gateway.ts';

const of = (...names: string[]) =>
  ignoredParameters(depositQuery, Object.fromEntries(names.map((name) => [name, ''])));

describe('query parameters that a route does not know', () => {
  const api = apiOf();

  const told = async (path: string) => {
    const answer = await call(`${api.url}${path}`, { key: api.keys.test });
    return [answer.status, answer.headers.get('X-Ignored-Parameters')];
  };

  it('are named by the answer, each with the one that was meant, and change nothing else', async () => {
    expect(await told('/deposits?adress=0x1&foo=1')).to.deep.equal([
      200,
      'adress (did you mean address?), foo',
    ]);
    expect(await told('/deposits?limit=5')).to.deep.equal([200, null]);
  });

  it('stay harmless whatever they are called, and short', async () => {
    expect(of('a\r\nSet-Cookie: x=1')).to.equal('a%0D%0ASet-Cookie%3A%20x%3D1');
    expect(of('a'.repeat(1_000_000))).to.equal(`${'a'.repeat(64)}...`);
    const many = of(...Array.from({ length: 5_000 }, (_none, index) => `${'é'.repeat(50)}${index}`)) ?? '';
    expect(many).to.match(/, and 4990 more$/);
    expect(many.length).to.be.lessThan(1_000);
    expect(await told('/deposits?a%0D%0AEvil:%201=x')).to.deep.equal([200, 'a%0D%0AEvil%3A%201']);
  });
});
