import { LockMode } from '@mikro-orm/core';
import { byNetwork } from '../../chains/index.ts';
import { Merchant, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import { type ActionName, type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { applyPause, readPauses } from '../payouts/pauses.ts';
import { wakeMerchant } from '../payouts/wakes.ts';
import { Refusal } from '../refusal.ts';
import { addKey } from './keys.ts';
import { noMerchant } from './known.ts';
import { checkWithdraw, setWithdraw } from './withdraw-addresses.ts';

const MAX_NAME = 200;
const MAX_MERCHANTS_LISTED = 1_000;

export type MerchantView = {
  readonly id: string;
  readonly name: string;
  readonly withdraw: Readonly<Record<Network, string | null>>;
  /** Null means no limit. */
  readonly monthlyLimitCents: bigint | null;
  readonly subscriptionActive: boolean;
  readonly subscriptionUntil: Date | null;
  /** Whether the payouts of this merchant are paused; all of the gateway's may be besides. */
  readonly payoutsPaused: boolean;
  readonly createdAt: Date;
};

/** What an operator sets. Undefined leaves a value as it is; null takes it away. */
export type MerchantSettings = {
  readonly name?: string | undefined;
  readonly withdraw?: Readonly<Partial<Record<Network, string | null>>> | undefined;
  readonly monthlyLimitCents?: bigint | null | undefined;
  /** Whether the merchant's payouts are paused; see `src/services/payouts/pauses.ts`. */
  readonly payoutsPaused?: boolean | undefined;
};

export type NewMerchant = {
  readonly merchantId: string;
  readonly keys: { readonly live: string; readonly test: string };
};

/**
 * Makes a merchant with one key for each mode, in one transaction.
 * Throws a {@link Refusal} that names the value at fault.
 */
export async function createMerchant(
  deps: Deps,
  input: MerchantSettings & { readonly name: string; readonly subscriptionActive: boolean },
): Promise<NewMerchant> {
  const { withdraw, ...settings } = checkSettings(input);
  const now = deps.now();
  const id = deps.newId();
  return await deps.orm.em.fork().transactional(async (em) => {
    const merchant = em.create(Merchant, {
      id,
      name: settings.name ?? '',
      monthlyLimitCents: settings.monthlyLimitCents ?? null,
      subscriptionActive: input.subscriptionActive,
      subscriptionUntil: null,
      createdAt: now,
      updatedAt: now,
    });
    await em.flush();
    await setWithdraw(em, deps, id, withdraw);
    const live = addKey(em, deps, { merchantId: id, mode: 'live', label: null });
    const test = addKey(em, deps, { merchantId: id, mode: 'test', label: null });
    const after = { ...factsOf(merchant, await withdrawOf(em, id)), live_key: live.id, test_key: test.id };
    await recordAction(em, deps, { action: 'merchant.create', merchantId: id, subject: id, after });
    return { merchantId: id, keys: { live: live.key, test: test.key } };
  });
}

/**
 * Changes what is given and leaves the rest; what a new withdraw address lets be paid out is told to
 * its actors. Throws a {@link Refusal}
 * for an unknown merchant or a wrong value, with nothing changed.
 */
export async function updateMerchant(
  deps: Deps,
  input: MerchantSettings & { readonly merchantId: string },
): Promise<MerchantView> {
  const { withdraw, ...settings } = checkSettings(input);
  return await change(
    deps,
    { action: 'merchant.set', merchantId: input.merchantId },
    async (merchant, em) => {
      Object.assign(merchant, settings);
      await setWithdraw(em, deps, merchant.id, withdraw);
      if (input.payoutsPaused !== undefined)
        await applyPause(em, deps, { merchantId: merchant.id, paused: input.payoutsPaused });
      const networks = withdraw.flatMap(({ network, address }) => (address == null ? [] : network));
      await wakeMerchant(em, deps, { merchantId: merchant.id, networks });
    },
  );
}

/**
 * Opens or closes the API for a merchant, with an end if `until` is
 * given. Watching, crediting, webhooks and payouts never depend on it.
 */
export async function setSubscription(
  deps: Deps,
  input: { readonly merchantId: string; readonly active: boolean; readonly until?: Date | null | undefined },
): Promise<MerchantView> {
  return await change(
    deps,
    { action: 'subscription.set', merchantId: input.merchantId },
    async (merchant) => {
      merchant.subscriptionActive = input.active;
      merchant.subscriptionUntil = input.until ?? null;
    },
  );
}

/** Every merchant, oldest first, at most 1,000. */
export async function listMerchants(deps: Deps): Promise<MerchantView[]> {
  const em = deps.orm.em.fork();
  const rows = await em.find(
    Merchant,
    {},
    { orderBy: { createdAt: 'asc', id: 'asc' }, limit: MAX_MERCHANTS_LISTED },
  );
  const addresses = Map.groupBy(
    await em.find(WithdrawAddress, { merchantId: { $in: rows.map(({ id }) => id) } }),
    (row) => row.merchantId,
  );
  const paused = await pausedOf(em);
  return rows.map((row) => viewOf(row, byNetworkOf(addresses.get(row.id) ?? []), paused));
}

type Named = { readonly action: ActionName; readonly merchantId: string };

async function change(
  deps: Deps,
  { action, merchantId }: Named,
  apply: (merchant: Merchant, em: Em) => Promise<void>,
): Promise<MerchantView> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const merchant = await lockMerchant(em, merchantId);
    const before = factsOf(merchant, await withdrawOf(em, merchantId));
    await apply(merchant, em);
    const withdraw = await withdrawOf(em, merchantId);
    merchant.updatedAt = deps.now();
    await recordAction(em, deps, {
      action,
      merchantId,
      subject: merchantId,
      before,
      after: factsOf(merchant, withdraw),
    });
    return viewOf(merchant, withdraw, await pausedOf(em));
  });
}

