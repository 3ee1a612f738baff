import type { Gateway } from '../../app/compose.ts';
import { UsageError } from '../../base/errors.ts';
import { CHAIN_NAMES } from '../../chains/names.ts';
import { MODES, NETWORKS, type Network } from '../../domain/assets.ts';
import { eraseCustomer } from '../../services/merchants/erasure.ts';
import {
  createMerchant,
  listMerchants,
  type MerchantView,
  setSubscription,
  updateMerchant,
} from '../../services/merchants/merchants.ts';
import { QUOTAS, setQuotas } from '../../services/merchants/quotas.ts';
import { requireNoContract } from '../../services/merchants/withdraw-addresses.ts';
import { NONE, orNull } from '../arguments.ts';
import { facts, listed, viewOf } from '../print.ts';
import { type Needs, withGateway } from '../process.ts';
import type { Acting, CommandCall, DecidedBy } from '../run.ts';
import { addressGiven } from './chain.ts';

/** Merchants, what they may do, and the erasure of their customers. */
export const MERCHANTS = { create, change, list, setState, erase };

/** As the command line reads `--withdraw-NETWORK`. */
type Withdrawals = { readonly [N in Network as `withdraw${Capitalize<N>}`]?: string };

type Settings = Acting &
  Withdrawals & {
    readonly name?: string;
    readonly monthlyLimitUsd?: bigint | typeof NONE;
    readonly allowContract?: true;
    readonly pausePayouts?: 'true' | 'false';
    readonly quota?: string;
  };

async function create({ options }: CommandCall<Settings & { readonly subscription: boolean }>) {
  const settings = settingsOf(options);
  const { made, told } = await withGateway(needsOf(options), async ({ deps, chains }) => {
    const unasked = await checkContracts(chains, options, settings);
    const order = { ...settings, name: options.name ?? '', subscriptionActive: options.subscription };
    return { made: await createMerchant(deps, order), told: unasked };
  });
  const { merchantId, keys } = made;
  const shown = facts({ merchant: merchantId, 'live key': keys.live, 'test key': keys.test });
  const text = `${shown}\nThe keys are shown this once: store them now.`;
  return { json: { merchant_id: merchantId, keys }, text, ...told };
}

async function change({ args: [merchantId = ''], options }: CommandCall<Settings>) {
  const { name, monthlyLimitUsd, pausePayouts, quota } = options;
  const withdrawals = NETWORKS.map((network) => withdrawalOf(options, network));
  const isSet = [name, monthlyLimitUsd, pausePayouts, ...withdrawals].some((value) => value !== undefined);
  if (!isSet && quota === undefined) {
    const flags = NETWORKS.map((network) => `--withdraw-${network}`).join(', ');
    throw new UsageError(
      `Nothing to set: give --name, ${flags}, --monthly-limit-usd, --pause-payouts or --quota`,
    );
  }
  const settings = settingsOf(options);
  const limits = quotasIn(quota);
  const payoutsPaused = pausePayouts === undefined ? undefined : pausePayouts === 'true';
  return await withGateway(needsOf(options), async ({ deps, chains }) => {
    const told = await checkContracts(chains, options, settings);
    const changed = isSet
      ? presentMerchant(await updateMerchant(deps, { ...settings, payoutsPaused, merchantId }))
      : {};
    const quotas = [];
    for (const [mode, some] of limits)
      quotas.push(...(await setQuotas(deps, { merchantId, mode, quotas: some })));
    const text = {
      ...changed,
      ...Object.fromEntries(quotas.map((one) => [`${one.mode}.${one.quota}`, one.most])),
    };
    const json = quota === undefined ? changed : { ...changed, quotas: quotas.map(viewOf) };
    return {
      json,
      text: Object.keys(text).length > 0 ? facts(text) : 'No quota is left in this mode.',
      ...told,
    };
  });
}

/** `test.customers=10000,live.endpoints=none` by mode. */
function quotasIn(given: string | undefined) {
  const read = (given?.split(',') ?? []).map((one) => {
    const [, mode, name, most = ''] = /^(\w+)\.(\w+)=(none|\d{1,12})$/.exec(one.trim()) ?? [];
    const quota = QUOTAS.find((known) => known === name);
    if (!quota || !MODES.some((known) => known === mode))
      throw new UsageError(
        `--quota must be MODE.NAME=NUMBER or =none, such as test.customers=10000, with NAME one of ${QUOTAS.join(', ')}`,
      );
    return { mode, quota, most: most === NONE ? null : Number.parseInt(most, 10) };
  });
  return MODES.flatMap((mode) => {
    const own = read.filter((one) => one.mode === mode).map(({ quota, most }) => [quota, most]);
    return own.length === 0 ? [] : [[mode, Object.fromEntries(own)] as const];
  });
}

