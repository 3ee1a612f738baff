import type { Context } from 'koa';
import type { Mode } from '../../domain/assets.ts';
import type { SessionOwner } from '../../services/access/sessions.ts';
import type { Deps, TxDeps } from '../../services/deps.ts';
import type { Scope } from '../../services/scope.ts';
import type { Tx } from '../../services/transact.ts';
import type { Html } from '../html.ts';
import type { Door } from './door.ts';

/** What every page says of who looks at it: read once, before the page itself. */
export type Standing = {
  readonly merchantName: string;
  readonly email: string;
  readonly usesTotp: boolean;
  /** Until when this sign-in need not prove again who it is; null where it has to. */
  readonly steppedUpUntil: Date | null;
  /** Withdraw addresses that were changed and do not count yet. */
  readonly pendingWithdrawals: readonly PendingWithdrawal[];
  /** Those that could not count when they were due, and why. */
  readonly refusedWithdrawals: readonly (PendingWithdrawal & { readonly reason: string })[];
};

/** A withdraw address that is to count from a time on; null takes the present one away. */
export type PendingWithdrawal = {
  readonly id: string;
  readonly network: string;
  readonly address: string | null;
  readonly countsAt: string;
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
  /** The address's query; a repeated member is a list, which no schema takes. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The address of a page of this mode, with a query where members are given. */
  readonly to: (path: string, query?: Readonly<Record<string, string | number | undefined>>) => string;
};

/** What a page shows inside the frame. */
export type Screen = {
  readonly status?: number;
  readonly title: string;
  readonly body: Html;
  /** Rules of this page alone: our own constant. */
  readonly style?: string;
};

/** A page that is read. */
export type ReadPage = {
  readonly path: string;
  /** Stays open while the merchant's subscription has lapsed. */
  readonly withoutSubscription?: true;
  readonly only?: Mode;
  readonly show: (visit: Visit) => Promise<Screen>;
};

/** A file that is made row by row while it is sent. */
export type Download = {
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly pieces: (visit: Visit, signal: AbortSignal) => AsyncIterable<string>;
};

/** What was typed into a form and what was wrong with it; nothing of either for a new form. */
export type Typed = {
  readonly values: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
  /** What is wrong with the form as a whole. */
  readonly problem: string | undefined;
  /** The key under which this form takes effect once. */
  readonly once: string;
};

/** What a form has done: where to go on, and what is shown before that, this once. */
export type Done = {
  readonly to: string;
  readonly secrets?: Secrets;
  /** The token under which this sign-in goes on. The answer carries it, and it is kept nowhere. */
  readonly token?: string;
};

/** What can be seen once, right after it was made. */
export type Secrets = {
  readonly title: string;
  readonly text: string;
  readonly items: readonly { readonly label: string; readonly value: string }[];
};

/** A form that changes something, all of it in one transaction. */
export type FormPage<Input = never, Prepared = unknown> = {
  readonly path: string;
  readonly withoutSubscription?: true;
  readonly only?: Mode;
  /** Time that is allowed beside the wait for the database: for a name lookup, say. */
  readonly extraMs?: number;
  /** Starts work for which nobody pays: its rate has a limit of its own. */
  readonly isTest?: true;
  /** Money or access is at stake: the password is asked for again, unless it was within ten minutes. */
  readonly guarded?: true;
  /** What the members mean; members that it does not name are not looked at. */
  readonly fields: (visit: Visit, values: Readonly<Record<string, string>>) => FieldsResult<Input>;
  /** Finds out from outside what the change needs to know, while no connection is held. */
  readonly prepare?: (visit: Visit, input: Input) => Promise<Prepared>;
  readonly apply: (
    tx: Tx,
    deps: TxDeps,
    change: {
      readonly visit: Visit;
      readonly input: Input;
      readonly prepared: Prepared;
    },
  ) => Promise<Done>;
  /** Shows the form again, with what was typed and what was wrong. */
  readonly again: (visit: Visit, typed: Typed) => Promise<Screen>;
};

/** What belongs to one subject. */
export type Pages = {
  readonly reads?: readonly ReadPage[];
  readonly forms?: readonly FormPage[];
  readonly downloads?: readonly Download[];
};

/** What the members of a form say, or what is wrong with them. */
export type FieldsResult<Input> =
  | { readonly input: Input }
  | { readonly details: readonly { readonly path: string; readonly message: string }[] };

/** One declaration; the type of what its members mean was checked where it was declared. */
export function form<Input, Prepared = undefined>(declaration: FormPage<Input, Prepared>): FormPage {
  return declaration as unknown as FormPage;
}
