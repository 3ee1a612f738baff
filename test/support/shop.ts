import { type EntityManager, IsolationLevel } from '@mikro-orm/postgresql';
import { eventually } from '../../dev/support/eventually.ts';
import {
  type LiveGateway,
  type LiveOptions,
  randomHash,
  startLiveGateway,
} from '../../dev/support/live-gateway.ts';
import { ownNamespace } from '../../dev/support/parts.ts';
import { type Receiver, type Script, startReceiver } from '../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, simulateDeposit } from '../../dev/support/use-cases.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';

export type AttemptRow = {
  readonly number: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly started_at: string;
  readonly finished_at: string | null;
};
export type DeliveryRow = {
  readonly id: string;
  readonly status: string;
  readonly next_attempt_at: string | null;
  readonly attempts: readonly AttemptRow[];
};

/** A registered receiver of `deposit.completed`. */
export type Registered = {
  readonly receiver: Receiver;
  readonly endpointId: string;
  readonly secret: string;
};

/** A merchant in test mode with one customer. */
export type TestMerchantShop = {
  readonly scope: { readonly merchantId: string; readonly mode: 'test' };
  register(behaviour: Script): Promise<Registered>;
  /** Simulates a completed deposit: one event to every endpoint that is registered now. */
  announce(): Promise<{ transactionHash: string }>;
};

export type Shops = {
  readonly gateway: LiveGateway;
  /** What a gateway in another process has to be told to work on the same parts. */
  readonly env: NodeJS.ProcessEnv;
  merchant(): Promise<TestMerchantShop>;
  /**
   * How many actors of all merchants are on the server and have not ended. Callers do
   * not wait for the start that they ask for.
   */
  actorsThatRun(): Promise<number>;
  deliveriesTo(endpointId: string): Promise<DeliveryRow[]>;
  /** Waits until the only delivery of an endpoint is as `check` wants it. */
  delivery(
    endpointId: string,
    what: string,
    check: (row: DeliveryRow) => boolean,
    limitMs?: number,
  ): Promise<DeliveryRow>;
  stop(): Promise<void>;
};

/** A gateway in a namespace of its own, whose merchants get their events by simulation. */
export async function startShops(
  databaseUrl: string,
  settings: NonNullable<LiveOptions['settings']> = {},
): Promise<Shops> {
  const { address, namespace } = (await ownNamespace()).now;
  const gateway = await startLiveGateway({
    databaseUrl,
    temporalAddress: address,
    namespace,
    env: { LOG_LEVEL: 'fatal' },
    settings,
  });
  const { deps } = gateway;
  const receivers: Receiver[] = [];

  const deliveriesTo = (endpointId: string) => deliveriesOf(deps.orm.em.fork(), endpointId);

  return {
    gateway,
    actorsThatRun: () => openActors(gateway),
    env: { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
    merchant: () => newMerchant(deps, receivers),
    deliveriesTo,
    delivery: (endpointId, what, check, limitMs = 45_000) =>
      eventually(
        what,
        async () => {
          // The database may be unreachable: some tests are about that.
          const rows = await deliveriesTo(endpointId).catch(() => []);
          if (rows.length > 1) throw new Error(`${rows.length} deliveries instead of one`);
          return rows[0] && check(rows[0]) && rows[0];
        },
        limitMs,
        () => deliveriesTo(endpointId),
      ),
    stop: async () => {
      await gateway.stop();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
    },
  };
}

/** Adds the receivers that it registers to these. */
async function newMerchant(deps: Deps, receivers: Receiver[]): Promise<TestMerchantShop> {
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const scope = { merchantId, mode: 'test' as const };
  const customer = await createCustomer(deps, {
    ...scope,
    externalId: 'user-1',
    email: null,
    name: null,
    metadata: {},
  });
  return {
    scope,
    register: async (behaviour) => {
      const receiver = await startReceiver({ behaviour });
      receivers.push(receiver);
      const endpoint = await createEndpoint(deps, {
        ...scope,
        url: receiver.url,
        events: ['deposit.completed'],
        description: null,
      });
      receiver.setSecret(endpoint.secret);
      return { receiver, endpointId: endpoint.id, secret: endpoint.secret };
    },
    announce: async () => {
      const transactionHash = randomHash();
      await simulateDeposit(deps, {
        merchantId,
        customerId: customer.id,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: 10n ** 19n,
        transactionHash,
        outcome: 'completed',
        events: 'final',
      });
      return { transactionHash };
    },
  };
}

/** Deliveries and their attempts as they were at one moment: an attempt may end between two statements. */
async function deliveriesOf(em: EntityManager, endpointId: string): Promise<DeliveryRow[]> {
  return await em.transactional(
    async (tx) => {
      const rows = await tx.execute<Omit<DeliveryRow, 'attempts'>[]>(
        `select id, status, next_attempt_at from webhook_deliveries where endpoint_id = ?
         order by created_at, id`,
        [endpointId],
      );
      const attempts = await tx.execute<(AttemptRow & { delivery_id: string })[]>(
        `select a.delivery_id, a.number, a.status_code, a.error, a.started_at, a.finished_at
         from webhook_attempts a
         join webhook_deliveries d on d.id = a.delivery_id where d.endpoint_id = ? order by a.number`,
        [endpointId],
      );
      return rows.map((row) => ({
        ...row,
        attempts: attempts
          .filter((attempt) => attempt.delivery_id === row.id)
          .map(({ delivery_id: _, ...attempt }) => attempt),
      }));
    },
    { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
  );
}

async function openActors({ gateway: { link } }: LiveGateway): Promise<number> {
  if (!link) throw new Error('the gateway has no Temporal');
  return (await link.client.workflow.count(`ExecutionStatus = 'Running'`)).count;
}
