import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { ApiError } from '../errors.ts';

/** Largest body of a request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Largest body that anybody may send without a credential: an email, a password, a code and a path. */
export const MAX_OPEN_BODY_BYTES = 8 * 1024;
/** More values than any resource has members; each of them is work. */
const MAX_VALUES = 20_000;
/** Far deeper than any resource; a deeper value is an attack on the code that walks it. */
const MAX_DEPTH = 32;

/**
 * The request's JSON object; an empty one where there is no body. Throws 413 over `maxBytes` (unset means 1
 * MiB), 415 for anything but plain UTF-8 JSON, and 400 for JSON that is malformed, too deep or has too many
 * values, for a value that is no object, and for text that cannot be stored.
 */
export async function readJsonBody(
  ctx: Context,
  maxBytes = MAX_BODY_BYTES,
): Promise<Record<string, unknown>> {
  const bytes = await readRawBody(ctx, maxBytes);
  if (bytes.length === 0) return {};
  checkContentType(ctx.req);
  refuseManifold(bytes);
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('VALIDATION_ERROR', 'The request body must be a JSON object.');
  }
  refuseHostile(value);
  return value as Record<string, unknown>;
}

/**
 * The members of a form as a browser posts it; the last one of a repeated member. Throws 413 over
 * `maxBytes`, and 400 for text that cannot be stored.
 */
export async function readFormBody(ctx: Context, maxBytes: number): Promise<Record<string, unknown>> {
  const members = [...new URLSearchParams((await readRawBody(ctx, maxBytes)).toString('utf8'))];
  if (!members.flat().every(isCleanText)) refuseText();
  return Object.fromEntries(members);
}

/** Refuses text that PostgreSQL cannot hold or that is not text at all: NUL and halves of surrogate pairs. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Takes the body as bytes: one character for each byte, so what follows decides on the very bytes that were
 * sent. `binary` is a coding that Node has built in; under the name `latin1` the parser uses a table of its
 * own, 20 times slower, and two bytes of memory for each character.
 */
const takeBody = (textLimit: number) =>
  koaBody({
    text: true,
    textTypes: ['*/*'],
    textLimit,
    encoding: 'binary',
    json: false,
    urlencoded: false,
    multipart: false,
  });

/** Throws 413 for a request whose header says that its body is larger. */
export function refuseLarge(ctx: Context, maxBytes: number): void {
  // The parser of bodies reads lengths as 32 bits.
  if (Number(ctx.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/**
 * The body as it was sent; it is read from the connection once. Throws 413 over `maxBytes` and
 * 415 for a body without a type or a compressed one.
 */
export async function readRawBody(ctx: Context, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const { body: taken } = ctx.request as { body?: unknown };
  if (typeof taken === 'string') return Buffer.from(taken, 'latin1');
  refuseLarge(ctx, maxBytes);
  // The parser does not take a body without a type for text, and would leave it unread; it would inflate a
  // compressed one, which is work for us and a lever for an attacker.
  if (hasBody(ctx) && (!ctx.headers['content-type'] || !isPlain(ctx.headers['content-encoding'])))
    throw unsupported();
  if (ctx.headers.expect !== undefined && hasBody(ctx)) ctx.res.writeContinue();
  try {
    await takeBody(maxBytes)(ctx, async () => undefined);
  } catch (error) {
    throw typeOf(error) === 'entity.too.large'
      ? tooLarge(maxBytes)
      : new ApiError('INVALID_JSON', 'The request body could not be read to its end.');
  }
  const { body } = ctx.request as { body?: unknown };
  if (typeof body === 'string') return Buffer.from(body, 'latin1');
  // The parser skips a type that it cannot read; such a body must not be taken for an empty one.
  if (hasBody(ctx)) throw unsupported();
  return Buffer.alloc(0);
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity';
}

function hasBody(ctx: Context): boolean {
  return ctx.headers['transfer-encoding'] !== undefined || Number(ctx.headers['content-length'] ?? 0) > 0;
}

function typeOf(error: unknown): unknown {
  return error instanceof Error && 'type' in error ? error.type : undefined;
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body must not be larger than ${maxBytes} bytes.`);
}

function unsupported(): ApiError {
  return new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The request body must be sent as "Content-Type: application/json" in UTF-8, not compressed.',
  );
}

function checkContentType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  const isJson = type === 'application/json' || /^application\/[a-z0-9.-]+\+json$/.test(type);
  const isUtf8 = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  if (isJson && isUtf8) return;
  throw unsupported();
}

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x2c, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d,
];

/**
 * Scans each byte once, before the parser does: half a million brackets take the
 * parser 200 ms, in which nobody else is answered.
 */
function refuseManifold(bytes: Buffer): void {
  let [depth, commas, quoted] = [0, 0, false];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (quoted) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === COMMA) commas += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) throw tooDeep();
    if (commas > MAX_VALUES) throw tooManifold();
  }
}

const tooDeep = (): ApiError =>
  new ApiError('VALIDATION_ERROR', `The request body is nested more than ${MAX_DEPTH} levels deep.`);
const tooManifold = (): ApiError =>
  new ApiError('VALIDATION_ERROR', `The request body has more than ${MAX_VALUES} values.`);

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body, which may hold a secret.
    throw new ApiError('INVALID_JSON', 'The request body is not valid JSON.');
  }
}

/** Walks without recursion: the parser takes any depth, a recursive walk would end in a stack overflow. */
function refuseHostile(root: object): void {
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  let values = 1;
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, depth } = item;
    if (typeof value === 'string' && !isCleanText(value)) refuseText();
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new ApiError('VALIDATION_ERROR', 'The request body contains a number that is too large.');
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) throw tooDeep();
    values += Array.isArray(value) ? value.length : Object.keys(value).length;
    if (values > MAX_VALUES) throw tooManifold();
    for (const [name, member] of Object.entries(value)) {
      if (!isCleanText(name)) refuseText();
      open.push({ value: member, depth: depth + 1 });
    }
  }
}

function refuseText(): never {
  throw new ApiError('VALIDATION_ERROR', 'The request body contains a NUL character or broken Unicode.');
}
