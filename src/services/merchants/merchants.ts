import { byNetwork } from '../../chains/index.ts';
import { Merchant, WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import { type ActionName, type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { applyPause, readPauses } from '../payouts/pauses.ts';
import { Refusal } from '../refusal.ts';
import { changeWithin, type Within } from '../within.ts';
import { addKey } from './keys.ts';
import { lockMerchant, requireKnownMerchant } from './known.ts';
import { applyWithdraw, checkWithdraw, setWithdraw } from './withdraw-addresses.ts';
import { replaceWithdrawChanges } from './withdraw-changes.ts';

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
      await setByOperator(em, deps, merchant.id, withdraw);
      if (input.payoutsPaused !== undefined)
        await applyPause(em, deps, { merchantId: merchant.id, paused: input.payoutsPaused });
    },
  );
}

/**
 * Gives the merchant another name, as a signed-in user of theirs asks for it; any text is one, and is
 * shown as it is. Throws a {@link Refusal} for an empty or endless one.
 */
export async function renameMerchant(
  deps: Deps,
  merchantId: string,
  input: { readonly name: string },
  how: Within = {},
): Promise<{ readonly name: string }> {
  const name = checkName(input.name);
  return await changeWithin(deps, how, async (em) => {
    const merchant = await lockMerchant(em, merchantId);
    const before = { name: merchant.name };
    Object.assign(merchant, { name, updatedAt: deps.now() });
    await em.flush();
    if (before.name !== name)
      await recordAction(em, deps, {
        action: 'merchant.set',
        merchantId,
        subject: merchantId,
        before,
        after: { name },
      });
    return { name };
  });
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

/** One merchant. Throws a {@link Refusal} for an unknown one. */
export async function getMerchant(deps: Deps, merchantId: string): Promise<MerchantView> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, merchantId);
  const merchant = await em.findOneOrFail(Merchant, merchantId);
  return viewOf(merchant, await withdrawOf(em, merchantId), await pausedOf(em));
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

/** Counts at once; what users asked for on these networks ends. */
async function setByOperator(
  em: Em,
  deps: Deps,
  merchantId: string,
  withdraw: ReturnType<typeof checkSettings>['withdraw'],
): Promise<void> {
  const networks = withdraw.flatMap(({ network, address }) => (address === undefined ? [] : network));
  await replaceWithdrawChanges(em, deps, merchantId, networks);
  await applyWithdraw(em, deps, merchantId, withdraw);
}

/** What is neither a space nor a control: a name without it looks like none. */
const VISIBLE = /[^\p{C}\p{Z}]/u;

function checkName(given: string): string {
  const name = given.trim();
  if (name.length <= MAX_NAME && VISIBLE.test(name) && !name.includes('\0') && name.isWellFormed())
    return name;
  throw new Refusal('INVALID', `The name must have 1 to ${MAX_NAME} characters.`, 'name');
}

function checkSettings(input: MerchantSettings) {
  const name = input.name === undefined ? undefined : checkName(input.name);
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
