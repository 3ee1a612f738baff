import { randomUUID } from 'node:crypto';
import { addressOn } from '../dev/support/live-money.ts';
import { migratedDatabase } from '../dev/support/parts.ts';
import { testXpubs } from '../dev/support/test-wallet.ts';
import * as useCases from '../dev/support/use-cases.ts';
import { createLogger } from '../src/base/log.ts';
import { createSecretBox } from '../src/base/secret-box.ts';
import { type Orm, openOrm } from '../src/db/orm.ts';
import { type Mode, NETWORKS } from '../src/domain/assets.ts';
import type { Deps } from '../src/services/deps.ts';
import { createMerchant } from '../src/services/merchants/merchants.ts';

/** What the API needs and no more: no chain, no Temporal, a log that goes nowhere. */
export function depsOf(orm: Orm): Deps {
  return {
    orm,
    log: createLogger({ level: 'info', destination: { write: () => undefined } }),
    now: () => new Date(),
    newId: randomUUID,
    secretBox: createSecretBox(new Uint8Array(32)),
    xpubs: testXpubs(),
    prices: { price: async () => undefined },
    actors: undefined,
    settings: {
      requiredConfirmations: { bsc: 15, tron: 19 },
      contracts: {
        bsc: '0x55d398326f99059fF775485246999027B3197955',
        tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      },
      explorerUrls: { bsc: undefined, tron: undefined },
      chainIds: { bsc: 56, tron: undefined },
      minDepositUnits: new Map(),
      dustFloorUnits: new Map(),
      stuckAfterMs: 1,
      webhookMaxAttempts: 5,
      webhookRetentionMs: 90 * 24 * 60 * 60_000,
      payments: { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: NETWORKS },
      webhookTarget: { allowedCidrs: [], allowHttp: false },
      blockIntervalMs: { bsc: 1, tron: 1 },
      comparedEveryMs: { bsc: 3_600_000, tron: 86_400_000 },
      sessions: { idleMs: 1, maxMs: 1 },
      withdrawChangeDelayMs: 24 * 3_600_000,
      payouts: { networks: [], minUnits: new Map(), maxFeeBasisPoints: 500n },
    },
  };
}

/** Does the work over a migrated database of its own. */
export async function withDatabase<T>(work: (deps: Deps, url: string) => Promise<T>): Promise<T> {
  const { url } = await migratedDatabase();
  const orm = await openOrm({ url, poolSize: 4, applicationName: 'bench', statementTimeoutMs: 0 });
  try {
    return await work(depsOf(orm), url);
  } finally {
    await orm.close(true);
  }
}

export type Shop = { readonly merchantId: string; readonly mode: Mode };

/** A new merchant, in live mode unless another one is named, with its key. */
export async function newShop(
  deps: Deps,
  name = 'Shop',
  mode: Mode = 'live',
): Promise<Shop & { key: string }> {
  const { merchantId, keys } = await createMerchant(deps, { name, subscriptionActive: true });
  return { merchantId, mode, key: keys[mode] };
}

/** A new customer of a merchant; the address is the one on BNB Chain, in lower case. */
export async function newCustomer(deps: Deps, { merchantId, mode }: Shop, externalId: string) {
  const names = { externalId, email: null, name: null, metadata: {} };
  const customer = await useCases.createCustomer(deps, { merchantId, mode, ...names });
  return {
    id: customer.id,
    address: addressOn(customer, 'bsc').toLowerCase(),
    tron: addressOn(customer, 'tron'),
  };
}

/** An endpoint of a merchant for all events, or for these. */
export async function newEndpoint(deps: Deps, { merchantId, mode }: Shop, url: string, events = ['*']) {
  return await useCases.createEndpoint(deps, { merchantId, mode, url, events, description: null });
}

/** A payment link of a customer. */
export async function newLink(
  deps: Deps,
  { merchantId, mode }: Shop,
  customerId: string,
  amountCents: bigint,
) {
  const terms = { amountCents, expiresInS: 86_400, publicUrl: 'https://pay.example' };
  return (await useCases.createPaymentLink(deps, { merchantId, mode, customerId, ...terms })).link;
}

/** How many rows `sql` names, which is all that may follow `from`. */
export async function countOf({ orm }: Pick<Deps, 'orm'>, sql: string): Promise<number> {
  const rows = await orm.em.fork().execute<{ n: number }[]>(`select count(*)::int as n from ${sql}`);
  return rows[0]?.n ?? 0;
}
