// A gateway over a chain that is written by the test: everything but the reader of the chain is real.

import { randomBytes, randomUUID } from 'node:crypto';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { createCustomer, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import { firstBlockSince } from '../../../src/chains/first-block.ts';
import type {
  BlockRef,
  ChainReader,
  NamedBlock,
  ScannedBlock,
  Transfer,
} from '../../../src/chains/reader.ts';
import { assetOf, type Currency, type Mode, type Network } from '../../../src/domain/assets.ts';
import type { SimulatedOutcome } from '../../../src/domain/deposit.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { DecisionRefused } from '../../../src/services/deposits/decisions.ts';
import { decideToFail, releaseDeposit } from '../../../src/services/deposits/operator.ts';
import { IllegalTransition } from '../../../src/services/deposits/transition.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { openCursor } from '../../../src/services/watcher/cursor.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { testDeps, testSettings } from '../../support/gateway.ts';
import { payOut } from '../../support/payout-rows.ts';

const { signal } = new AbortController();
const newHash = (): string => `0x${randomBytes(32).toString('hex')}`;
const STRANGER = `0x${'5e'.repeat(20)}`;
/** The merchant's limit for a month; one deposit of {@link BIG} fits in it. */
const MONTHLY_LIMIT_CENTS = 10_000n;
export const BIG = 60n * 10n ** 18n;
/** Less than this is not credited. */
const MINIMUM = 10n;

const PRICES: Deps['prices'] = {
  price: async (currency) => ({
    usd8: currency === 'USDT' ? 100_000_000n : 60_000_000_000n,
    source: 'test',
    at: new Date(),
    stale: false,
  }),
};

export type Payment = { readonly to: string; readonly currency?: Currency; readonly units: bigint };

/** A chain in memory. `final` is the height that its endpoints call final. */
export class ScriptedChain {
  readonly blocks: ScannedBlock[] = [];
  final = 0;

  mine(transfers: readonly Transfer[] = []): void {
    const number = this.blocks.length;
    const parentHash = this.blocks.at(-1)?.hash ?? newHash();
    const ref = { number, hash: newHash(), parentHash, timestampMs: Date.now() };
    this.blocks.push({ ...ref, transfers, unrecognised: [], unrecognisedDropped: 0 });
  }

  /** Takes the newest blocks away, puts empty ones in their place, and returns what they held. */
  replace(depth: number): Transfer[] {
    const gone = this.blocks.splice(-Math.min(depth, this.blocks.length - 3));
    for (const _ of gone) this.mine();
    return gone.flatMap((block) => block.transfers);
  }

  reader(): ChainReader {
    const at = (number: number): ScannedBlock | undefined => this.blocks[number];
    const host = 'scripted';
    const head = (): NamedBlock => ({ ...(this.blocks[this.blocks.length - 1] as BlockRef), host });
    const finalized = (): NamedBlock => ({ ...(at(Math.min(this.final, head().number)) as BlockRef), host });
    return {
      network: 'bsc',
      pace: BSC_PACE,
      head: async () => head(),
      endpoints: 1,
      finalized: async () => finalized(),
      header: async (number) => at(number),
      views: async (number) => [
        { host, head: head(), finalized: finalized(), block: at(number) ?? 'above its head' },
      ],
      scan: async (number) => at(number),
      locate: async () => undefined,
      checkIdentity: async () => 'scripted',
    };
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * A merchant with live customers and one in test mode, over a fresh database and a
 * chain of three blocks that is followed by hand. `paidOutOn`: where actors are told of what may be paid out.
 */
export async function startWorld(paidOutOn: readonly Network[] = []) {
  const database = await migratedDatabase();
  const settings = testSettings({
    requiredConfirmations: { bsc: 2, tron: 2 },
    minDepositUnits: new Map([['USDT.bsc', MINIMUM]]),
    payouts: { networks: paidOutOn, minUnits: new Map(), maxFeeBasisPoints: 500n },
  });
  const deps: Deps = await testDeps(database.url, [], { deps: { prices: PRICES, settings }, poolSize: 10 });
  const { merchantId } = await createMerchant(deps, {
    name: 'Shop',
    subscriptionActive: true,
    monthlyLimitCents: MONTHLY_LIMIT_CENTS,
  });
  const newAddress = async (): Promise<string> =>
    (await newCustomer(deps, merchantId, 'live')).addresses
      .find(({ network }) => network === 'bsc')
      ?.address.toLowerCase() ?? '';
  const tester = await newCustomer(deps, merchantId, 'test');
  const chain = new ScriptedChain();
  for (let i = 0; i < 3; i++) chain.mine();
  const reader = chain.reader();
  const watched = { network: 'bsc' as const, index: new AddressSet(), loadedXid: '0' };
  const rows = async (sql: string, params: unknown[] = []) =>
    await deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, params);
  const depositIds = async (): Promise<string[]> =>
    (await rows('select id from deposits order by created_at, id')).map(({ id }) => String(id));

  return {
    deps,
    chain,
    rows,
    depositIds,
    newAddress,
    merchantId,
    databaseUrl: database.url,
    transfer: ({ to, currency = 'USDT', units }: Payment): Transfer => {
      const { kind } = assetOf('bsc', currency);
      return { txHash: newHash(), to, from: STRANGER, currency, kind, amountUnits: units };
    },
    async poll(): Promise<void> {
      await openCursor(deps, reader, firstBlockSince, signal);
      while ((await pollChain(deps, { reader, watched }, signal)).behind);
    },
    /** Every deposit goes as far as the chain permits. */
    async advance(): Promise<void> {
      for (const { id } of await rows(
        `select id from deposits where status in ('detected', 'confirming') order by created_at, id`,
      )) {
        await advanceFully(deps, String(id));
      }
    },
    ...decisionsOf(deps),
    simulate: async (outcome: SimulatedOutcome, units = 7n): Promise<void> => {
      await simulateDeposit(deps, {
        merchantId,
        customerId: tester.id,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: units,
        outcome,
        events: 'final',
      });
    },
    async stop(): Promise<void> {
      await deps.orm.close(true);
      await database.drop();
    },
  };
}

const newCustomer = async (deps: Deps, merchantId: string, mode: Mode) =>
  await createCustomer(deps, {
    merchantId,
    mode,
    externalId: randomUUID(),
    email: null,
    name: null,
    metadata: {},
  });

async function advanceFully(deps: Deps, depositId: string): Promise<void> {
  for (let state = ''; ; ) {
    const step = await advanceDeposit(deps, { depositId, alarmed: true });
    if (step.kind === 'wait' || step.state === state) break;
    state = step.state;
  }
}

/** What an operator and a payout do to a deposit; each tells whether its state permitted it. */
function decisionsOf(deps: Deps) {
  return {
    fail: (depositId: string) => decided(decideToFail(deps, { depositId, by: 'Ann', reason: 'test' })),
    release: (depositId: string) => decided(releaseDeposit(deps, { depositId, by: 'Ann', reason: 'test' })),
    settle: (depositId: string, withheldUnits = 0n) => payOut(deps, depositId, { withheldUnits }),
  };
}

/** A decision that the state does not permit changes nothing: that is its test's business, not this one's. */
async function decided(decision: Promise<unknown>): Promise<boolean> {
  try {
    await decision;
    return true;
  } catch (error) {
    if (error instanceof DecisionRefused || error instanceof IllegalTransition) return false;
    throw error;
  }
}
