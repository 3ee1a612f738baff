import type { Values } from './variables/index.ts';

/** How the connection to Temporal is secured; undefined means that it is not. */
export function temporalTls(values: Values) {
  const {
    TEMPORAL_TLS_CLIENT_CERT_PATH: cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: key,
    TEMPORAL_API_KEY: apiKey,
  } = values;
  const [caPem, serverName] = [values.TEMPORAL_TLS_SERVER_CA_CERT_PATH?.pem, values.TEMPORAL_TLS_SERVER_NAME];
  const isOn =
    values.TEMPORAL_TLS ?? [caPem, serverName, cert, key, apiKey].some((given) => given !== undefined);
  return isOn
    ? { caPem, serverName, client: cert && key ? { certPem: cert.pem, keyPem: key.pem } : undefined }
    : undefined;
}

/** Reports settings that leave a connection to Temporal less secure than its variables suggest. */
export function wrongTemporal(values: Values): string[] {
  const {
    TEMPORAL_TLS: tls,
    TEMPORAL_TLS_CLIENT_CERT_PATH: cert,
    TEMPORAL_TLS_CLIENT_KEY_PATH: key,
  } = values;
  const problems: string[] = [];
  if ((cert === undefined) !== (key === undefined))
    problems.push(
      'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH go together: set the other one too.',
    );
  if (tls === false && temporalTls({ ...values, TEMPORAL_TLS: undefined }))
    problems.push(
      'TEMPORAL_TLS is false beside a TEMPORAL_TLS_ variable or TEMPORAL_API_KEY, which need TLS: remove the one or the others.',
    );
  return problems;
}
