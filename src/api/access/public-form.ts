import type { Context } from 'koa';
import type { Deps } from '../../services/deps.ts';
import type { ClientAddress } from './client-address.ts';
import type { OriginRule } from './csrf.ts';

/** What the routes of a form need that anybody may send. */
export type PublicForm = {
  readonly deps: Deps;
  readonly addressOf: ClientAddress;
  readonly isOwnOrigin: OriginRule;
  /** Counts a request that needs no credentials. Throws 429. */
  readonly countPublic: (ctx: Context) => Promise<void>;
};
