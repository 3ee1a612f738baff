import type { Context } from 'koa';
import { type ApiError, toApiError } from '../errors.ts';
import { MAX_OPEN_BODY_BYTES, readFormBody, readJsonBody } from './body.ts';

/**
 * The members of a form that a person filled in, or of a program's JSON; at most 8
 * KiB, because no credential is checked before.
 */
export async function readFields(ctx: Context): Promise<Record<string, unknown>> {
  const body = isForm(ctx)
    ? await readFormBody(ctx, MAX_OPEN_BODY_BYTES)
    : await readJsonBody(ctx, MAX_OPEN_BODY_BYTES);
  ctx.state['form'] = body;
  return body;
}

/**
 * What {@link readFields} has read of this request, for
 * the page that shows the form again; empty before it has.
 */
export function fieldsOf(ctx: Context): Record<string, unknown> {
  return (ctx.state['form'] ?? {}) as Record<string, unknown>;
}

/**
 * True for a browser, which posts a form and accepts a page; a program that posts a form accepts anything.
 */
export function wantsPage(ctx: Context): boolean {
  return isForm(ctx) && readsPages(ctx);
}

/** True for a browser that opens an address; a program accepts anything. */
export function readsPages(ctx: Context): boolean {
  return (ctx.headers.accept ?? '').toLowerCase().includes('text/html');
}

/**
 * A refusal that a page shows to a person; the request's log line has its code all the
 * same. Rethrows an error that is our own fault.
 */
export function shownRefusal(ctx: Context, thrown: unknown): ApiError {
  const error = toApiError(thrown);
  if (error.status >= 500 && error.code !== 'UNAVAILABLE') throw thrown;
  ctx.set(error.headers);
  ctx.state['code'] = error.code;
  return error;
}

/** A JSON answer of 200. */
export function answerJson(ctx: Context, body: object): void {
  ctx.status = 200;
  ctx.type = 'application/json';
  ctx.body = JSON.stringify(body);
}

/** 303: the browser goes on with a GET, and reloading that page posts no password again. */
export function redirect(ctx: Context, path: string): void {
  ctx.status = 303;
  ctx.set('Location', path);
  ctx.type = 'text/plain';
  ctx.body = `Go on at ${path}`;
}

/** A time to wait, as a sentence has it. */
export function spoken(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

function isForm(ctx: Context): boolean {
  return /^application\/x-www-form-urlencoded *(;|$)/i.test(ctx.headers['content-type'] ?? '');
}
