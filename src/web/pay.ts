import type { Context, Middleware, Next } from 'koa';
import type { Deps } from '../services/deps.ts';
import { getPublicPayment } from '../services/payment-links/public.ts';
import { Refusal } from '../services/refusal.ts';
import { withinTime } from '../services/time-limit.ts';
import { scriptOf } from './assets/assets.ts';
import { payerPages } from './checkout/index.ts';
import { html } from './html.ts';
import { type Page, sendPage } from './layout.ts';
import { type LiveOptions, liveAnswers } from './live/live.ts';
import { NoPlace } from './live/places.ts';
import { type SimulateOptions, simulateAnswers, simulationKey } from './simulate.ts';
import { type PayerPages, visitorOf } from './visitor.ts';

const PREFIX = '/pay';
type TooOften = Error & {
  readonly status: 429;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type PayOptions = Omit<LiveOptions, 'pages'> &
  SimulateOptions & {
    /**
     * Counts the request by the client's address; rejects with a {@link TooOften} where there were too many.
     */
    readonly count: (ctx: Context) => Promise<void>;
    /** Other pages than the product's own: for tests of what is around them. */
    readonly pages?: PayerPages;
  };

/** When the database is unreachable the page leaves within 2 s, like every answer. */
const BUDGET_MS = 1_800;

/** Under a link's address: its page, the stream of what the page shows, and the form of test links. */
type Part = '' | 'live' | 'simulate';
const METHODS: Readonly<Record<Part, readonly string[]>> = {
  '': ['GET', 'HEAD'],
  live: ['GET', 'HEAD'],
  simulate: ['POST'],
};

/**
 * The page of a payment link at `/pay/:token`, for anybody who has the token. It works without script and
 * loads nothing from anywhere else; with script it follows `/pay/:token/live`. Every failure is a page
 * too; its cause is logged and not shown.
 */
export function payPages(deps: Deps, options: PayOptions): Middleware {
  const parts = { page: scriptOf('page'), live: scriptOf('live'), simulationKey };
  const pages = options.pages ?? payerPages(deps.settings.requiredConfirmations, parts);
  const { count } = options;
  const answerLive = liveAnswers(deps, { ...options, pages });
  const answerForm = simulateAnswers(deps, options);
  const answers: Readonly<Record<Part, (ctx: Context, token: string) => Promise<void>>> = {
    '': async (ctx, token) => {
      const view = await budgetOf(ctx)(() => count(ctx).then(() => getPublicPayment(deps, token)));
      sendPage(ctx, pages.render(view, visitorOf(ctx)));
    },
    live: async (ctx, token) => {
      const within = budgetOf(ctx);
      await within(() => count(ctx));
      await answerLive(ctx, token, within);
    },
    simulate: (ctx, token) => answerForm(ctx, token, { budget: () => budgetOf(ctx), count }),
  };
  return async (ctx: Context, next: Next) => {
    if (ctx.path !== PREFIX && !ctx.path.startsWith(`${PREFIX}/`)) return await next();
    const { token, part } = placeOf(ctx.path);
    // Names the request in logs and metrics: the token itself is a secret of the payer.
    ctx['_matchedRoute'] = `${PREFIX}/:token${part && `/${part}`}`;
    if (!METHODS[part].includes(ctx.method)) return refuseMethod(ctx, METHODS[part]);
    try {
      await answers[part](ctx, token);
    } catch (error) {
      const page = failurePage(deps, pages, { ctx, error });
      // To load a form's answer again would ask for what only takes a form.
      sendPage(ctx, ctx.method === 'POST' ? { ...page, refreshSeconds: undefined } : page);
    }
  };
}

function placeOf(path: string): { readonly token: string; readonly part: Part } {
  const rest = path.slice(PREFIX.length + 1);
  const [, token = rest, part = ''] = /^([^/]*)\/(live|simulate)$/.exec(rest) ?? [];
  return { token, part: part as Part };
}

/** A limit of time that begins now, for everything that is asked of the database before the answer. */
function budgetOf(ctx: Context): <T>(work: () => Promise<T>) => Promise<T> {
  const endsAt = performance.now() + BUDGET_MS;
  return (work) => {
    const limitMs = Math.max(0, endsAt - performance.now());
    return withinTime({ limitMs, answer: ctx.res }, work, (cause) => cause);
  };
}

type Failure = { readonly ctx: Context; readonly error: unknown };

function failurePage(deps: Deps, pages: PayerPages, { ctx, error }: Failure): Page {
  const visitor = visitorOf(ctx);
  if (error instanceof Refusal && error.code === 'NOT_FOUND') return pages.unknown(visitor);
  if (error instanceof NoPlace || isTooOften(error)) {
    ctx.set(error.headers);
    ctx.state['code'] = error.code;
    return error.status === 429 ? pages.tooOften(visitor) : pages.unavailable(visitor);
  }
  deps.log.error({ err: error }, 'the page of a payment link could not be made');
  ctx.set('Retry-After', '2');
  return pages.unavailable(visitor);
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

/** Refuses every method that an address does not have. */
function refuseMethod(ctx: Context, methods: readonly string[]): void {
  ctx.set('Allow', methods.join(', '));
  sendPage(ctx, {
    status: 405,
    title: 'Not possible',
    body: html`<div class="card"><h1>This page can only be ${methods[0] === 'POST' ? 'sent a form' : 'read'}</h1></div>`,
  });
}
