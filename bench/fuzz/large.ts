import { Agent, request } from 'node:http';
import { createRandom, type Random } from '../../dev/random.ts';
import type { Credential } from './stage.ts';

/** The largest body that is let in. */
const BODY_BYTES = 1024 * 1024;
/** Somewhat less than Node takes for the request line and all headers together. */
const HEAD_BYTES = 14 * 1024;
const SHOWN_PATH = 80;
const SHOWN = 25;
const METHODS = ['get', 'post', 'patch', 'put', 'delete'] as const;
const HEADERS =
  'Idempotency-Key X-Request-Id Accept Cookie X-Forwarded-For Content-Type X-Mode Authorization'.split(' ');

/** What takes patterns, decoders and readers of JSON longest: repeated over and over, or nested. */
const WORST = [
  ...'a \t0.-/%:@\\"\u0000\u00e9\ufb03\u202e\u{1f600}\u200d\ufeffİ한\u0d4a',
  ...'a@,a.,://,a b,0x,1e9,+1,<b,&#x,=?utf-8?q?,e\u0301'.split(','),
];

type Schema = {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
};
type Parameter = { readonly name: string; readonly in: string };
type Described = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { schema: Schema }> };
};
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
};
type Operation = {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly members: readonly string[];
};
type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: Buffer;
  readonly what: string;
};

type LargeResult = {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowest: { readonly ms: number; readonly what: string };
  /** What took too long, or was not answered as a refusal or a success is. */
  readonly failures: readonly string[];
};

/**
 * Sends requests of every operation whose body, query, path or header is as
 * large as it may be and made of what is worst, one after the other. An
 * answer of 5xx, none at all, and one after more than `limitMs` is a failure.
 */
export async function sendLarge(input: {
  readonly origin: string;
  readonly credentials: readonly Credential[];
  readonly requests: number;
  readonly seed: number;
  readonly limitMs: number;
}): Promise<LargeResult> {
  const operations = operationsOf(
    (await (await fetch(`${input.origin}/openapi.json`)).json()) as Description,
  );
  const random = createRandom(`large\n${input.seed}`);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  let slowest = { ms: 0, what: 'nothing' };
  for (let index = 0; index < input.requests; index += 1) {
    const sent = compose(random, random.pick(operations), random.pick(input.credentials));
    const { status, ms } = await send(input.origin, sent, agent);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const said = `${sent.method} ${sent.path.slice(0, SHOWN_PATH)} with ${sent.what}`;
    if (ms > slowest.ms) slowest = { ms, what: said };
    if (status === 0 || status >= 500 || ms > input.limitMs)
      failures.push(`${said}: ${status} after ${ms.toFixed(0)} ms`);
  }
  agent.destroy();
  return { requests: input.requests, statuses, slowest, failures };
}

function operationsOf({ paths, components }: Description): Operation[] {
  const resolved = (schema: Schema | undefined): Schema =>
    schema?.$ref ? resolved(components?.schemas?.[schema.$ref.split('/').at(-1) ?? '']) : (schema ?? {});
  const membersOf = (schema: Schema | undefined): string[] => {
    const { properties = {}, allOf = [] } = resolved(schema);
    return [...Object.keys(properties), ...allOf.flatMap(membersOf)];
  };
  return Object.entries(paths).flatMap(([path, described]) =>
    METHODS.flatMap((method) => {
      const operation = described[method];
      if (!operation || path.endsWith('/logout')) return [];
      const query = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name);
      const members = membersOf(operation.requestBody?.content['application/json']?.schema);
      return [{ method: method.toUpperCase(), path, query, members }];
    }),
  );
}

