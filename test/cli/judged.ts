// What the output of every command has in common.

import { expect } from 'chai';
import stringWidth from 'string-width';
import { oneObject, type Ran } from './support.ts';

const ACTIVE = /(?!\n)\p{Cc}/u;
const WIDTH = 100;
/** Lines that are copied from a terminal whole. */
const WHOLE =
  /^(WALLET_XPUB_\w+=|otpauth:|http:\/\/localhost:\d+\/set-password#|drop table |([a-z]+ ){23}[a-z]+$)/;
const MONEY = /^(amount|amount_raw|credited|carried|expected|found|monthly_limit_usd|difference|bytes)$/;
const TIME = /(_at|^at|^since|^until|_until|timestamp)$/;

export type Expected = {
  readonly code?: number;
  /** Its lines are a document that is not folded. */
  readonly document?: true;
};

/** Throws where a command did not end as expected with one JSON document in the forms of all documents. */
export function judgeJson(path: string, { code = 0 }: Expected, ran: Ran): void {
  expect(`${path}: ${ran.code} ${ran.code === code ? '' : ran.stderr}`).to.equal(`${path}: ${code} `);
  const answer = oneObject(ran.stdout);
  expect(ran.stdout, path).to.not.match(ACTIVE);
  expect(wrongValues(answer), path).to.deep.equal([]);
}

/** Throws where a command did not end as expected with lines that a person can read in a terminal. */
export function judgeText(path: string, { code = 0, document }: Expected, ran: Ran): void {
  expect(`${path}: ${ran.code} ${ran.code === code ? '' : ran.stderr}`).to.equal(`${path}: ${code} `);
  expect(ran.stdout + ran.stderr, path).to.not.match(ACTIVE);
  for (const line of ran.stdout.split('\n')) {
    if (!document && !WHOLE.test(line)) expect(stringWidth(line), `${path}: ${line}`).to.be.at.most(WIDTH);
    expect(line, path).to.not.match(/^forged|\[object|undefined|\s$/);
  }
  if (code === 0)
    for (const line of ran.stderr.split('\n'))
      expect(stringWidth(line), `${path}: ${line}`).to.be.at.most(WIDTH);
}

/** Money that is no decimal string, and times that are not ISO, anywhere in a document. */
function wrongValues(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => wrongValues(item, name));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, member]) => wrongValues(member, key));
  if (value === null) return [];
  if (MONEY.test(name) && !(typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)))
    return [`${name}: ${String(value)}`];
  if (TIME.test(name) && !/^\d{4}-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?)?$/.test(String(value)))
    return [`${name}: ${String(value)}`];
  return [];
}
