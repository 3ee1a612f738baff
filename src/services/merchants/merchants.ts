import { LockMode } from '@mikro-orm/core';
import { normaliseAddress } from '../../chains/addresses.ts';
import { Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { isUuid } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import { type ActionName, type Facts, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
import { addKey } from './keys.ts';
import { noMerchant } from './known.ts';

const MAX_NAME = 200;
const MAX_MERCHANTS_LISTED = 1_000;

export type MerchantView = {
  readonly id: string;
  readonly name: string;
  readonly withdraw: Readonly<Record<Network, string | null>>;
  /** Null: no limit. */
  readonly monthlyLimitCents: bigint | null;
  readonly subscriptionActive: boolean;
  readonly subscriptionUntil: Date | null;
  readonly createdAt: Date;
};

/** What an operator sets. Undefined leaves a value as it is; null takes it away. */
export type MerchantSettings = {
  readonly name?: string | undefined;
  readonly withdraw?: Readonly<Partial<Record<Network, string | null>>> | undefined;
  readonly monthlyLimitCents?: bigint | null | undefined;
};

export type NewMerchant = { readonly merchantId: string; readonly keys: { readonly live: string; readonly test: string } };

/** Makes a merchant with one key for each mode, in one transaction. Throws a {@link Refusal} that names the value at fault. */
export async function createMerchant(
  deps: Deps,
  input: MerchantSettings & { readonly name: string; readonly subscriptionActive: boolean },
): Promise<NewMerchant> {
  const settings = checkSettings(input);
  const now = deps.now();
  const id = deps.newId();
  return await deps.orm.em.fork().transactional(async (em) => {
    const merchant = em.create(Merchant, {
      ...{ id, name: settings.name ?? '', withdrawBsc: settings.withdrawBsc ?? null, withdrawTron: settings.withdrawTron ?? null },
      ...{ monthlyLimitCents: settings.monthlyLimitCents ?? null, subscriptionActive: input.subscriptionActive, subscriptionUntil: null },
      ...{ createdAt: now, updatedAt: now },
    });
    await em.flush();
    const live = addKey(em, deps, { merchantId: id, mode: 'live', label: null });
    const test = addKey(em, deps, { merchantId: id, mode: 'test', label: null });
    const after = { ...factsOf(merchant), live_key: live.id, test_key: test.id };
    await recordAction(em, deps, { action: 'merchant.create', merchantId: id, subject: id, after });
    return { merchantId: id, keys: { live: live.key, test: test.key } };
  });
}

/** Changes what is given and leaves the rest. Throws a {@link Refusal} for an unknown merchant or a wrong value, with nothing changed. */
export async function updateMerchant(deps: Deps, input: MerchantSettings & { readonly merchantId: string }): Promise<MerchantView> {
  const settings = checkSettings(input);
  return await change(deps, { action: 'merchant.set', merchantId: input.merchantId }, (merchant) => {
    Object.assign(merchant, settings);
  });
}

/** Opens or closes the API for a merchant, with an end if `until` is given. Watching, crediting, webhooks and payouts never depend on it. */
export async function setSubscription(
  deps: Deps,
  input: { readonly merchantId: string; readonly active: boolean; readonly until?: Date | null | undefined },
): Promise<MerchantView> {
  return await change(deps, { action: 'subscription.set', merchantId: input.merchantId }, (merchant) => {
    merchant.subscriptionActive = input.active;
    merchant.subscriptionUntil = input.until ?? null;
  });
}

/** Every merchant, oldest first, at most 1,000. */
export async function listMerchants(deps: Deps): Promise<MerchantView[]> {
  const rows = await deps.orm.em.fork().find(Merchant, {}, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: MAX_MERCHANTS_LISTED });
  return rows.map(viewOf);
}

type Named = { readonly action: ActionName; readonly merchantId: string };

async function change(deps: Deps, { action, merchantId }: Named, apply: (merchant: Merchant) => void): Promise<MerchantView> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const merchant = await lockMerchant(em, merchantId);
    const before = factsOf(merchant);
    apply(merchant);
    merchant.updatedAt = deps.now();
    await recordAction(em, deps, { action, merchantId, subject: merchantId, before, after: factsOf(merchant) });
    return viewOf(merchant);
  });
}

/** This lock waits for every completion that read the limit before it, and every one after it reads the new one. */
async function lockMerchant(em: Em, merchantId: string): Promise<Merchant> {
  const merchant = isUuid(merchantId) ? await em.findOne(Merchant, merchantId, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
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
  const [withdrawBsc, withdrawTron] = NETWORKS.map((network) => checkWithdraw(network, input.withdraw?.[network]));
  const given = { name, monthlyLimitCents: limit, withdrawBsc, withdrawTron };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<typeof given>;
}

/** A mistyped withdraw address would send a merchant's money to nobody: the checksum decides. */
function checkWithdraw(network: Network, address: string | null | undefined): string | null | undefined {
  if (address === undefined || address === null) return address;
  const normal = normaliseAddress(network, address.trim());
  if (normal !== undefined) return normal;
  throw new Refusal('INVALID', `The withdraw address is not a ${network} address: copy it again from the wallet.`, `withdraw_${network}`);
}

function factsOf(row: Merchant): Facts {
  return {
    ...{ name: row.name, withdraw_bsc: row.withdrawBsc ?? null, withdraw_tron: row.withdrawTron ?? null },
    monthly_limit_usd: row.monthlyLimitCents == null ? null : formatUnits(row.monthlyLimitCents, 2),
    subscription: row.subscriptionActive ? 'active' : 'inactive',
    subscription_until: row.subscriptionUntil ? isoSeconds(row.subscriptionUntil) : null,
  };
}

function viewOf(row: Merchant): MerchantView {
  return {
    id: row.id,
    name: row.name,
    withdraw: { bsc: row.withdrawBsc ?? null, tron: row.withdrawTron ?? null },
    monthlyLimitCents: row.monthlyLimitCents ?? null,
    subscriptionActive: row.subscriptionActive,
    subscriptionUntil: row.subscriptionUntil ?? null,
    createdAt: row.createdAt,
  };
}
