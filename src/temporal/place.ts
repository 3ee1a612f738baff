/**
 * How the connection is secured. Without `caPem` the system's authorities are trusted,
 * without `serverName` the host's own name is checked.
 */
export type TemporalTls = {
  readonly caPem?: string | undefined;
  readonly serverName?: string | undefined;
  readonly client?: { readonly certPem: string; readonly keyPem: string } | undefined;
};

/** A namespace on a server, and how to reach it; without `tls` the connection is not encrypted. */
export type TemporalPlace = {
  readonly address: string;
  readonly namespace: string;
  readonly tls?: TemporalTls | undefined;
  readonly apiKey?: string | undefined;
};

/** The connection options of the client and of the worker, which are the same for both. */
export function connectionOptions({ address, tls, apiKey }: TemporalPlace) {
  const config = tls && {
    ...(tls.caPem === undefined ? {} : { serverRootCACertificate: Buffer.from(tls.caPem) }),
    ...(tls.serverName === undefined ? {} : { serverNameOverride: tls.serverName }),
    ...(tls.client
      ? { clientCertPair: { crt: Buffer.from(tls.client.certPem), key: Buffer.from(tls.client.keyPem) } }
      : {}),
  };
  return { address, ...(config ? { tls: config } : {}), ...(apiKey === undefined ? {} : { apiKey }) };
}
