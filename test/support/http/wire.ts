// Requests to the API as bytes, and how it refuses them.
import { expect } from 'chai';
import { call, type TestApi } from '../gateway.ts';
import { exchange, parseAnswers, type RawAnswer, talk } from './raw-http.ts';

/** Header lines: of a body in JSON, and of the last request on a connection. */
export const JSON_TYPE = 'Content-Type: application/json\r\n';
export const LAST = 'Connection: close\r\n';

const CUSTOMER = '{"external_id":"smuggled"}';

/** Expects an error in the form of every error, which reveals nothing of the parser. */
export function expectRefusal(answer: RawAnswer | undefined, status: number, name: string): void {
  expect(answer?.status, name).to.equal(status);
  expect(answer?.body['error'], name)
    .to.be.a('string')
    .and.not.match(/HPE_|parse|node/i);
  expect(answer?.body['code'], name).to.match(/^[A-Z_]+$/);
  expect(answer?.headers['content-type'], name).to.contain('application/json');
  expect(answer?.headers['x-request-id'], name).to.match(/^[A-Za-z0-9._-]{1,64}$/);
}

/** Requests with a key of test mode, spelled out. The API may start later than this is called. */
export function wireOf(api: () => TestApi) {
  const key = () => `Host: x\r\nx-api-key: ${api().keys.test}\r\n`;
  const post = (headers: string, rest: string) =>
    `POST /api/v1/customers HTTP/1.1\r\n${key()}${JSON_TYPE}${headers}\r\n${rest}`;
  /** How many customers the second request made. */
  const made = async (): Promise<number> => {
    const found = await call(`${api().url}/customers?external_id=smuggled`, { key: api().keys.test });
    return found.body['data'].length;
  };
  return {
    key,
    post,
    made,
    get: (target: string, more = '', version = 'HTTP/1.1') =>
      `GET ${target} ${version}\r\n${key()}${more}\r\n`,
    /** A good request, to follow one that must not hide it. */
    second: () => post(`Content-Length: ${CUSTOMER.length}\r\n`, CUSTOMER),
    send: (bytes: string) => exchange(api().origin, bytes),
    /** Expects one answer, the connection closed, and that nothing of what followed was done. */
    expectCutOff: async (table: Readonly<Record<string, string>>, status: number): Promise<void> => {
      for (const [name, bytes] of Object.entries(table)) {
        const { received, closed } = await talk(api().origin, bytes);
        const answers = parseAnswers(received);
        expect(
          answers.map((answer) => answer.status),
          name,
        ).to.deep.equal([status]);
        expectRefusal(answers[0], status, name);
        expect(answers[0]?.headers['connection'], name).to.equal('close');
        expect(closed, `${name}: closed`).to.equal(true);
      }
      expect(await made()).to.equal(0);
    },
  };
}
