import type { IncomingMessage } from 'node:http';
import { ApiError } from './errors.ts';

/** Largest body of a request, in bytes. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Far deeper than any resource; what is deeper is an attack on whatever walks it. */
const MAX_DEPTH = 32;

/**
 * The request's JSON object; an empty one where there is no body. Throws 413 over 1 MiB, 415 for anything but plain UTF-8 JSON, and 400 for
 * malformed or too deep JSON, for a value that is no object, and for text that cannot be stored.
 */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return {};
  checkContentType(request);
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('VALIDATION_ERROR', 'The request body must be a JSON object.');
  }
  refuseHostile(value);
  return value as Record<string, unknown>;
}

/** Refuses text that PostgreSQL cannot hold or that is not text at all: NUL and halves of surrogate pairs. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new ApiError('PAYLOAD_TOO_LARGE', `The request body must not be larger than ${MAX_BODY_BYTES} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // What is left still has to be taken off the wire, or the caller would never read the answer; the server's own time-out ends it.
      if (size > MAX_BODY_BYTES) reject(tooLarge());
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    const broken = () => reject(new ApiError('INVALID_JSON', 'The request body ended before it was complete.'));
    request.once('error', broken);
    request.once('close', broken);
  });
}

function checkContentType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  const isJson = type === 'application/json' || /^application\/[a-z0-9.-]+\+json$/.test(type);
  const isUtf8 = charset === undefined || charset === 'utf-8' || charset === 'utf8';
  const encoding = request.headers['content-encoding'];
  if (isJson && isUtf8 && (encoding === undefined || encoding === 'identity')) return;
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The request body must be sent as "Content-Type: application/json" in UTF-8, not compressed.',
  );
}

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
  for (let item = open.pop(); item; item = open.pop()) {
    const { value, depth } = item;
    if (typeof value === 'string' && !isCleanText(value)) refuseText();
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new ApiError('VALIDATION_ERROR', 'The request body contains a number that is too large.');
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) throw new ApiError('VALIDATION_ERROR', `The request body is nested more than ${MAX_DEPTH} levels deep.`);
    for (const [name, member] of Object.entries(value)) {
      if (!isCleanText(name)) refuseText();
      open.push({ value: member, depth: depth + 1 });
    }
  }
}

function refuseText(): never {
  throw new ApiError('VALIDATION_ERROR', 'The request body contains a NUL character or broken Unicode.');
}
