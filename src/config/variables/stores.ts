import { pemFile, pemKeyFile } from '../key-parsers.ts';
import * as parse from '../parsers.ts';
import * as urls from '../urls.ts';
import { variable } from '../variable.ts';

/**
 * PostgreSQL and Temporal. The variables of Temporal's TLS have the names
 * that Temporal's own command line reads.
 */
export const STORE_VARIABLES = {
  DATABASE_URL: variable({
    group: 'stores',
    parser: urls.databaseUrl,
    secret: true,
    production: ['all', 'api', 'worker', 'signer', 'tool'],
    example: 'postgres://gateway:PASSWORD@db:5432/gateway',
    about:
      'PostgreSQL. TLS: `?sslmode=require`, or `?sslmode=verify-full` with `&sslrootcert=FILE` where its authority is your own; other parameters are refused. Unset outside production: an embedded one under DATA_DIR.',
  }),
  POSTGRES_BIN: variable({
    group: 'stores',
    parser: parse.filePath,
    example: '/usr/lib/postgresql/18/bin',
    about:
      'Folder of pg_dump and pg_restore, for "backup" and "restore". Unset: PATH. They must be as new as the server.',
  }),
  TEMPORAL_ADDRESS: variable({
    group: 'stores',
    parser: parse.hostAndPort,
    production: ['all', 'api', 'worker', 'tool'],
    example: 'temporal:7233',
    about:
      'Temporal frontend as HOST:PORT. Unset outside production: a development server with its web interface under DATA_DIR.',
  }),
  TEMPORAL_NAMESPACE: variable({
    group: 'stores',
    parser: parse.plainName,
    default: 'default',
    example: 'gateway',
    about: 'Temporal namespace; it must exist, except on the embedded server.',
  }),
  TEMPORAL_TLS: variable({
    group: 'stores',
    parser: parse.flag,
    example: 'true',
    about:
      'TLS to TEMPORAL_ADDRESS. Unset: on where another TEMPORAL_TLS_ variable or TEMPORAL_API_KEY is set, else off.',
  }),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: variable({
    group: 'stores',
    parser: pemFile,
    example: '/run/secrets/temporal-ca.pem',
    about:
      'PEM file of the authorities that may vouch for the Temporal server. Unset: those that the system trusts.',
  }),
  TEMPORAL_TLS_CLIENT_CERT_PATH: variable({
    group: 'stores',
    parser: pemFile,
    example: '/run/secrets/temporal-client.pem',
    about:
      'PEM file of the certificate by which this gateway proves itself to Temporal. Goes with TEMPORAL_TLS_CLIENT_KEY_PATH.',
  }),
  TEMPORAL_TLS_CLIENT_KEY_PATH: variable({
    group: 'stores',
    parser: pemKeyFile,
    example: '/run/secrets/temporal-client.key.pem',
    about: 'PEM file of the private key of that certificate.',
  }),
  TEMPORAL_TLS_SERVER_NAME: variable({
    group: 'stores',
    parser: parse.plainName,
    example: 'temporal.example.com',
    about: "The name that the server's certificate must bear, where it is not the host of TEMPORAL_ADDRESS.",
  }),
  TEMPORAL_API_KEY: variable({
    group: 'stores',
    parser: parse.token,
    secret: true,
    example: 'KEY',
    about: 'Sent to Temporal with every call, over TLS only.',
  }),
  TEMPORAL_UI_URL: variable({
    group: 'stores',
    parser: urls.publicUrl,
    example: 'http://127.0.0.1:8233',
    about:
      "Where operators reach Temporal's web interface: the ready line, `doctor`, `deposit stuck`, `deposit show` and `find` print links below it. Unset: that of the embedded server, else no links.",
  }),
  TEMPORAL_CLI: variable({
    group: 'stores',
    parser: parse.filePath,
    example: '/usr/local/bin/temporal',
    about:
      'The temporal binary for the embedded server. Unset: searched in PATH and in the cache, else fetched.',
  }),
} as const;
