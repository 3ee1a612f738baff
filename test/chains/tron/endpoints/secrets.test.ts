import { expect } from 'chai';
import { failureOf } from '../../conformance/scene.ts';
import { type Answer, poolOf, testNodes } from './node.ts';

const { signal } = new AbortController();
const KEY = 'e0b7/The+Key=of&the%operator';
const PATH_KEY = 'Path-Key-ABC';
const SOLID_KEY = 'Solid-Key-DEF';
const PASSWORD = 'p@ss/w0rd&more';

/** Ways in which services repeat what they were sent. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in capitals': (secret) => secret.toUpperCase(),
  'as a part of a URL': encodeURIComponent,
  'as a part of a URL in a URL': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'in base64': (secret) => Buffer.from(secret).toString('base64'),
  'in hex': (secret) => Buffer.from(secret).toString('hex'),
  'in JSON with slashes escaped': (secret) => secret.replaceAll('/', '\\/'),
  'behind letters that are longer when small': (secret) => `İİİ${secret.toUpperCase()}`,
};

describe('what is secret at Tron', () => {
  const nodes = testNodes(1);
  const shownOf = async (answer: Answer): Promise<string> => {
    const [node] = nodes;
    const reports: string[] = [];
    const report = (message: string): void => void reports.push(message);
    const url = `http://user:${encodeURIComponent(PASSWORD)}@${node?.host}`;
    const solidityUrls = [`${url}/${SOLID_KEY}`];
    const pool = poolOf([{ url: `${url}/${PATH_KEY}` }], { apiKey: KEY, solidityUrls, report });
    if (node) node.fault = () => answer;
    const each = await pool.each((session) => session.call('wallet/getblock', {}), signal);
    const { stack, cause } = (await failureOf(pool.checkChain(signal))) as Error;
    return [JSON.stringify(each), stack, String(cause), ...reports, JSON.stringify(pool.status())].join('\n');
  };

  for (const [name, of] of Object.entries(FORMS))
    it(`is shown in no error where it is repeated ${name}`, async () => {
      for (const secret of [KEY, PATH_KEY, SOLID_KEY])
        for (const status of [200, 401, 403, 429, 503]) {
          const shown = await shownOf({ status, json: { Error: `the key ${of(secret)} is not valid` } });
          expect(shown).to.include('***');
          // Its letters and digits, however they are written: no five of them in a row.
          for (let at = 0; at + 5 <= of(secret).length; at++) {
            const piece = of(secret).slice(at, at + 5);
            expect(shown.toLowerCase()).not.to.include(piece.toLowerCase());
          }
        }
    });

  it('is shown in no error where it is the password of an address, nor as a header has it', async () => {
    const basic = Buffer.from(`user:${PASSWORD}`).toString('base64');
    const shown = await shownOf({ json: { Error: `no ${PASSWORD} with ${basic}` } });
    expect(shown).to.include('***').and.not.include(PASSWORD).and.not.include(basic);
  });

  it('is shown by no refusal of an address that is none', () => {
    const said = /^an RPC endpoint is not a URL: write it as https:\/\/host\/path$/;
    expect(() => poolOf([{ url: `nothing ${KEY}` }])).to.throw(said);
    const base = { url: 'http://127.0.0.1:1' };
    expect(() => poolOf([base], { solidityUrls: [KEY] })).to.throw(said);
    expect(() => poolOf([base, base], { solidityUrls: [KEY] })).to.throw(/must name one address for each/);
  });
});
