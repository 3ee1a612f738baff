import { join, resolve } from 'node:path';
import { xpubVariable } from '../chains/account-xpubs.ts';
import { byNetwork, chainsSettings } from '../chains/index.ts';
import { byMode } from '../domain/assets.ts';
import { temporalTls } from './temporal-tls.ts';
import type { Values } from './variables/index.ts';

const DAY_MS = 24 * 60 * 60_000;
const RESUME_MS = 5 * 60_000;
const SETTLE_EVERY_MS = 10 * 60_000;

/** The configuration from the values of all variables, grouped by what belongs together. */
export function assemble(values: Values, warnings: readonly string[]) {
  const dataDir = resolve(values.DATA_DIR);
  const production = values.NODE_ENV === 'production';
  return {
    environment: values.NODE_ENV,
    production,
    /** The test nets that stand in for main nets. */
    presets: values.PRESET ?? [],
    /** Absolute path. */
    dataDir,
    logLevel: values.LOG_LEVEL,
    logFormat: values.LOG_FORMAT,
    stuckAfterMs: values.STUCK_AFTER,
    /**
     * Sentences for the log at the start: every exception from
     * the safe defaults, every variable that looks like ours and is none.
     */
    warnings,
    /** 32 bytes; undefined outside production, where `ensureSecretsKey` makes one. */
    secretsKey: values.SECRETS_KEY,
    /** Opens the values that it sealed, and seals nothing. */
    previousSecretsKey: values.SECRETS_KEY_PREVIOUS,
    http: {
      port: values.PORT,
      host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
      publicUrl: values.PUBLIC_URL,
      trustedProxies: values.TRUSTED_PROXIES ?? [],
    },
    /** Where operators' tools send their requests. */
    ops: { port: values.OPS_PORT, host: values.OPS_HOST },
    database: values.DATABASE_URL
      ? ({ kind: 'url', url: values.DATABASE_URL } as const)
      : ({ kind: 'embedded' } as const),
    postgresBin: values.POSTGRES_BIN,
    temporal: temporalOf(values),
    chains: chainsSettings(values),
    wallet: walletOf(values, dataDir),
    signing: {
      journalFile: resolve(values.SIGN_JOURNAL_FILE ?? join(dataDir, 'signer.journal')),
      newDestinationAfterMs: values.SIGN_NEW_DESTINATION_AFTER ?? (production ? DAY_MS : 0),
      resumeAfterMs: values.SIGN_RESUME_AFTER ?? (production ? RESUME_MS : 0),
      /** Base units by asset; read them with `thresholdUnits`. */
      maxPerHour: values.SIGN_MAX_PER_HOUR ?? {},
      maxPerDay: values.SIGN_MAX_PER_DAY ?? {},
      maxPerHourOfMerchant: values.SIGN_MAX_PER_HOUR_MERCHANT ?? {},
      maxPerDayOfMerchant: values.SIGN_MAX_PER_DAY_MERCHANT ?? {},
    },
    payments: {
      minPaymentCents: values.MIN_PAYMENT_USD,
      /** Hundredths of a percent. */
      toleranceBasisPoints: values.PAYMENT_TOLERANCE_PERCENT,
      /** Base units by asset; read it with `thresholdUnits`. */
      minDepositUnits: values.MIN_DEPOSIT ?? {},
      dustFloorUnits: values.DUST_FLOOR,
    },
    settlement: {
      minUnits: values.SETTLE_MIN,
      everyMs: values.SETTLE_EVERY ?? (production ? SETTLE_EVERY_MS : 0),
      /** Hundredths of a percent. */
      maxFeeBasisPoints: values.SETTLE_MAX_FEE_PERCENT,
      withdrawChangeDelayMs: values.WITHDRAW_CHANGE_DELAY,
    },
    prices: pricesOf(values),
    notify: { url: values.NOTIFY_URL, secret: values.NOTIFY_SECRET },
    webhooks: webhooksOf(values),
    sessions: { idleMs: values.SESSION_IDLE, maxMs: values.SESSION_MAX },
    limits: limitsOf(values),
  };
}

function pricesOf(values: Values) {
  const source = values.PRICE_SOURCE;
  return {
    /** Chainlink without `feeds` means the feeds of the main net. */
    source: source.kind === 'chainlink' ? { ...source, feeds: values.PRICE_FEEDS } : source,
    maxAgeMs: values.PRICE_MAX_AGE,
  };
}

function temporalOf(values: Values) {
  return {
    namespace: values.TEMPORAL_NAMESPACE,
    /** Where operators reach the web interface of a server that is not embedded. */
    uiUrl: values.TEMPORAL_UI_URL,
    /** The binary for an embedded server, if the operator names one. */
    cliPath: values.TEMPORAL_CLI,
    ...(values.TEMPORAL_ADDRESS
      ? ({
          kind: 'address',
          address: values.TEMPORAL_ADDRESS,
          tls: temporalTls(values),
          apiKey: values.TEMPORAL_API_KEY,
        } as const)
      : ({ kind: 'embedded' } as const)),
  };
}

function webhooksOf(values: Values) {
  return {
    maxAttempts: values.WEBHOOK_MAX_ATTEMPTS,
    retentionMs: values.WEBHOOK_RETENTION,
    target: {
      allowedCidrs: values.WEBHOOK_ALLOWED_CIDRS ?? [],
      deniedCidrs: values.WEBHOOK_DENIED_CIDRS ?? [],
      allowedPorts: values.WEBHOOK_ALLOWED_PORTS ?? [],
      allowHttp: values.WEBHOOK_ALLOW_HTTP,
      /** PEM text of additional authorities. */
      caPem: values.WEBHOOK_CA_FILE?.pem,
    },
  };
}

function limitsOf(values: Values) {
  return {
    requestsPerSecond: values.RATE_LIMIT_PER_SECOND,
    requestsBurst: values.RATE_LIMIT_BURST,
    badCredentialsPerMinute: values.RATE_LIMIT_BAD_CREDENTIALS,
    testsPerSecond: values.RATE_LIMIT_TESTS_PER_SECOND,
  };
}

function walletOf(values: Values, dataDir: string) {
  return {
    /** Account xpubs from the environment; what is undefined comes from the wallet file's public part. */
    xpubs: byMode((mode) => byNetwork(({ network }) => values[xpubVariable(mode, network)])),
    seedFile: resolve(values.WALLET_SEED_FILE ?? join(dataDir, 'wallet.json')),
    passphraseFile: resolve(values.WALLET_PASSPHRASE_FILE ?? join(dataDir, 'wallet.passphrase')),
  };
}