function compose(random: Random, operation: Operation, { headers, known }: Credential): Sent {
  const { method, query, members } = operation;
  const resource = operation.path.split('/{', 1)[0] ?? '';
  const ids = known[resource] ?? ['00000000-0000-4000-8000-000000000000'];
  const path = `/api/v1${operation.path.replaceAll(/\{[^}]+\}/g, () => random.pick(ids))}`;
  const plain = { method, path, headers: { ...headers } };
  const worst = random.pick(WORST);
  const bodies = method === 'GET' ? 0 : 3;
  const kind = random.weighted({ path: 1, query: 1, header: 1, body: bodies, member: bodies });
  const what = `${kind} of ${JSON.stringify(worst)}`;
  if (kind === 'path')
    return { ...plain, path: `${path}/${filled(encodeURIComponent(worst), HEAD_BYTES)}`, what };
  if (kind === 'query') {
    const name = query.length > 0 ? random.pick(query) : 'a';
    const one =
      random.pick([encodeURIComponent(worst), worst.replaceAll(/[^\x21-\x7e]|#/g, '+'), `&${name}=1`]) || '+';
    return { ...plain, path: `${path}?${name}=${filled(one, HEAD_BYTES)}`, what };
  }
  if (kind === 'header') {
    const name = random.pick(HEADERS);
    const value = filled(worst.replaceAll(/[^\x20-\x7e]/g, '~'), HEAD_BYTES);
    return { ...plain, headers: { ...plain.headers, [name]: value }, what: `${name} ${what}` };
  }
  const json = { ...plain.headers, 'Content-Type': 'application/json' };
  const name = members.length > 0 ? random.pick(members) : 'a';
  const [shape, text] = random.pick(kind === 'member' ? memberShapes(name, worst) : bodyShapes(worst));
  const body = Buffer.from(text().slice(0, BODY_BYTES)).subarray(0, BODY_BYTES);
  return { ...plain, headers: json, body, what: `${what}: ${shape}` };
}

type Shape = readonly [name: string, text: () => string];

/** A well-formed body of which one member is as large as it may be. */
function memberShapes(name: string, worst: string): readonly Shape[] {
  const room = BODY_BYTES - name.length - 32;
  const body = (value: string): string => `{${JSON.stringify(name)}:${value}}`;
  const escaped = JSON.stringify(worst).slice(1, -1);
  return [
    [`a long ${name}`, () => body(`"${filled(escaped, room)}"`)],
    [`a long number as ${name}`, () => body(filled('9', room))],
    [`a long fraction as ${name}`, () => body(`0.${filled('0', room)}1`)],
    [`many texts as ${name}`, () => body(`[${filled(`"${escaped}",`, room)}1]`)],
    [`one long text in a list as ${name}`, () => body(`["${filled(escaped, room)}"]`)],
    [`many members in ${name}`, () => body(`{${numbered((index) => `"${escaped}${index}":1`, room)}}`)],
    [`a long name in ${name}`, () => body(`{"${filled(escaped, room)}":1}`)],
    [`a deep ${name}`, () => body(`${'['.repeat(room / 2)}${']'.repeat(room / 2)}`)],
    [`${name} again and again`, () => `{${numbered(() => `${JSON.stringify(name)}:"${escaped}"`, room)}}`],
  ];
}

/** Bodies that are no object of the contract at all. */
function bodyShapes(worst: string): readonly Shape[] {
  return [
    ['nothing but it', () => filled(worst, BODY_BYTES)],
    ['open brackets', () => '['.repeat(BODY_BYTES)],
    ['open objects', () => filled('{"a":', BODY_BYTES)],
    ['a text without an end', () => `{"a":"${filled(worst.replaceAll(/["\\]/g, 'x'), BODY_BYTES)}`],
    ['unknown members', () => `{${numbered((index) => `"u${index}":${index}`, BODY_BYTES - 2)}}`],
    [
      'members that objects have',
      () =>
        `{${numbered((index) => `"${['__proto__', 'constructor', 'toString'][index % 3]}":{}`, BODY_BYTES - 2)}}`,
    ],
    ['space around an object', () => `${' '.repeat(BODY_BYTES - 2)}{}`],
    ['escapes', () => `{"a":"${filled('\\ud83d', BODY_BYTES - 16)}"}`],
  ];
}

const filled = (one: string, bytes: number): string =>
  one.repeat(Math.max(1, Math.floor(bytes / Math.max(1, Buffer.byteLength(one)))));

function numbered(one: (index: number) => string, bytes: number): string {
  const parts: string[] = [];
  for (let [index, left] = [0, bytes]; ; index += 1) {
    const part = one(index);
    left -= Buffer.byteLength(part) + 1;
    if (left < 0) return parts.join(',');
    parts.push(part);
  }
}

function send(
  origin: string,
  { method, path, headers, body }: Sent,
  agent: Agent,
): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status: number) => resolve({ status, ms: performance.now() - began });
    const asked = request(
      new URL(origin),
      { agent, method, path, headers: { ...headers, 'Content-Length': body?.length ?? 0 } },
      (response) => {
        response.resume();
        response.once('end', () => end(response.statusCode ?? 0));
        response.once('error', () => end(0));
      },
    );
    asked.once('error', () => end(0));
    asked.end(body);
  });
}

/** The figures of large requests, and the first that failed. */
export function renderLarge({ requests, statuses, slowest, failures }: LargeResult, limitMs: number): string {
  const answers = Object.entries(statuses).map(
    ([status, count]) => `${count} of ${status === '0' ? 'a cut connection' : status}`,
  );
  return [
    `${requests} large requests, ${failures.length} failures`,
    `The slowest took ${slowest.ms.toFixed(0)} ms (limit ${limitMs} ms): ${slowest.what}`,
    `Answers: ${answers.join(', ')}`,
    ...failures.slice(0, SHOWN),
  ].join('\n');
}
