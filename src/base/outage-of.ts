/** What this program needs and is not part of it. */
export type OutsidePart = 'PostgreSQL' | 'Temporal' | 'RPC endpoints';

const MAX_CAUSES = 8;
/** Errors of the chains' pool of endpoints, which name every endpoint and what it did. */
const OF_ENDPOINTS: ReadonlySet<string> = new Set(['RpcUnavailable', 'BudgetSpent', 'EndpointFailure']);
/** gRPC's codes for a server that is not there: CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE. */
const GRPC_AWAY: ReadonlySet<unknown> = new Set([1, 4, 14]);
const GRPC_WORDS =
  /\b(?:UNAVAILABLE|DEADLINE_EXCEEDED)\b|code: '[^']*(?:unavailable|deadline|timeout)|tcp connect error|transport error|TransportError|failed to connect before the deadline|Temporal ended this try/i;
/**
 * PostgreSQL's classes for a connection that is not had or ended, for a server that starts or stops, and for
 * one that takes no writes.
 */
const POSTGRES_AWAY = /^(?:08...|57P0[1-5]|53300|25006)$/;
const NO_CONNECTION =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/;
const POSTGRES_WORDS =
  /^(?:Connection terminated|Connection ended|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|the connection (?:was|is) )|\b(?:terminating connection due to|the database system is (?:starting up|shutting down|in recovery)|connect ECONNREFUSED)/i;

/** What is away outside, where an error says only that; undefined for everything that is ours. */
export function outageOf(error: unknown): OutsidePart | undefined {
  const chain = causesOf(error);
  if (chain.some(({ name }) => OF_ENDPOINTS.has(name))) return 'RPC endpoints';
  if (chain.some(({ code, message }) => GRPC_AWAY.has(code) || GRPC_WORDS.test(message.slice(0, 2_000))))
    return 'Temporal';
  const isAway = chain.some(
    ({ code, message }) =>
      (typeof code === 'string' && (POSTGRES_AWAY.test(code) || NO_CONNECTION.test(code))) ||
      POSTGRES_WORDS.test(message.slice(0, 500)),
  );
  return isAway ? 'PostgreSQL' : undefined;
}

/** Errors of our own gates and deadlines, and PostgreSQL's code for a statement that such a limit ended. */
const OWN_LIMITS: ReadonlySet<unknown> = new Set(['GateFull', 'OutOfTime', '57014']);

/** Whether an error says only that one of our own limits ended the work, or did not let it begin. */
export function isOwnLimit(error: unknown): boolean {
  return causesOf(error).some(({ name, code }) => OWN_LIMITS.has(name) || OWN_LIMITS.has(code));
}

/** The chain whose endpoints an error is about, where it says so; empty where it does not. */
export function networkIn(error: unknown): string {
  return causesOf(error).find(({ network }) => network !== '')?.network ?? '';
}

type Link = {
  readonly name: string;
  readonly message: string;
  readonly code: unknown;
  readonly network: string;
};

/** The error, its causes and, where every address of a name failed, what each of them said. */
function causesOf(error: unknown): Link[] {
  const found: Link[] = [];
  const queue: unknown[] = [error];
  for (let one = queue.shift(); one !== undefined && found.length < MAX_CAUSES; one = queue.shift()) {
    if (!(one instanceof Error)) continue;
    const network = 'network' in one && typeof one.network === 'string' ? one.network : '';
    found.push({ name: one.name, message: one.message, code: 'code' in one ? one.code : undefined, network });
    if (one.cause !== undefined) queue.push(one.cause);
    if (one instanceof AggregateError) queue.push(...one.errors);
  }
  return found;
}
