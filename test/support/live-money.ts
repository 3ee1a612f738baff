import type { CustomerView } from '../../src/services/present.ts';
import { startTestChain, type TestChain } from './chain.ts';
import {
  createCustomer,
  createEndpoint,
  createMerchant,
  eventually,
  type LiveGateway,
  type LiveOptions,
  ownTemporal,
  startLiveGateway,
} from './live-gateway.ts';
import { freshDatabase } from './parts.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export type Json = Record<string, unknown>;
/** A gateway that watches a real EVM node, with one merchant, one customer and one receiver of all live events. */
export type LiveMoney = {
  readonly chain: TestChain;
  readonly gateway: LiveGateway;
  readonly merchantId: string;
  readonly receiver: Receiver;
  readonly customer: CustomerView;
  /** The customer's address on BNB Chain, lower-case. */
  readonly address: string;
  newCustomer(): Promise<{ id: string; address: string }>;
  /** The bodies of the events received so far, in order. */
  events(): { event: string; data: Json; id: string }[];
  /** Waits for an event of this type about this transaction. */
  eventOf(type: string, transactionHash: string, limitMs?: number): Promise<Json>;
  deposits(transactionHash?: string): Promise<Json[]>;
  /** Sum of the ledger by account for one currency on BNB Chain. */
  ledger(currency?: string): Promise<Record<string, bigint>>;
  temporal: Awaited<ReturnType<typeof ownTemporal>>;
  databaseUrl: string;
  stop(): Promise<void>;
};

/** Starts everything on parts of its own. `rpcUrl` puts something between the gateway and the node. */
export async function startLiveMoney(
  options: {
    env?: NodeJS.ProcessEnv;
    settings?: LiveOptions['settings'];
    rpcUrls?: (chain: TestChain) => string;
    databaseUrl?: string;
  } = {},
): Promise<LiveMoney> {
  const [chain, temporal, databaseUrl] = await Promise.all([
    startTestChain(),
    ownTemporal(),
    options.databaseUrl ?? freshDatabase().then((database) => database.url),
  ]);
  const env = {
    BSC_RPC_URLS: options.rpcUrls?.(chain) ?? chain.url,
    BSC_USDT_CONTRACT: chain.usdt.address,
    BSC_CONFIRMATIONS: '3',
    ...options.env,
  };
  await chain.mine(3);
  const gateway = await startLiveGateway({
    databaseUrl,
    temporalAddress: temporal.now.address,
    env,
    ...(options.settings ? { settings: options.settings } : {}),
  });
  const merchantId = (await createMerchant(gateway.deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  const receiver = await startReceiver();
  const endpoint = await createEndpoint(gateway.deps, {
    merchantId,
    mode: 'live',
    url: receiver.url,
    events: ['deposit.detected', 'deposit.confirming', 'deposit.completed', 'deposit.settled', 'deposit.failed'],
    description: null,
  });
  receiver.setSecret(endpoint.secret);
  let count = 0;
  const make = async (): Promise<CustomerView> => {
    count += 1;
    return await createCustomer(gateway.deps, {
      merchantId,
      mode: 'live',
      externalId: `user-${count}`,
      email: null,
      name: null,
      metadata: {},
    });
  };
  const addressOf = (customer: CustomerView): string =>
    customer.addresses.find((entry) => entry.network === 'bsc')?.address.toLowerCase() ?? '';
  const customer = await make();
  const events = (): { event: string; data: Json; id: string }[] =>
    receiver.requests.map((request) => ({ ...JSON.parse(request.body.toString()), id: String(request.headers['x-webhook-id']) }));
  const sql = <T>(text: string, params: unknown[] = []) => gateway.deps.orm.em.fork().execute<T[]>(text, params);
  return {
    ...{ chain, gateway, merchantId, receiver, customer, address: addressOf(customer), temporal, databaseUrl, events },
    newCustomer: async () => {
      const made = await make();
      return { id: made.id, address: addressOf(made) };
    },
    eventOf: async (type, transactionHash, limitMs = 20_000) =>
      (
        await eventually(
          `${type} of ${transactionHash}`,
          () => events().find((item) => item.event === type && item.data['transaction_hash'] === transactionHash),
          limitMs,
        )
      ).data,
    deposits: (transactionHash) =>
      sql<Json>('select * from deposits where (? is null or transaction_hash = ?) order by created_at, id', [
        transactionHash ?? null,
        transactionHash ?? null,
      ]),
    ledger: async (currency = 'USDT') => {
      const rows = await sql<{ account: string; sum: string }>(
        'select account, sum(amount_units)::text as sum from ledger_entries where currency = ? group by account',
        [currency],
      );
      return Object.fromEntries(rows.map((row) => [row.account, BigInt(row.sum)]));
    },
    stop: async () => {
      await gateway.stop();
      await receiver.stop();
      await chain.stop();
      await temporal.stop();
    },
  };
}
