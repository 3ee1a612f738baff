import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { z } from 'zod';
import type { Mode } from '../../domain/assets.ts';
import type { SessionOwner } from '../../services/access/sessions.ts';
import type { OwnPasswordChange } from '../../services/access/signed-in/own-password.ts';
import type { StepUp } from '../../services/access/signed-in/step-up.ts';
import type { Simulation } from '../../services/deposits/simulate.ts';
import type { Deps } from '../../services/deps.ts';
import type { AskedChains } from '../../services/merchants/withdraw-addresses.ts';
import type { Script } from '../layout.ts';

/** A refusal in the words and with the status that the API gives it. */
export type Problem = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What is wrong with which member. */
  readonly details: readonly { readonly path: string; readonly message: string }[];
};

/**
 * What the dashboard needs of the door that requests come in by. It is handed in, so that
 * a page is let in, counted and refused by the same rules as a call of the API.
 */
export type Door = {
  /** Who is signed in with the request's cookie; undefined for nobody, or for two cookies. */
  readonly findOwner: (ctx: Context) => Promise<SessionOwner | undefined>;
  /** Counts a request of a signed-in user, in the same budget as their calls of the API. Throws 429. */
  readonly countUser: (ctx: Context, owner: SessionOwner, mode: Mode) => Promise<void>;
  /** Counts a request that starts work for which nobody pays. Throws 429. */
  readonly countTest: (ctx: Context, owner: SessionOwner, mode: Mode, subject?: string) => Promise<void>;
  /** Counts a request of nobody, by its address. Throws 429. */
  readonly countPublic: (ctx: Context) => Promise<void>;
  /** Whether a form was sent by one of our own pages. */
  readonly isOwnOrigin: (request: IncomingMessage) => boolean;
  /** The members of a form, at most this large. Throws 413, 415 and 400. */
  readonly readForm: (ctx: Context, maxBytes: number) => Promise<Record<string, unknown>>;
  /** The members of the address's query; a repeated one is a list. Throws 400. */
  readonly readQuery: (querystring: string) => Record<string, unknown>;
  /** What is wrong with a value, in the words of the API; no details exactly where it is good. */
  readonly check: (
    schema: z.ZodType,
    value: unknown,
  ) => { readonly value: unknown; readonly details: Problem['details'] };
  /** What a simulation of the API takes, with every alias and default resolved. */
  readonly simulation: z.ZodType<Omit<Simulation, 'merchantId'>>;
  /**
   * Runs the work with the connections of lists when the merchant has a turn, for which it waits at most this
   * long; as long as an answer may take where nothing is said. Throws 429 and 503.
   */
  readonly readList: <T>(
    merchantId: string,
    work: (deps: Deps) => Promise<T>,
    maxWaitMs?: number,
  ) => Promise<T>;
  /** An error for a refusal that a page decides on itself. */
  readonly refusal: (code: 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'SUBSCRIPTION_REQUIRED' | 'CSRF') => Error;
  /** The error of a page that took too long. */
  readonly late: (cause: Error) => Error;
  /** What a thrown error is to a caller; 500 for a fault of our own. */
  readonly problemOf: (thrown: unknown) => Problem;
  /** The network that a request came from: an IPv4 address, or the /64 of an IPv6 one. */
  readonly networkOf: (ctx: Context) => string;
  /** The path that stands before ours where a proxy adds one; otherwise empty. */
  readonly prefix: string;
  /** What links for others begin with. */
  readonly publicUrl: (ctx: Context) => string;
  /** Looks at password and code again, counted like a login. */
  readonly stepUp: StepUp;
  /** Looks at the present password before another takes its place, counted like a login. */
  readonly changePassword: OwnPasswordChange;
  /** Lets the browser go on under another token of its session. */
  readonly handOver: (ctx: Context, token: string) => void;
  /** The error of a try for which there were too many before. */
  readonly tooOften: (retryAfterSeconds: number) => Error;
  /** The chains that can be asked about an address. */
  readonly chains: AskedChains;
  readonly scripts: readonly Script[];
};
