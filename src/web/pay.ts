import type { Context, Middleware, Next } from 'koa';
import type { Deps } from '../services/deps.ts';
import { getPublicPayment } from '../services/payment-links/public.ts';
import { Refusal } from '../services/refusal.ts';
import { withinTime } from '../services/time-limit.ts';
import { checkoutPage, TOO_OFTEN, UNAVAILABLE, UNKNOWN_LINK } from './checkout.ts';
import { html } from './html.ts';
import { type Page, sendPage } from './layout.ts';

const PREFIX = '/pay';
type TooOften = Error & {
  readonly status: 429;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
};

type PayOptions = {
  /**
   * Counts the request by the client's address; rejects with a {@link TooOften} where there were too many.
   */
  readonly count: (ctx: Context) => Promise<void>;
};

/** When the database is unreachable the page leaves within 2 s, like every answer. */
const BUDGET_MS = 1_800;

/**
 * The page of a payment link at `/pay/:token`: it only reads, for anybody who has the
 * token. It works without script and loads nothing from anywhere else. Every failure is a
 * page too; its cause is logged and not shown.
 */
export function payPages(deps: Deps, { count }: PayOptions): Middleware {
  return async (ctx: Context, next: Next) => {
    if (ctx.path !== PREFIX && !ctx.path.startsWith(`${PREFIX}/`)) return await next();
    // Names the request in logs and metrics: the token itself is a secret of the payer.
    ctx['_matchedRoute'] = `${PREFIX}/:token`;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return refuseMethod(ctx);
    sendPage(ctx, await pageOf(deps, count, ctx));
  };
}

async function pageOf(deps: Deps, count: PayOptions['count'], ctx: Context): Promise<Page> {
  try {
    const read = () => count(ctx).then(() => getPublicPayment(deps, ctx.path.slice(PREFIX.length + 1)));
    const view = await withinTime({ limitMs: BUDGET_MS, answer: ctx.res }, read, (cause) => cause);
    const { network, refresh } = ctx.query;
    return checkoutPage(view, deps.settings.requiredConfirmations, {
      network: typeof network === 'string' ? network : undefined,
      refresh: refresh !== 'off',
    });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'NOT_FOUND') return UNKNOWN_LINK;
    if (isTooOften(error)) {
      ctx.set(error.headers);
      ctx.state['code'] = error.code;
      return TOO_OFTEN;
    }
    deps.log.error({ err: error }, 'the page of a payment link could not be made');
    ctx.set('Retry-After', '2');
    return UNAVAILABLE;
  }
}

function isTooOften(error: unknown): error is TooOften {
  return (
    error instanceof Error &&
    'status' in error &&
    error.status === 429 &&
    'headers' in error &&
    'code' in error
  );
}

/** Refuses every method that a page does not have. */
function refuseMethod(ctx: Context): void {
  ctx.set('Allow', 'GET, HEAD');
  sendPage(ctx, {
    status: 405,
    title: 'Not possible',
    body: html`<div class="card"><h1>This page can only be read</h1></div>`,
  });
}
