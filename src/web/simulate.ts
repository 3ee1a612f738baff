import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { PublicPaymentView } from '../contract/payment-link.ts';
import { NETWORKS } from '../domain/assets.ts';
import type { Deps } from '../services/deps.ts';
import { SHARES, simulatePayment, testLinkOwner } from '../services/payment-links/simulate.ts';
import { Refusal } from '../services/refusal.ts';
import { html } from './html.ts';
import { type Page, sendPage } from './layout.ts';
import { visitorOf } from './visitor.ts';

/** What the form needs that only the API knows. */
export type SimulateOptions = {
  readonly isOwnOrigin: (request: IncomingMessage) => boolean;
  /** The members of the form; throws where it is too large, or no form. */
  readonly readForm: (ctx: Context) => Promise<Record<string, unknown>>;
  /** Counts a test of this merchant, as those of the API. Throws 429. */
  readonly countTest: (ctx: Context, merchantId: string) => Promise<void>;
  /** What a person is told of an error; throws one that is our own fault. */
  readonly refusalOf: (ctx: Context, error: unknown) => { readonly status: number; readonly message: string };
};

/**
 * The key of the form on this page. It is made of the link's state: a rendering stays the same while
 * nothing happens, the same form posted twice does it once, and after a payment the next one is another.
 */
export function simulationKey(view: PublicPaymentView): string {
  const paid = view.transactions.map((row) => [row.transaction_hash, row.status]);
  const open = view.methods.map((method) => [method.network, method.amount]);
  return createHash('sha256')
    .update(JSON.stringify([paid, open]))
    .digest('base64url');
}

/**
 * Takes the form of `POST /pay/:token/simulate` and sends the browser back to the page. Throws the
 * NOT_FOUND {@link Refusal} for every link that is no test link. `budget` begins a new limit of time;
 * `count` counts the request like the page.
 */
export function simulateAnswers(deps: Deps, options: SimulateOptions) {
  return async (ctx: Context, token: string, { budget, count }: Counted): Promise<void> => {
    if (!options.isOwnOrigin(ctx.req)) return refuse(ctx, 403, 'The form did not come from this page.');
    const within = budget();
    try {
      await within(() => count(ctx));
      const merchantId = await within(() => testLinkOwner(deps, token));
      await within(() => options.countTest(ctx, merchantId));
      const { share, key, network } = await options.readForm(ctx);
      const known = SHARES.find((one) => one === share);
      if (known === undefined || typeof key !== 'string' || !KEY.test(key))
        return refuse(ctx, 400, 'The form is not complete.');
      const chosen = NETWORKS.find((one) => one === network) ?? visitorOf(ctx).network;
      await budget()(() => simulatePayment(deps, { token, share: known, network: chosen, key }));
    } catch (error) {
      if (error instanceof Refusal && error.code === 'NOT_FOUND') throw error;
      const { status, message } = options.refusalOf(ctx, error);
      return refuse(ctx, status, message);
    }
    ctx.status = 303;
    ctx.set('Location', backTo(ctx, token));
    ctx.type = 'text/plain';
    ctx.body = 'Go back to the payment';
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
  const page: Page = {
    status,
    title: 'No payment was simulated',
    body: html`<div class="card">
<h1>No payment was simulated</h1>
<p>${sentence}</p>
<p><a href="${backTo(ctx, encodeURIComponent(token))}">Back to the payment</a></p>
</div>`,
  };
  sendPage(ctx, page);
}
