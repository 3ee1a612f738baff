import type { CustomerView } from '../../src/contract/customer.ts';
import type { Network } from '../../src/domain/assets.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { startTestChain, type TestChain } from './chain.ts';
import { eventually } from './eventually.ts';
import { type LiveGateway, type LiveOptions, startLiveGateway } from './live-gateway.ts';
import { migratedDatabase, ownNamespace } from './parts.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createCustomer, createEndpoint } from './use-cases.ts';

export type Json = Record<string, unknown>;
/** `address` is on BNB Chain, lower-case; `tron` as merchants see it. */
export type NewCustomer = { readonly id: string; readonly address: string; readonly tron: string };
/**
 * A gateway that watches a real EVM node, with one merchant,
 * one customer and one receiver of all live events.
 */
export type LiveMoney = {
  readonly chain: TestChain;
  readonly gateway: LiveGateway;
  readonly merchantId: string;
  readonly receiver: Receiver;
  readonly customer: CustomerView;
  /** The customer's address on BNB Chain, lower-case. */
  readonly address: string;
  newCustomer(): Promise<NewCustomer>;
  /** The bodies of the events received so far, in order. */
  events(): { event: string; data: Json; id: string }[];
  /** Waits for an event of this type about this transaction. */
  eventOf(type: string, transactionHash: string, limitMs?: number): Promise<Json>;
  deposits(transactionHash?: string): Promise<Json[]>;
  /** Sum of the ledger by account for one currency, on BNB Chain unless another one is named. */
  ledger(currency?: string, network?: Network): Promise<Record<string, bigint>>;
  /** A namespace on the server of all tests, unless an option gave a server of its own. */
  temporal: Awaited<ReturnType<typeof ownNamespace>>;
  databaseUrl: string;
  /** What a gateway in another process has to be told to work on the same parts. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
};

export type LiveMoneyOptions = {
  readonly env?: NodeJS.ProcessEnv;
  readonly settings?: LiveOptions['settings'];
  readonly rpcUrls?: (chain: TestChain) => string;
  readonly chain?: Parameters<typeof startTestChain>[0];
  readonly databaseUrl?: string;
  /** A server of its own, which it stops; unset means a namespace on the one that all tests share. */
  readonly temporal?: () => ReturnType<typeof ownNamespace>;
};

const LIVE_EVENTS = [
  'deposit.detected',
  'deposit.confirming',
  'deposit.completed',
  'deposit.settled',
  'deposit.failed',
];

/** Starts everything on parts of its own. `rpcUrls` puts something between the gateway and the node. */
export async function startLiveMoney(options: LiveMoneyOptions = {}): Promise<LiveMoney> {
  const [chain, temporal, databaseUrl] = await Promise.all([
    startTestChain(options.chain),
    (options.temporal ?? ownNamespace)(),
    options.databaseUrl ?? migratedDatabase().then((database) => database.url),
  ]);
  const rpcUrls = options.rpcUrls?.(chain) ?? chain.url;
  const env = {
    BSC_RPC_URLS: rpcUrls,
    BSC_USDT_CONTRACT: chain.usdt.address,
    BSC_CONFIRMATIONS: '3',
    ...options.env,
  };
  await chain.mine(3);
  const { address: temporalAddress, namespace } = temporal.now;
  const settings = options.settings ?? {};
  const gateway = await startLiveGateway({ databaseUrl, temporalAddress, namespace, env, settings });
  const merchantId = (await createMerchant(gateway.deps, { name: 'Shop', subscriptionActive: true }))
    .merchantId;
  const receiver = await startReceiver();
  const scope = { merchantId, mode: 'live' as const };
  const endpoint = await createEndpoint(gateway.deps, {
    ...scope,
    url: receiver.url,
    events: LIVE_EVENTS,
    description: null,
  });
  receiver.setSecret(endpoint.secret);
  const make = newCustomers(gateway, scope);
  const customer = await make();
  return {
    chain,
    gateway,
    merchantId,
    receiver,
    customer,
    address: addressOn(customer, 'bsc').toLowerCase(),
    temporal,
    databaseUrl,
    env: {
      DUST_FLOOR: 'none',
      ...env,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      TEMPORAL_NAMESPACE: namespace,
    },
    ...readings(gateway, receiver),
    newCustomer: async () => {
      const made = await make();
      return {
        id: made.id,
        address: addressOn(made, 'bsc').toLowerCase(),
        tron: addressOn(made, 'tron'),
      };
    },
    stop: async () => {
      await gateway.stop();
      await receiver.stop();
      await chain.stop();
      if (options.temporal) await temporal.stop();
    },
  };
}

/** Makes a customer, user-1 first. */
function newCustomers({ deps }: LiveGateway, scope: { merchantId: string; mode: 'live' }) {
  let count = 0;
  return async (): Promise<CustomerView> => {
    count += 1;
    const facts = { externalId: `user-${count}`, email: null, name: null, metadata: {} };
    return await createCustomer(deps, { ...scope, ...facts });
  };
}

/** The customer's address as merchants see it. */
export function addressOn(customer: CustomerView, network: Network): string {
  return customer.addresses.find((entry) => entry.network === network)?.address ?? '';
}

/** What a test reads of the running gateway: received events, deposit rows, sums of the ledger. */
function readings(
  gateway: LiveGateway,
  receiver: Receiver,
): Pick<LiveMoney, 'events' | 'eventOf' | 'deposits' | 'ledger'> {
  const sql = <T>(text: string, params: unknown[] = []) =>
    gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const events = (): { event: string; data: Json; id: string }[] =>
    receiver.requests.map((request) => ({
      ...JSON.parse(request.body.toString()),
      id: String(request.headers['x-webhook-id']),
    }));
  return {
    events,
    eventOf: async (type, hash, limitMs = 60_000) => {
      const find = () =>
        events().find((item) => item.event === type && item.data['transaction_hash'] === hash);
      const instead = async () => ({
        told: events().flatMap(({ event, data }) => (data['transaction_hash'] === hash ? event : [])),
        deposit: await sql(
          'select status, block_hash, verified_at from deposits where transaction_hash = ?',
          [hash],
        ),
      });
      return (await eventually(`${type} of ${hash}`, find, limitMs, instead)).data;
    },
    deposits: (hash = undefined) =>
      sql<Json>('select * from deposits where (? is null or transaction_hash = ?) order by created_at, id', [
        hash ?? null,
        hash ?? null,
      ]),
    ledger: async (currency = 'USDT', network = 'bsc') => {
      const rows = await sql<{ account: string; sum: string }>(
        `select account, sum(amount_units)::text as sum from ledger_entries
          where currency = ? and network = ? group by account`,
        [currency, network],
      );
      return Object.fromEntries(rows.map((row) => [row.account, BigInt(row.sum)]));
    },
  };
}
