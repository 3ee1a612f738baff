// What a request asks for, read as strictly as the node reads it, and the errors of its own.
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { parseExactJson } from '../../../src/chains/tron/block/exact-json.ts';
import { parseAddress } from '../messages.ts';

export type View = 'wallet' | 'walletsolidity';
export type Body = Readonly<Record<string, unknown>>;

/** An error that the node answers with status 200, by the name of its Java class. */
export class JavaError extends Error {
  constructor(kind: string, words: string) {
    super(`class ${kind} : ${words}`);
  }
}

const PARSE_ERROR = 'org.tron.core.services.http.JsonFormat$ParseException';
const JSON_ERROR = 'com.alibaba.fastjson.JSONException';

/** The members of a request. Throws JavaError for a text that is no object. */
export function readBody(text: string): Body {
  if (text.trim() === '') return {};
  try {
    const body = parseExactJson(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body;
  } catch {
    // Said below, in the node's words.
  }
  if (!text.trimStart().startsWith('{')) throw new JavaError(JSON_ERROR, 'error parse null');
  const at = text.length;
  throw new JavaError(JSON_ERROR, `unterminated json string, pos ${at}, line 1, column ${at + 1}${text}`);
}

/** What a GET says in its query; numbers and truths are words there. */
export function readQuery(query: URLSearchParams): Body {
  const members = [...query].map(([name, value]): [string, unknown] => {
    if (value === 'true' || value === 'false') return [name, value === 'true'];
    const isNumber = name !== 'value' && name !== 'id_or_num' && /^-?\d{1,15}$/.test(value);
    return [name, isNumber ? Number(value) : value];
  });
  return Object.fromEntries(members);
}

/** A whole number; zero where it is left out. Throws JavaError for anything else. */
export function numberIn(body: Body, name: string): number {
  const value = body[name] ?? 0;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new JavaError(
    PARSE_ERROR,
    `1:${name.length + 5}: Couldn't parse integer: For input string: "${JSON.stringify(value)}"`,
  );
}

/** An amount in base units; zero where it is left out. */
export function amountIn(body: Body, name: string): bigint {
  const value = body[name] ?? 0;
  return typeof value === 'bigint' ? value : BigInt(numberIn(body, name));
}

/** Whether addresses are in base58, in the request and in its answer. */
export function isVisible(body: Body): boolean {
  return body['visible'] === true;
}

/** The key in a member; undefined for what is too short to be one. Throws JavaError for another spelling. */
export function keyIn(body: Body, name: string): AddressKey | undefined {
  let text: string;
  try {
    text = parseAddress(String(body[name] ?? ''), isVisible(body));
  } catch (error) {
    throw new JavaError(PARSE_ERROR, `1:${name.length + 5}: ${(error as Error).message}`);
  }
  return /^41[0-9a-f]{40}$/.test(text) ? keyOfHex(text, 2) : undefined;
}

/** Hex of any length in lower case. Throws JavaError for anything else. */
export function hexIn(body: Body, name: string): string {
  const value = body[name] ?? '';
  if (typeof value === 'string' && /^(?:[0-9a-f]{2})*$/i.test(value)) return value.toLowerCase();
  throw new JavaError(PARSE_ERROR, `1:${name.length + 5}: INVALID hex String`);
}
