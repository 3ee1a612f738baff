import { promises as dns } from 'node:dns';

/**
 * Every address of a name, in textual form. Rejects with
 * an error that carries a DNS `code` when there is none.
 */
export type Lookup = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

export type LookupOptions = {
  /**
   * Also ask the operating system (hosts file, search domains, container names).
   * Only for operators who opened private blocks: getaddrinfo runs on libuv's four
   * threads, so four names with a stalling name server would stop the whole process.
   */
  readonly useSystem: boolean;
  /** Name servers as `address:port`; unset means those of the machine. */
  readonly servers?: readonly string[];
};

/**
 * How long to wait for one name server's response, and how
 * often each is asked. The caller's signal bounds the whole.
 */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/**
 * Looks names up with non-blocking DNS queries for A and
 * AAAA at once. These queries never append a search domain.
 */
export function createLookup(options: LookupOptions): Lookup {
  return async (host, signal) => {
    const failure = await query(options, host, signal);
    if (failure instanceof Error) {
      if (!options.useSystem || signal.aborted) throw failure;
      return (await dns.lookup(host, { all: true })).map((answer) => answer.address);
    }
    return failure;
  };
}

async function query(options: LookupOptions, host: string, signal: AbortSignal): Promise<string[] | Error> {
  const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (options.servers) resolver.setServers(options.servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [...fulfilled(v4), ...fulfilled(v6)];
    if (addresses.length > 0) return addresses;
    return v4.status === 'rejected' && v4.reason instanceof Error
      ? v4.reason
      : new Error(`no address for ${host}`);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function fulfilled(result: PromiseSettledResult<string[]>): string[] {
  return result.status === 'fulfilled' ? result.value : [];
}
