import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory, defineSearchAttributeKey } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { eventually } from '../../dev/support/eventually.ts';
import { temporal } from '../../dev/support/parts.ts';
import type { AddressKey } from '../../src/chains/address-key.ts';
import { settlementWake, walletWake } from '../../src/services/payouts/wakes.ts';
import { linkTemporal, type TemporalLink } from '../../src/temporal/client.ts';
import { ensureSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { webUi } from '../support/web-ui.ts';

const LONG_MS = 3_600_000;

type Input = { readonly network: string; readonly addressKey: string; readonly alarmed: boolean };
type Step = (input: Input) => Promise<unknown>;
type Decided = { readonly kind: string; readonly by: string; readonly reason: string | null };

/** A step that finds nothing to do. */
export const rest = async () => ({ kind: 'rest', note: 'nothing to pay out' });
/** A step that was made. */
export const went = (state: string) => async () => ({ kind: 'went', state, note: `it is ${state}` });
/** A step that waits, for so long that only news ends it within a test. */
export const waits = (reason: string) => async () => {
  throw ApplicationFailure.create({
    message: reason,
    type: 'Waiting',
    nextRetryDelay: LONG_MS,
    category: ApplicationFailureCategory.BENIGN,
  });
};
/** A step that waits for a person. */
export const stuck = async () => {
  throw ApplicationFailure.create({ message: 'send 1 BNB', type: 'NeedsOperator', nonRetryable: true });
};

export type SettlementActors = Awaited<ReturnType<typeof startSettlementActors>>;

/** Actors on a real server, with steps that a test prescribes in the place of their activities. */
export async function startSettlementActors() {
  const taskQueue = `settlements-${randomBytes(4).toString('hex')}`;
  /** By address, the steps to come; the last one is repeated. */
  const scripts = new Map<string, Step[]>();
  const asked = new Map<string, Input[]>();
  const recorded: Decided[] = [];
  const { address } = await temporal();
  const link = linkTemporal({ address, namespace: 'default' });
  await ensureSearchAttributes(link, 'default');
  const client = new Client({ connection: await Connection.connect({ address }), namespace: 'default' });
  const connection = await NativeConnection.connect({ address });
  const take = async (input: Input): Promise<unknown> => {
    asked.set(input.addressKey, [...(asked.get(input.addressKey) ?? []), input]);
    const steps = scripts.get(input.addressKey) ?? [];
    const step = steps.length > 1 ? steps.shift() : steps[0];
    return await (step ?? rest)(input);
  };
  let stopWorker: () => Promise<void> = async () => undefined;
  const startWorker = async (): Promise<void> => {
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        advanceSettlement: take,
        advanceWallet: take,
        requirePayoutDecision: async ({ kind, by, reason }: Decided) => {
          if (recorded.some((one) => one.kind === kind && one.by === by && one.reason === reason))
            return true;
          throw ApplicationFailure.create({
            message: 'no such decision is recorded',
            type: 'DecisionRefused',
            nonRetryable: true,
          });
        },
      },
    });
    const finished = worker.run();
    stopWorker = async () => {
      worker.shutdown();
      await finished;
    };
  };
  await startWorker();
  const world = { client, link, taskQueue, scripts, asked };
  return {
    client,
    taskQueue,
    /** What the database would have of decisions. */
    recorded,
    startWorker,
    stopWorker: () => stopWorker(),
    actor: (...steps: Step[]) => actorOf(world, steps, settlementWake),
    wallet: (...steps: Step[]) => actorOf(world, steps, walletWake),
    stop: async () => {
      await stopWorker();
      await connection.close();
      await client.connection.close();
      await link.close();
    },
  };
}

type World = {
  readonly client: Client;
  readonly link: TemporalLink;
  readonly taskQueue: string;
  readonly scripts: Map<string, Step[]>;
  readonly asked: Map<string, Input[]>;
};

function actorOf(
  { client, link, taskQueue, scripts, asked }: World,
  steps: Step[],
  wakeOf: typeof settlementWake,
) {
  const addressKey = randomBytes(20).toString('hex') as AddressKey;
  scripts.set(addressKey, steps);
  const place = { network: 'bsc' as const, addressKey, address: `0x${addressKey}`, merchantId: 'm' };
  const [workflowId, message] = wakeOf(place);
  const ui = webUi(link, workflowId);
  return {
    ui,
    workflowId,
    next: (...more: Step[]) => scripts.set(addressKey, more),
    asked: () => asked.get(addressKey) ?? [],
    /** `alarmed`: a run before this one has called a person. */
    wake: async (alarmed = false) => {
      await client.workflow.signalWithStart(message.workflowType, {
        workflowId,
        taskQueue,
        args: [...message.args],
        signal: message.signal?.name ?? '',
        signalArgs: [],
        memo: { ...message.memo },
        typedSearchAttributes: [{ key: defineSearchAttributeKey('NeedsOperator', 'BOOL'), value: alarmed }],
      });
    },
    ends: () => eventually('its end', async () => (await ui.status()) === 'COMPLETED'),
    /** Waits in a step that has said why. */
    waiting: (reason: string) =>
      eventually(
        `a step that says ${reason}`,
        async () => {
          const { raw } = await ui.handle.describe();
          return raw.pendingActivities?.[0]?.lastFailure?.message === reason;
        },
        30_000,
      ),
    attributes: async () => (await ui.handle.describe()).searchAttributes,
  };
}
