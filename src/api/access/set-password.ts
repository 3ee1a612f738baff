import type Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { LineIsFull } from '../../base/async/waiting-line.ts';
import { createPasswordSetter, type PasswordSetting } from '../../services/access/set-password.ts';
import { ApiError, unavailable } from '../errors.ts';
import { BUDGET_MS, withinBudget } from '../requests/deadline.ts';
import {
  answerJson,
  fieldsOf,
  readFields,
  readsPages,
  redirect,
  shownRefusal,
  spoken,
  wantsPage,
} from '../requests/form.ts';
import { check, refuseDetails } from '../validation.ts';
import { siteOf } from './client-address.ts';
import { forgedRequest } from './csrf.ts';
import type { PublicForm } from './public-form.ts';

const PATH = '/set-password';
const DONE = 'done';

/** The pages around a link; each sets the whole answer. */
export type PasswordPages = {
  choose(
    ctx: Context,
    view: { readonly status: number; readonly problem?: string; readonly code?: string },
  ): void;
  chosen(ctx: Context): void;
};

export type PasswordRoutes = PublicForm & {
  readonly pages: PasswordPages;
};

const fields = z.object({
  /** People who paste by hand paste the whole link. */
  code: z
    .string()
    .min(1)
    .max(2_048, { abort: true })
    .transform((text) => text.slice(text.lastIndexOf('#') + 1).trim()),
  password: z.string().min(1).max(1_024, { abort: true }),
  again: z.string().max(1_024, { abort: true }).nullish(),
});

/**
 * `/set-password`, where a person uses the link that an operator handed over. The link's token
 * stands behind the `#`: a browser does not send that part, so no request line, log, proxy or
 * `Referer` has it, and a mail scanner that opens the link uses nothing up. The page puts it into
 * the form, and it travels in the body of the one POST.
 */
export function addPasswordRoutes(router: Router, options: PasswordRoutes): void {
  const { deps, pages, countPublic } = options;
  const setPassword = createPasswordSetter(deps, (work) => withinBudget({ limitMs: BUDGET_MS }, work));

  const set = async (ctx: Context): Promise<Extract<PasswordSetting, { kind: 'set' }>> => {
    if (!options.isOwnOrigin(ctx.req)) throw forgedRequest();
    // Before the body is read: reading it is work that anybody could make us do.
    await withinBudget({ limitMs: BUDGET_MS }, () => countPublic(ctx));
    const { value, details } = check(fields, await readFields(ctx));
    refuseDetails(details);
    const { code: token, password, again } = value as z.output<typeof fields>;
    if (typeof again === 'string' && again !== password)
      throw new ApiError('VALIDATION_ERROR', 'The two passwords are not the same.');
    const result = await setPassword({ token, password, site: siteOf(options.addressOf(ctx.req)) }).catch(
      overload,
    );
    if (result.kind === 'set') {
      deps.log.info({ userId: result.userId, merchantId: result.merchantId }, 'a password was set by a link');
      return result;
    }
    if (result.kind === 'refused')
      throw new ApiError(
        'UNAUTHORIZED',
        'This link opens nothing: it was used, replaced by a newer one, or is older than a day.',
      );
    const headers = { 'Retry-After': `${result.retryAfterSeconds}` };
    throw new ApiError('RATE_LIMITED', `Too many tries. Try again in ${spoken(result.retryAfterSeconds)}.`, {
      headers,
    });
  };

  router.get(PATH, async (context) => {
    const ctx = context as unknown as Context;
    try {
      await countPublic(ctx);
      if (ctx.querystring === DONE) return pages.chosen(ctx);
      pages.choose(ctx, { status: 200 });
    } catch (thrown) {
      if (!readsPages(ctx)) throw thrown;
      const { status, message } = shownRefusal(ctx, thrown);
      pages.choose(ctx, { status, problem: message });
    }
  });
  router.post(PATH, async (context) => {
    const ctx = context as unknown as Context;
    if (!wantsPage(ctx)) return answerJson(ctx, { user_id: (await set(ctx)).userId });
    try {
      await set(ctx);
      redirect(ctx, `${PATH.slice(1)}?${DONE}`);
    } catch (thrown) {
      const { status, message } = shownRefusal(ctx, thrown);
      const { code } = fieldsOf(ctx);
      // A code that was refused is not filled in again.
      const shown = typeof code === 'string' && status !== 401 ? { code } : {};
      pages.choose(ctx, { status, problem: message, ...shown });
    }
  });
}

function overload(error: unknown): never {
  throw error instanceof LineIsFull ? unavailable(error) : error;
}
