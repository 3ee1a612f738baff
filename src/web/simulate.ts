import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { NETWORKS, type Network } from '../domain/assets.ts';
import { Refusal } from '../services/refusal.ts';
import { html } from './html.ts';
import { type Page, sendPage } from './layout.ts';
import { visitorOf } from './visitor.ts';
import { pickLanguage, wordsOf } from './words/index.ts';

/** What the form needs that only the API knows. */
export type SimulateOptions = {
  readonly isOwnOrigin: (request: IncomingMessage) => boolean;
  /** The members of the form; throws where it is too large, or no form. */
  readonly readForm: (ctx: Context) => Promise<Record<string, unknown>>;
  /** Counts a simulation on this page, by whoever has its token. Throws 429. */
  readonly countSimulation: (
    ctx: Context,
    page: { readonly merchantId: string; readonly token: string },
  ) => Promise<void>;
  /** What a person is told of an error; throws one that is our own fault. */
  readonly refusalOf: (
    ctx: Context,
    error: unknown,
  ) => { readonly status: number; readonly code: string; readonly message: string };
};

/** Money that is only played through, for what has a token in test mode. */
export type Simulated = {
  /** The merchant; throws the NOT_FOUND Refusal for everything that is not of the test mode. */
  ownerOf(token: string): Promise<string>;
  /** What a form asks for, to be done once for its key; undefined where it is not complete. */
  take(
    fields: Readonly<Record<string, unknown>>,
    network: Network | undefined,
  ): ((request: { readonly token: string; readonly key: string }) => Promise<void>) | undefined;
};

/**
 * Takes the form of `POST …/:token/simulate` and sends the browser back to the page. Throws the
 * NOT_FOUND {@link Refusal} as `ownerOf` does. `budget` begins a new limit of time;
 * `count` counts the request like the page.
 */
export function simulateAnswers(simulated: Simulated, options: SimulateOptions) {
  return async (ctx: Context, token: string, { budget, count }: Counted): Promise<void> => {
    const { foreign, incomplete } = wordsOf(pickLanguage(ctx)).notSimulated;
    if (!options.isOwnOrigin(ctx.req)) return refuse(ctx, 403, foreign);
    const within = budget();
    try {
      await within(() => count(ctx));
      const merchantId = await within(() => simulated.ownerOf(token));
      await within(() => options.countSimulation(ctx, { merchantId, token }));
      const fields = await options.readForm(ctx);
      const { key } = fields;
      const network = NETWORKS.find((one) => one === fields['network']) ?? visitorOf(ctx).network;
      const work = simulated.take(fields, network);
      if (work === undefined || typeof key !== 'string' || !KEY.test(key))
        return refuse(ctx, 400, incomplete);
      await budget()(() => work({ token, key }));
    } catch (error) {
      if (error instanceof Refusal && error.code === 'NOT_FOUND') throw error;
      const { status, code, message } = options.refusalOf(ctx, error);
      const { refused, ofToday } = wordsOf(pickLanguage(ctx)).notSimulated;
      return refuse(ctx, status, code === 'DAILY_QUOTA_REACHED' ? ofToday : refused(status, message));
    }
    ctx.status = 303;
    ctx.set('Location', backTo(ctx, token));
    ctx.type = 'text/plain';
    ctx.body = 'Go back to the page';
  };
}

type Counted = {
  readonly budget: () => <T>(work: () => Promise<T>) => Promise<T>;
  readonly count: (ctx: Context) => Promise<void>;
};

const KEY = /^[A-Za-z0-9_-]{1,64}$/;

/** Relative, so that it also works where PUBLIC_URL has a path; with the choices of the page. */
function backTo(ctx: Context, token: string): string {
  const query = new URLSearchParams(ctx.querystring).toString();
  return `../${token}${query === '' ? '' : `?${query}`}`;
}

function refuse(ctx: Context, status: number, sentence: string): void {
  const token = ctx.path.split('/').at(-2) ?? '';
  const lang = pickLanguage(ctx);
  const { title, back } = wordsOf(lang).notSimulated;
  const page: Page = {
    status,
    title,
    lang,
    body: html`<div class="card">
<h1>${title}</h1>
<p>${sentence}</p>
<p><a href="${backTo(ctx, encodeURIComponent(token))}">${back}</a></p>
</div>`,
  };
  sendPage(ctx, page);
}
