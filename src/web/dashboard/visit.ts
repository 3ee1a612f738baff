import type { Context } from 'koa';
import type { Mode } from '../../domain/assets.ts';
import type { SessionOwner } from '../../services/access/sessions.ts';
import type { Deps, TxDeps } from '../../services/deps.ts';
import type { WithdrawNotices } from '../../services/merchants/withdraw-notices.ts';
import type { Scope } from '../../services/scope.ts';
import type { Tx } from '../../services/transact.ts';
import type { Html } from '../html.ts';
import type { Door, Problem } from './door.ts';

/** What every page says of who looks at it: read once, before the page itself. */
export type Standing = {
  readonly merchantName: string;
  readonly email: string;
  readonly usesTotp: boolean;
  /** Until when this sign-in need not prove again who it is; null where it has to. */
  readonly steppedUpUntil: Date | null;
  /** Withdraw addresses that were changed and do not count yet, and those that could not count. */
  readonly withdrawals: WithdrawNotices;
};

/** One request of a signed-in user for a page of a mode. */
export type Visit = {
  readonly ctx: Context;
  readonly door: Door;
  /** Acts in the name of the user: what it changes is written down under it. */
  readonly deps: Deps;
  readonly owner: SessionOwner;
  readonly mode: Mode;
  readonly scope: Scope;
  readonly standing: Standing;
  /** What the pattern of the path let through: any text. */
  readonly params: Readonly<Record<string, string>>;
  /** What the path names by its id, of this merchant and mode alone. */
  readonly named: Scope & { readonly id: string };
  /** The address's query; a repeated member is a list, which no schema takes. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The address of a page of this mode, with a query where members are given. */
  readonly to: (path: string, query?: Query) => string;
  /** Runs what is as expensive as a list when the merchant has a turn for it. Throws 429 and 503. */
  readonly inTurn: <T>(work: (deps: Deps) => Promise<T>) => Promise<T>;
};

/** Members of an address; what is empty or undefined is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** Texts by the name of a member. */
export type Values = Readonly<Record<string, string>>;

/** What a page shows inside the frame. */
export type Screen = { readonly status?: number; readonly title: string; readonly body: Html };

/** What stands at a path in each mode, or in one: what a GET shows or sends, and what a POST does. */
export type DashboardPage = {
  readonly path: string;
  readonly only?: Mode | undefined;
  readonly show?: ((visit: Visit) => Promise<Screen>) | undefined;
  readonly post?: FormPost;
  readonly file?: Download;
};

/** A file that is made row by row while it is sent. */
export type Download = {
  readonly name: string;
  readonly type: string;
  readonly pieces: (visit: Visit, signal: AbortSignal) => AsyncIterable<string>;
};

/** What was typed into a form and what was wrong with it; nothing of either for a new form. */
export type Typed = {
  readonly values: Values;
  readonly errors: Values;
  /** What is wrong with the form as a whole. */
  readonly problem: string | undefined;
  /** The key under which this form takes effect once. */
  readonly once: string;
};

/** What a form has done: where to go on, and what is shown before that, this once. */
export type Done = {
  /** A path without the mode. */
  readonly to: string;
  readonly secrets?: Secrets;
  /** The token under which this sign-in goes on. The answer carries it, and it is kept nowhere. */
  readonly token?: string;
};

/** What can be seen once, right after it was made. */
export type Secrets = {
  readonly title: string;
  readonly text: string;
  readonly items: readonly (readonly [label: string, value: string])[];
};

/**
 * Whether money or access is at stake, so that the password is asked for again, unless it was given within
 * ten minutes: `always`, or `live` in live mode alone. The transaction asks once more before anything else;
 * `in service`: after the locks of users, which the service takes first.
 */
export type Guard = 'none' | 'live' | 'always' | 'in service';

/** What a form changes, all of it in one transaction. */
export type FormPost<Input = never, Prepared = unknown> = {
  readonly guard: Guard;
  /** Time that is allowed beside the wait for the database: for a name lookup, say. */
  readonly extraMs?: number | undefined;
  /** Starts work for which nobody pays: its rate has a limit of its own. */
  readonly isTest?: true | undefined;
  /** What the members mean; members that it does not name are not looked at. */
  readonly read: (visit: Visit, values: Values) => Reading<Input>;
  /** Finds out from outside what the change needs to know, while no connection is held. */
  readonly prepare?: ((visit: Visit, input: Input) => Promise<Prepared>) | undefined;
  readonly apply: (tx: Tx, deps: TxDeps, change: FormChange<Input, Prepared>) => Promise<Done>;
  /** Shows the form again, with what was typed and what was wrong. */
  readonly again: (visit: Visit, typed: Typed) => Promise<Screen>;
};

/** What a form is to change, and for whom. */
export type FormChange<Input, Prepared> = {
  readonly visit: Visit;
  readonly input: Input;
  readonly prepared: Prepared;
};

/** What the members of a form say, or what is wrong with them. */
export type Reading<Input> = { readonly input: Input } | { readonly details: Problem['details'] };
