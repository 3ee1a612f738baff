import type { Context } from 'koa';
import { siteOf } from '../api/access/client-address.ts';
import { createOriginRule, forgedRequest } from '../api/access/csrf.ts';
import { prefixOf } from '../api/access/login.ts';
import { sessionCookie, sessionTokens } from '../api/access/session-cookie.ts';
import { ApiError, type ErrorCode, toApiError, unavailable } from '../api/errors.ts';
import { readFormBody } from '../api/requests/body.ts';
import { BUDGET_MS, withinBudget } from '../api/requests/deadline.ts';
import { spoken } from '../api/requests/form.ts';
import type { ListDoor } from '../api/requests/lists.ts';
import type { Guards } from '../api/requests/rate-limits.ts';
import type { Caller } from '../api/route.ts';
import { simulation } from '../api/simulation.ts';
import { check, readQuery } from '../api/validation.ts';
import { LineIsFull, type WaitingLine } from '../base/async/waiting-line.ts';
import type { Mode } from '../domain/assets.ts';
import { createSessionFinder, type SessionOwner } from '../services/access/sessions.ts';
import { createOwnPasswordChange } from '../services/access/signed-in/own-password.ts';
import { createStepUp } from '../services/access/signed-in/step-up.ts';
import type { Deps } from '../services/deps.ts';
import type { AskedChains } from '../services/merchants/withdraw-addresses.ts';
import { scriptOf } from '../web/assets/assets.ts';
import type { Door } from '../web/dashboard/door.ts';

const SENTENCES = {
  NOT_FOUND: 'There is no such page.',
  METHOD_NOT_ALLOWED: 'This page does not take this method.',
  SUBSCRIPTION_REQUIRED: 'An active subscription is required.',
} as const;

/** The door of the API as the dashboard sees it: the same rules, counters and words. */
export function dashboardDoor(
  deps: Deps,
  parts: {
    readonly guards: Guards;
    readonly lists: ListDoor;
    readonly publicUrl: string | undefined;
    readonly passwordLine: WaitingLine;
    readonly chains: AskedChains;
  },
): Door {
  const { guards, lists, publicUrl, passwordLine, chains } = parts;
  const find = createSessionFinder(deps);
  const prefix = prefixOf(publicUrl);
  const findOwner = async (ctx: Context) => {
    const [token, ...others] = sessionTokens(ctx.req);
    return token === undefined || others.length > 0 ? undefined : await find(token);
  };
  return {
    findOwner,
    countUser: (ctx, owner, mode) => guards.countCaller(ctx, callerOf(owner, mode)),
    countTest: (ctx, owner, mode, subject) => guards.countTest(ctx, callerOf(owner, mode), subject),
    countPublic: guards.countPublic,
    isOwnOrigin: createOriginRule(publicUrl),
    readForm: readFormBody,
    readQuery,
    check,
    simulation,
    readList: (merchantId, work, maxWaitMs = BUDGET_MS) => lists.run(merchantId, maxWaitMs, work),
    refusal: (code) => (code === 'CSRF' ? forgedRequest() : new ApiError(code, SENTENCES[code])),
    late: (cause) => unavailable(cause),
    problemOf: (thrown) => {
      const { status, code, message, headers, extra } = toApiError(thrown);
      return { status, code: code satisfies ErrorCode, message, headers, details: detailsOf(extra, message) };
    },
    networkOf: (ctx) => siteOf(guards.addressOf(ctx.req)),
    prefix,
    publicUrl: (ctx: Context) => publicUrl ?? `http://localhost:${ctx.req.socket.localPort}`,
    ...proofs(deps, passwordLine),
    chains,
    scripts: [scriptOf('page', `${prefix}/`)],
  };
}

function callerOf(owner: SessionOwner, mode: Mode): Caller {
  return { kind: 'session', mode, ...owner };
}

/** What looks at passwords, in the line of logins, and hands out the tokens that come of it. */
function proofs(deps: Deps, line: WaitingLine) {
  const within = <T>(work: () => Promise<T>) => withinBudget({ limitMs: BUDGET_MS }, work);
  const options = { within, line };
  const [stepUp, changePassword] = [createStepUp(deps, options), createOwnPasswordChange(deps, options)];
  const handOver = (ctx: Context, token: string): void => ctx.set('Set-Cookie', sessionCookie(token));
  return {
    stepUp: (...given) => stepUp(...given).catch(overload),
    changePassword: (...given) => changePassword(...given).catch(overload),
    handOver,
    tooOften: (seconds) =>
      new ApiError('RATE_LIMITED', `Too many failed tries. Try again in ${spoken(seconds)}.`, {
        headers: { 'Retry-After': `${seconds}` },
      }),
  } satisfies Partial<Door>;
}

function overload(error: unknown): never {
  throw error instanceof LineIsFull ? unavailable(error) : error;
}

/** A refusal that names one member is shown at its field. */
function detailsOf({ details, field }: ApiError['extra'], message: string) {
  return details ?? (field === undefined ? [] : [{ path: field, message }]);
}
