/** What this program needs and is not part of it. */
export type OutsidePart = 'PostgreSQL' | 'Temporal' | 'RPC endpoints';

const MAX_CAUSES = 8;
/** Errors of the chains' pool of endpoints, which name every endpoint and what it did. */
const OF_ENDPOINTS: ReadonlySet<string> = new Set(['RpcUnavailable', 'BudgetSpent', 'EndpointFailure']);
/** gRPC's codes for a server that is not there: CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE. */
const GRPC_AWAY: ReadonlySet<unknown> = new Set([1, 4, 14]);
/** What the SDK's native connection throws, and the type of a try of watching that Temporal ended. */
const OF_TEMPORAL: ReadonlySet<string> = new Set(['TransportError', 'TemporalAway']);
/**
 * PostgreSQL's classes for a connection that is not had or ended, for a server that starts or stops, and for
 * one that takes no writes.
 */
const POSTGRES_AWAY = /^(?:08...|57P0[1-5]|53300|25006)$/;
const NO_CONNECTION =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/;

/** What is away outside, by codes and names of errors alone; undefined for everything that is ours. */
export function outageOf(error: unknown): OutsidePart | undefined {
  const chain = causesOf(error);
  if (chain.some(({ name }) => OF_ENDPOINTS.has(name))) return 'RPC endpoints';
  if (chain.some(({ name, code }) => OF_TEMPORAL.has(name) || GRPC_AWAY.has(code))) return 'Temporal';
  const isAway = chain.some(
    ({ code }) => typeof code === 'string' && (POSTGRES_AWAY.test(code) || NO_CONNECTION.test(code)),
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
  /** A failure of an activity has a type in place of a name. */
  readonly name: string;
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
    const name = 'type' in one && typeof one.type === 'string' ? one.type : one.name;
    found.push({ name, code: 'code' in one ? one.code : undefined, network });
    if (one.cause !== undefined) queue.push(one.cause);
    if (one instanceof AggregateError) queue.push(...one.errors);
  }
  return found;
}
