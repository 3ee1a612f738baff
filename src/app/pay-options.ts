import { siteOf } from '../api/access/client-address.ts';
import { createOriginRule } from '../api/access/csrf.ts';
import { readFields, shownRefusal } from '../api/requests/form.ts';
import type { Guards } from '../api/requests/rate-limits.ts';
import type { PayOptions } from '../web/pay.ts';

/**
 * What the pages of payment links take from the API: who asks, how often they may, what a form says, and
 * whether our own page sent it. `signal` is aborted when the process shuts down.
 */
export function payOptions(
  guards: Guards,
  { publicUrl, signal }: { readonly publicUrl: string | undefined; readonly signal: AbortSignal },
): PayOptions {
  return {
    count: guards.countPublic,
    siteOf: (ctx) => siteOf(guards.addressOf(ctx.req)),
    isOwnOrigin: createOriginRule(publicUrl),
    readForm: readFields,
    countTest: (ctx, merchantId) => guards.countTest(ctx, { merchantId, mode: 'test' }, undefined),
    refusalOf: shownRefusal,
    signal,
  };
}
