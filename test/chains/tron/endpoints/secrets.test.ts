import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { type Answer, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const KEY = 'e0b7/The+Key=of&the%operator';
const PATH_KEY = 'Path-Key-ABC';

/** Ways in which services repeat what they were sent. */
const FORMS: readonly [name: string, of: (secret: string) => string][] = [
  ['as it is', (secret) => secret],
  ['in capitals', (secret) => secret.toUpperCase()],
  ['in small letters', (secret) => secret.toLowerCase()],
  ['as a part of a URL', encodeURIComponent],
  ['as a part of a URL in small letters', (secret) => encodeURIComponent(secret).toLowerCase()],
  ['as a part of a URL in a URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in base64', (secret) => Buffer.from(secret).toString('base64')],
  ['in base64 for URLs', (secret) => Buffer.from(secret).toString('base64url')],
  ['in hex', (secret) => Buffer.from(secret).toString('hex')],
  ['as a part of a page', (secret) => secret.replaceAll('&', '&amp;')],
  ['in JSON with slashes escaped', (secret) => secret.replaceAll('/', '\\/')],
  ['behind letters that are longer when small', (secret) => `İİİ${secret.toUpperCase()}`],
  ['where the text is cut', (secret) => `${'x'.repeat(100)}${secret}`],
  ['more than once', (secret) => `${secret}${secret} ${secret}`],
];

describe('what is secret at Tron', () => {
  let node: TestNode;
  before(async () => {
    node = await startNode();
  });
  after(() => node?.stop());

  const shownOf = async (answer: Answer): Promise<string> => {
    const reports: string[] = [];
    const pool = createTronPool({
      name: 'tron',
      urls: [`http://${node.host}/${PATH_KEY}`],
      apiKey: KEY,
      budget: createBudget({ perDay: 100_000, perSecond: 1_000 }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
      report: (message) => reports.push(message),
    });
    node.fault = () => answer;
    const each = await pool.each((session) => session.call('wallet/getblock', {}), signal);
    const failure = await pool
      .checkChain(signal)
      .catch((error: Error) => `${error.stack} ${String(error.cause)}`);
    return [JSON.stringify(each), failure, ...reports, JSON.stringify(pool.status())].join('\n');
  };

  for (const [name, of] of FORMS) {
    it(`is shown in no error where it is repeated ${name}`, async () => {
      for (const secret of [KEY, PATH_KEY]) {
        for (const status of [200, 401, 403, 429, 503]) {
          const shown = await shownOf({ status, json: { Error: `the key ${of(secret)} is not valid` } });
          expect(shown).to.include('***');
          // Its letters and digits, however they are written: no five of them in a row.
          for (let at = 0; at + 5 <= of(secret).length; at++) {
            const piece = of(secret).slice(at, at + 5);
            if (!/^x+$/.test(piece)) expect(shown.toLowerCase()).not.to.include(piece.toLowerCase());
          }
        }
      }
    });
  }

  it('leaves the rest of a sentence as it is, on one line that reads in one direction', async () => {
    const shown = await shownOf({ json: { Error: `Key\u202e ${KEY}\nIS\u0000 wrong` } });
    expect(shown).to.include('an error: Key *** IS wrong');
  });
});
