import { createHash } from 'node:crypto';
import type { Context, Next } from 'koa';

const MAX_AGE_SECONDS = 300;

/**
 * For a document that is the same for everybody: the answer may be kept for five minutes, and
 * a client that names the version it has gets 304 without it. Only for a successful answer
 * that is a text; the tag is made once for each text.
 */
export function cacheable(): (ctx: unknown, next: Next) => Promise<void> {
  let known = { text: '', tag: '' };
  return async (given, next) => {
    const ctx = given as Context;
    await next();
    const text = ctx.body;
    if (ctx.status !== 200 || typeof text !== 'string') return;
    if (known.text !== text)
      known = { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
    ctx.set('Cache-Control', `max-age=${MAX_AGE_SECONDS}`);
    ctx.set('ETag', known.tag);
    if (ctx.fresh) ctx.status = 304;
  };
}
