import { randomUUID } from 'node:crypto';
import { createGuards, type Guards } from '../src/api/requests/rate-limits.ts';
import { createLogger } from '../src/base/log.ts';
import { createSecretBox } from '../src/base/secret-box.ts';
import type { Orm } from '../src/db/orm.ts';
import type { Deps } from '../src/services/deps.ts';

/** What the API needs and no more: no chain, no Temporal, a log that goes nowhere. */
export function depsOf(orm: Orm): Deps {
  const none = { bsc: '', tron: '' };
  return {
    orm,
    log: createLogger({ level: 'info', destination: { write: () => undefined } }),
    now: () => new Date(),
    newId: randomUUID,
    secretBox: createSecretBox(new Uint8Array(32)),
    xpubs: { live: none, test: none },
    prices: { price: async () => undefined },
    actors: undefined,
    settings: {
      requiredConfirmations: { bsc: 15, tron: 19 },
      contracts: none,
      explorerUrls: { bsc: undefined, tron: undefined },
      chainIds: { bsc: 56, tron: undefined },
      minDepositUnits: new Map(),
      dustFloorUnits: new Map(),
      stuckAfterMs: 1,
      webhookMaxAttempts: 5,
      webhookRetentionMs: 90 * 24 * 60 * 60_000,
      payments: { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: [] },
      webhookTarget: { allowedCidrs: [], allowHttp: false },
      blockIntervalMs: { bsc: 1, tron: 1 },
      comparedEveryMs: { bsc: 3_600_000, tron: 86_400_000 },
      sessions: { idleMs: 1, maxMs: 1 },
      withdrawChangeDelayMs: 24 * 3_600_000,
      payouts: { networks: [], minUnits: new Map(), maxFeeBasisPoints: 500n },
    },
  };
}

/** Requests are counted as ever, but never refused. */
export function generousGuards(deps: Deps): Guards {
  return createGuards(deps, {
    limits: { requestsPerSecond: 1e6, requestsBurst: 1e6, badCredentialsPerMinute: 1e6, testsPerSecond: 1e6 },
  });
}
