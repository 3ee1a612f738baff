import { expect } from 'chai';
import type { Answer } from '../../support/gateway.ts';

/** An answer of the error table: this status and code, in JSON, with a request id and nothing from inside. */
export function expectError(answer: Answer, status: number, code: string, what = ''): void {
  expect([answer.status, answer.body['code']], `${what} ${answer.text}`).to.deep.equal([status, code]);
  expect(answer.body['error'], what)
    .to.be.a('string')
    .and.not.match(/ at |select|\.ts|node_modules/i);
  expect(answer.headers.get('content-type'), what).to.contain('application/json');
  expect(answer.headers.get('x-request-id'), what).to.match(/^[A-Za-z0-9._-]{1,64}$/);
}