/**
 * This lock waits for every completion that read the limit
 * before it, and every completion after it reads the new one.
 */
async function lockMerchant(em: Em, merchantId: string): Promise<Merchant> {
  const merchant = isUuid(merchantId)
    ? await em.findOne(Merchant, merchantId, { lockMode: LockMode.PESSIMISTIC_WRITE })
    : null;
  if (!merchant) throw noMerchant(merchantId);
  return merchant;
}

function checkSettings(input: MerchantSettings) {
  const name = input.name?.trim();
  if (name !== undefined && (name === '' || name.length > MAX_NAME || name.includes('\0'))) {
    throw new Refusal('INVALID', `The name must have 1 to ${MAX_NAME} characters.`, 'name');
  }
  const limit = input.monthlyLimitCents;
  if (limit !== undefined && limit !== null && limit < 0n) {
    throw new Refusal('INVALID', 'The monthly limit must not be negative.', 'monthly_limit_usd');
  }
  const withdraw = NETWORKS.map((network) => ({
    network,
    address: checkWithdraw(network, input.withdraw?.[network]),
  }));
  return {
    ...(name === undefined ? {} : { name }),
    ...(limit === undefined ? {} : { monthlyLimitCents: limit }),
    withdraw,
  };
}

type Withdraw = MerchantView['withdraw'];

async function withdrawOf(em: Em, merchantId: string): Promise<Withdraw> {
  return byNetworkOf(await em.find(WithdrawAddress, { merchantId }, { refresh: true }));
}

function byNetworkOf(rows: readonly WithdrawAddress[]): Withdraw {
  return byNetwork(({ network }) => rows.find((row) => row.network === network)?.address ?? null);
}

function factsOf(row: Merchant, withdraw: Withdraw): Facts {
  return {
    name: row.name,
    ...Object.fromEntries(NETWORKS.map((network) => [`withdraw_${network}`, withdraw[network]])),
    monthly_limit_usd: row.monthlyLimitCents == null ? null : formatUnits(row.monthlyLimitCents, 2),
    subscription: row.subscriptionActive ? 'active' : 'inactive',
    subscription_until: row.subscriptionUntil ? isoSeconds(row.subscriptionUntil) : null,
  };
}

async function pausedOf(em: Em): Promise<ReadonlySet<string | null>> {
  return new Set((await readPauses(em)).map(({ merchantId }) => merchantId));
}

function viewOf(row: Merchant, withdraw: Withdraw, paused: ReadonlySet<string | null>): MerchantView {
  return {
    id: row.id,
    name: row.name,
    withdraw,
    monthlyLimitCents: row.monthlyLimitCents ?? null,
    subscriptionActive: row.subscriptionActive,
    subscriptionUntil: row.subscriptionUntil ?? null,
    payoutsPaused: paused.has(row.id),
    createdAt: row.createdAt,
  };
}
