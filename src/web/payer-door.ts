import type { Context, Middleware, Next } from 'koa';
import { GateFull } from '../base/async/fair-gate.ts';
import { logFailure } from '../base/errors.ts';
import type { Deps } from '../services/deps.ts';
import { Refusal } from '../services/refusal.ts';
import { withinTime } from '../services/time-limit.ts';
import { html } from './html.ts';
import { type Page, renderDocument, sendPage, sendRendered } from './layout.ts';
import type { Followed, Shown } from './live/followed.ts';
import { type LiveOptions, liveAnswers } from './live/live.ts';
import { NoPlace } from './live/places.ts';
import { createDrawing, drawnInTurn } from './live/turns.ts';
import { type Simulated, type SimulateOptions, simulateAnswers } from './simulate.ts';
import { type PayerPages, visitorOf } from './visitor.ts';
import { pickLanguage, wordsOf } from './words/index.ts';

type TooOften = Error & {
  readonly status: 429;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type DoorOptions = LiveOptions &
  SimulateOptions & {
    /**
     * Counts the request by the client's address; rejects with a {@link TooOften} where there were too many.
     */
    readonly count: (ctx: Context) => Promise<void>;
  };

/** One kind of page for payers, all of them below `prefix`. */
export type PayerKind<View extends Shown> = {
  readonly prefix: '/pay' | '/address';
  readonly followed: Followed<View>;
  readonly pages: PayerPages<View>;
  readonly simulated: Simulated;
};

/** When the database is unreachable the page leaves within 2 s, like every answer. */
const BUDGET_MS = 1_800;

/** Under a token: the page, the stream of what the page shows, and the form of the test mode. */
type Part = '' | 'live' | 'simulate';
const METHODS: Readonly<Record<Part, readonly string[]>> = {
  '': ['GET', 'HEAD'],
  live: ['GET', 'HEAD'],
  simulate: ['POST'],
};

/**
 * Pages at `PREFIX/:token`, for anybody who has the token. They work without script and
 * load nothing from anywhere else; with script they follow `PREFIX/:token/live`. Every failure is a page
 * too; its cause is logged and not shown.
 */
export function payerDoor<View extends Shown>(
  deps: Deps,
  { prefix, followed, pages, simulated }: PayerKind<View>,
  options: DoorOptions,
): Middleware {
  const { count } = options;
  const answerLive = liveAnswers(deps, { followed, render: pages.render }, options);
  const drawing = createDrawing(followed, options.turns, (view, visitor) => {
    const page = pages.render(view, visitor);
    return { page, document: renderDocument(page) };
  });
  const drawn = drawnInTurn(drawing, options);
  const answerForm = simulateAnswers(simulated, options);
  const answers: Readonly<Record<Part, (ctx: Context, token: string) => Promise<void>>> = {
    '': async (ctx, token) => {
      await budgetOf(ctx)(() => count(ctx));
      const { page, document } = await drawn(ctx, token);
      sendRendered(ctx, page, document);
    },
    live: async (ctx, token) => {
      const within = budgetOf(ctx);
      await within(() => count(ctx));
      await answerLive(ctx, token, within);
    },
    simulate: (ctx, token) => answerForm(ctx, token, { budget: () => budgetOf(ctx), count }),
  };
  return async (ctx: Context, next: Next) => {
    if (ctx.path !== prefix && !ctx.path.startsWith(`${prefix}/`)) return await next();
    const { token, part } = placeOf(ctx.path, prefix);
    // Names the request in logs and metrics: the token itself is a secret of the payer.
    ctx['_matchedRoute'] = `${prefix}/:token${part && `/${part}`}`;
    if (!METHODS[part].includes(ctx.method)) return refuseMethod(ctx, METHODS[part]);
    try {
      await answers[part](ctx, token);
    } catch (error) {
      sendPage(ctx, failurePage(deps, { what: followed.what, pages }, { ctx, error }));
    }
  };
}

function placeOf(path: string, prefix: string): { readonly token: string; readonly part: Part } {
  const rest = path.slice(prefix.length + 1);
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
type Failing<View> = { readonly what: string; readonly pages: PayerPages<View> };

function failurePage<View>(deps: Deps, { what, pages }: Failing<View>, { ctx, error }: Failure): Page {
  // To load a form's answer again would ask for what only takes a form.
  const visitor = ctx.method === 'POST' ? { lang: pickLanguage(ctx) } : visitorOf(ctx);
  if (error instanceof Refusal && error.code === 'NOT_FOUND') return pages.unknown(visitor);
  if (error instanceof NoPlace || isTooOften(error)) {
    ctx.set(error.headers);
    ctx.state['code'] = error.code;
    return error.status === 429 ? pages.tooOften(visitor) : pages.unavailable(visitor);
  }
  ctx.set('Retry-After', '2');
  if (error instanceof GateFull && error.behindOwn) {
    ctx.state['code'] = 'RATE_LIMITED';
    return pages.tooOften(visitor);
  }
  ctx.state['code'] = 'UNAVAILABLE';
  logFailure(deps.log, { err: error }, `the page of a ${what} could not be made`);
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
  const lang = pickLanguage(ctx);
  const { title, form, read } = wordsOf(lang).notPossible;
  ctx.set('Allow', methods.join(', '));
  sendPage(ctx, {
    status: 405,
    title,
    lang,
    body: html`<div class="card"><h1>${methods[0] === 'POST' ? form : read}</h1></div>`,
  });
}