async function list() {
  const merchants = (await withGateway({}, ({ deps }) => listMerchants(deps))).map(presentMerchant);
  const none = 'No merchant yet: make one with "merchant create --name NAME".';
  const next =
    'All about one: "find ID". Change one with "merchant set ID"; its keys: "key list --merchant ID".';
  return { json: { merchants }, ...listed(merchants, { none, next }) };
}

type SubscriptionEnd = Acting & { readonly until?: Date };

async function setState({
  args: [merchantId = '', state],
  options: { until, by },
}: CommandCall<SubscriptionEnd>) {
  if (until && state === 'inactive') throw new UsageError('--until only goes with active');
  if (until && until.getTime() <= Date.now())
    throw new UsageError('--until lies in the past; use "inactive" to close the API now');
  const view = await withGateway({ by }, ({ deps }) =>
    setSubscription(deps, { merchantId, active: state === 'active', until }),
  );
  const { id, subscription, subscription_until } = presentMerchant(view);
  const json = { merchant_id: id, subscription, until: subscription_until };
  return { json, text: facts(json) };
}

async function erase({ args: [customerId = ''], options: { by, reason } }: CommandCall<DecidedBy>) {
  const erased = await withGateway({ by, secrets: true }, ({ deps }) =>
    eraseCustomer(deps, { customerId, reason }),
  );
  const { events, answers } = erased;
  const told = `Customer ${erased.customerId} has no names any more: ${events} events and ${answers} stored answers were changed.`;
  return {
    json: { customer_id: erased.customerId, events, answers },
    text: `${told}\nBackups and detached months still hold them: see docs/privacy.md.`,
  };
}

/** Withdraw addresses and what lets payouts go on are sealed, so that the signer can tell who set them. */
function needsOf(options: Settings): Needs {
  const isSealed =
    options.pausePayouts === 'false' ||
    NETWORKS.some((network) => withdrawalOf(options, network) !== undefined);
  return isSealed ? { by: options.by, secrets: true } : { by: options.by };
}

function withdrawalOf(options: Withdrawals, network: Network): string | undefined {
  return options[`withdraw${network.charAt(0).toUpperCase()}${network.slice(1)}` as keyof Withdrawals];
}

function settingsOf(options: Settings) {
  const withdraw: Partial<Record<Network, string | null>> = {};
  for (const network of NETWORKS) {
    const address = withdrawalOf(options, network);
    if (address === undefined) continue;
    withdraw[network] = orNull(address) ?? null;
    if (address !== NONE) addressGiven(`--withdraw-${network}`, network, address);
  }
  return { name: options.name, withdraw, monthlyLimitCents: orNull(options.monthlyLimitUsd) };
}

/**
 * What a contract does with what it is sent, only its owner knows: one has to be asked for. Returns the
 * sentence about those that nobody was asked about.
 */
async function checkContracts(
  chains: Gateway['chains'],
  { allowContract }: Settings,
  { withdraw }: Pick<ReturnType<typeof settingsOf>, 'withdraw'>,
): Promise<{ readonly next?: string }> {
  if (allowContract) return {};
  const unasked: string[] = [];
  for (const network of NETWORKS) {
    const address = withdraw[network];
    if (typeof address === 'string' && !(await requireNoContract(chains, network, address)))
      unasked.push(CHAIN_NAMES[network]);
  }
  if (unasked.length === 0) return {};
  return {
    next: `Whether it is a contract was not asked, because ${unasked.join(' and ')} is not watched here: set it again once it is.`,
  };
}

/** A merchant as commands print it. */
export function presentMerchant(view: MerchantView) {
  const cents = view.monthlyLimitCents;
  const { created_at, subscription_until } = viewOf(view);
  return {
    id: view.id,
    name: view.name,
    subscription: view.subscriptionActive ? 'active' : 'inactive',
    subscription_until,
    monthly_limit_usd:
      cents === null ? null : `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`,
    ...Object.fromEntries(NETWORKS.map((network) => [`withdraw_${network}`, view.withdraw[network]])),
    payouts: view.payoutsPaused ? 'paused' : 'on',
    created_at,
  };
}
