import type { z } from 'zod';
import type { Mode } from '../domain/assets.ts';
import type { KeyScope, RouteScope } from '../domain/key-scope.ts';
import type { SessionOwner } from '../services/access/sessions.ts';
import type { Deps, TxDeps } from '../services/deps.ts';
import type { Tx } from '../services/transact.ts';
import type { ErrorCode } from './errors.ts';

/** The codes of a route that makes something permanent and has a quota for it. */
export const OVER_QUOTA = ['QUOTA_REACHED', 'DAILY_QUOTA_REACHED'] as const;

/**
 * Who calls: proven by an API key, or by the session of a signed-in
 * user. The mode decides which data exist for the request.
 */
export type Caller = {
  readonly merchantId: string;
  readonly mode: Mode;
  /** Whether the merchant's subscription is active now. */
  readonly subscribed: boolean;
} & (
  | {
      readonly kind: 'key';
      readonly keyId: string;
      readonly scopes: readonly KeyScope[];
      readonly allowedNetworks: readonly string[];
    }
  | ({ readonly kind: 'session' } & SessionOwner)
);

type Method = 'get' | 'post' | 'put' | 'delete';

/** An answer; the body's type is the route's response schema. */
export type Reply<B> = { readonly status: 200 | 201; readonly body: B };

/** A read, or a write that made nothing new. */
export const ok = <B>(body: B): Reply<B> => ({ status: 200, body });
/** Something new was made. */
export const created = <B>(body: B): Reply<B> => ({ status: 201, body });

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

type RouteInput<A, P, Q, B> = {
  readonly caller: A extends 'merchant' ? Caller : undefined;
  readonly params: Output<P>;
  readonly query: Output<Q>;
  readonly body: Output<B>;
  /** Where people reach this service, without a slash at the end: the links in an answer begin with it. */
  readonly publicUrl: string;
};

type Schema = z.ZodType | undefined;

/**
 * What a route does: it reads, with connections of its own, or it
 * changes something, all of it in the one transaction of its request.
 */
type Work<Input, Answer, Prepared> =
  | {
      readonly read: (deps: Deps, input: Input) => Promise<Reply<Answer>>;
      readonly prepare?: never;
      readonly apply?: never;
    }
  | {
      /**
       * Finds out from outside what the change needs to know, while no connection is held: a name, a price.
       */
      readonly prepare?: (deps: Deps, input: Input) => Promise<Prepared>;
      readonly apply: (
        tx: Tx,
        deps: TxDeps,
        input: Input & { readonly prepared: Prepared },
      ) => Promise<Reply<Answer>>;
      readonly read?: never;
    };

export type RouteDeclaration<
  A extends 'merchant' | 'none',
  P extends Schema,
  Q extends Schema,
  B extends Schema,
  R extends z.ZodType,
  Prepared,
> = Work<RouteInput<A, P, Q, B>, z.input<R>, Prepared> & {
  readonly method: Method;
  /** Below the base path; parameters as `:name`. */
  readonly path: string;
  /** What generated clients call it: a verb and what it is about, in camelCase. It stays. */
  readonly operationId: string;
  readonly auth: A;
  /** What an API key must be allowed to do; `none` for a route that takes no key. */
  readonly scope: A extends 'merchant' ? RouteScope : 'none';
  /** What its answer opens needs this scope as well. */
  readonly alsoScope?: RouteScope;
  /**
   * `test`: the other mode gets 403 before anything else of the request is
   * checked. `session`: an API key gets 403.
   */
  readonly only?: 'test' | 'session';
  /** Outlives the session that makes it: in live mode a person shows password and code again first. */
  readonly guarded?: true;
  /** Outlives its request, so what an API key changes is written down too; so is what is guarded. */
  readonly recorded?: true;
  /** True for a route that starts work for which nobody pays: its rate has a limit of its own. */
  readonly isTest?: true;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** A parameter that does not match is an id that does not exist: 404. */
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly response: R;
  readonly statuses: readonly (200 | 201)[];
  /** Codes that only this kind of route answers, for the description. */
  readonly errors?: readonly ErrorCode[];
  /** Time that is allowed beside the wait for the database: for a name lookup, say. */
  readonly extraMs?: number;
};

/** A route whose types were checked where it was declared. */
export type Route = RouteDeclaration<'merchant' | 'none', Schema, Schema, Schema, z.ZodType, unknown>;

/** One declaration gives validation at the door, the check of the answer, and the description in OpenAPI. */
export function route<
  A extends 'merchant' | 'none',
  R extends z.ZodType,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
  Prepared = undefined,
>(declaration: RouteDeclaration<A, P, Q, B, R, Prepared>): Route {
  return declaration as unknown as Route;
}
