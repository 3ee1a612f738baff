import type { Command } from 'commander';
import type { Gateway } from '../../app/compose.ts';
import { UsageError } from '../../base/errors.ts';
import { CHAIN_NAMES } from '../../chains/names.ts';
import { NETWORKS, type Network } from '../../domain/assets.ts';
import type { MerchantView } from '../../services/merchants/merchants.ts';
import { dollarsOrNone, type NONE, oneOf, orNull, text, time } from '../arguments.ts';
import { addressGiven } from '../chain-arguments.ts';
import { type Acting, acting } from '../operator.ts';
import type { Needs } from '../process.ts';
import { answering, group, leaf } from '../run.ts';
import { facts, listing } from '../table.ts';
import { wrapped } from '../width.ts';
import { addWithdrawChangeCommands, changeLine, presentChange } from './withdraw-changes.ts';

const MAX_ADDRESS = 100;

/** As the command line reads `--withdraw-NETWORK`. */
type Withdrawals = { readonly [N in Network as `withdraw${Capitalize<N>}`]?: string };

type Settings = Acting &
  Withdrawals & {
    readonly name?: string;
    readonly monthlyLimitUsd?: bigint | typeof NONE;
    readonly allowContract?: true;
    readonly pausePayouts?: 'true' | 'false';
  };

/** `merchant` and `subscription`. */
export function addMerchantCommands(program: Command): void {
  const merchant = group(program, 'merchant', 'merchants: who uses this gateway');
  withSettings(
    leaf(merchant, 'create', 'makes a merchant with a live and a test key, which are shown this once'),
  )
    .requiredOption('--name <name>', 'what customers see', text())
    .option('--no-subscription', 'leave the API closed until "subscription set" opens it')
    .action(answering(create));
  withSettings(leaf(merchant, 'set <id>', 'changes what is given; "none" takes a value away'))
    .option('--name <name>', 'what customers see', text())
    .option('--pause-payouts <bool>', 'as "payout pause" and "payout resume"', oneOf('true', 'false'))
    .action(answering(change));
  leaf(merchant, 'list', 'lists all merchants, oldest first').action(answering(list));
  leaf(
    merchant,
    'show <id>',
    'prints one merchant, with the withdraw addresses that its users changed and that wait',
  ).action(answering(show));
  addWithdrawChangeCommands(merchant);

  const subscription = group(program, 'subscription', 'opens and closes the API for a merchant');
  const set = leaf(subscription, 'set', 'sets the subscription; watching and crediting never depend on it');
  acting(set)
    .argument('<merchant>', 'merchant id')
    .argument('<state>', 'active or inactive', oneOf('active', 'inactive'))
    .option('--until <time>', 'when an active one ends', time)
    .action(answering(setState));
}

function withSettings(command: Command): Command {
  acting(command);
  for (const network of NETWORKS)
    command.option(
      `--withdraw-${network} <address>`,
      `where payouts on ${CHAIN_NAMES[network]} go`,
      text(MAX_ADDRESS),
    );
  command.option('--allow-contract', 'let a withdraw address be a contract');
  return command.option('--monthly-limit-usd <amount>', 'most that is credited in a month', dollarsOrNone);
}

async function create({ options }: { options: Settings & { readonly subscription: boolean } }) {
  await checkWithdrawals(options);
  const [{ withGateway }, { createMerchant }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/merchants.ts'),
  ]);
  const settings = settingsOf(options);
  const { made, told } = await withGateway(needsOf(options), async ({ deps, chains }) => {
    const unasked = await checkContracts(chains, options, settings);
    const order = { ...settings, name: options.name ?? '', subscriptionActive: options.subscription };
    return { made: await createMerchant(deps, order), told: unasked };
  });
  const json = { merchant_id: made.merchantId, keys: made.keys };
  const shown = facts({ merchant: made.merchantId, 'live key': made.keys.live, 'test key': made.keys.test });
  return { json, text: `${shown}\nThe keys are shown this once: store them now.`, ...told };
}

/** Withdraw addresses and what lets payouts go on are sealed, so that the signer can tell who set them. */
function needsOf(options: Settings): Needs {
  const gives =
    options.pausePayouts === 'false' ||
    NETWORKS.some((network) => withdrawalOf(options, network) !== undefined);
  return gives ? { by: options.by, secrets: true } : { by: options.by };
}

async function change({ args, options }: { args: readonly string[]; options: Settings }) {
  const settings = settingsOf(options);
  const given = [
    options.name,
    options.monthlyLimitUsd,
    options.pausePayouts,
    ...NETWORKS.map((network) => withdrawalOf(options, network)),
  ];
  if (given.every((value) => value === undefined)) {
    const withdrawals = NETWORKS.map((network) => `--withdraw-${network}`).join(', ');
    throw new UsageError(
      `Nothing to set: give --name, ${withdrawals}, --monthly-limit-usd or --pause-payouts`,
    );
  }
  await checkWithdrawals(options);
  const [{ withGateway }, { updateMerchant }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/merchants.ts'),
  ]);
  const { pausePayouts } = options;
  const payoutsPaused = pausePayouts === undefined ? undefined : pausePayouts === 'true';
  const { view, told } = await withGateway(needsOf(options), async ({ deps, chains }) => {
    const unasked = await checkContracts(chains, options, settings);
    const merchantId = args[0] ?? '';
    return { view: await updateMerchant(deps, { ...settings, payoutsPaused, merchantId }), told: unasked };
  });
  return { json: present(view), text: facts(present(view)), ...told };
}

async function list() {
  const [{ withGateway }, { listMerchants }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/merchants.ts'),
  ]);
  const merchants = (await withGateway({}, ({ deps }) => listMerchants(deps))).map(present);
  const rows = merchants.map((row) => [
    row.id,
    row.name,
    row.subscription,
    row.subscription_until,
    row.monthly_limit_usd,
    ...NETWORKS.map((network) => row[`withdraw_${network}`]),
    row.payouts,
  ]);
  const header = [
    'ID',
    'NAME',
    'SUBSCRIPTION',
    'UNTIL',
    'MONTHLY USD',
    ...NETWORKS.map((network) => `WITHDRAW ${network.toUpperCase()}`),
    'PAYOUTS',
  ];
  const none = 'No merchant yet: make one with "merchant create --name NAME".';
  const next = 'Change one with "merchant set ID"; its keys are shown by "key list --merchant ID".';
  return { json: { merchants }, ...listing({ header, rows, none, next }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { getMerchant }, { listPendingWithdrawChanges }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/merchants.ts'),
    import('../../services/merchants/withdraw-notices.ts'),
  ]);
  const merchantId = args[0] ?? '';
  const { view, waiting, now } = await withGateway({}, async ({ deps }) => ({
    now: deps.now(),
    view: await getMerchant(deps, merchantId),
    waiting: (await listPendingWithdrawChanges(deps, { merchantId })).map(presentChange),
  }));
  return {
    json: { ...present(view), withdraw_changes: waiting },
    text: [facts(present(view)), ...waiting.flatMap((change) => wrapped(changeLine(change, now)))].join('\n'),
    ...(waiting.length > 0 ? { next: 'Take a change back with "merchant cancel-change ID".' } : {}),
  };
}

async function setState({
  args,
  options,
}: {
  args: readonly string[];
  options: Acting & { readonly until?: Date };
}) {
  const [merchantId = '', state] = args;
  const { until } = options;
  if (until && state === 'inactive') throw new UsageError('--until only goes with active');
  if (until && until.getTime() <= Date.now())
    throw new UsageError('--until lies in the past; use "inactive" to close the API now');
  const [{ withGateway }, { setSubscription }] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/merchants.ts'),
  ]);
  const view = await withGateway({ by: options.by }, ({ deps }) =>
    setSubscription(deps, { merchantId, active: state === 'active', until }),
  );
  const { id, subscription, subscription_until } = present(view);
  const json = { merchant_id: id, subscription, until: subscription_until };
  return { json, text: facts(json) };
}

function withdrawalOf(options: Withdrawals, network: Network): string | undefined {
  return options[`withdraw${network.charAt(0).toUpperCase()}${network.slice(1)}` as keyof Withdrawals];
}

async function checkWithdrawals(options: Withdrawals): Promise<void> {
  for (const network of NETWORKS) {
    const address = orNull(withdrawalOf(options, network));
    if (typeof address === 'string') await addressGiven(`--withdraw-${network}`, network, address);
  }
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
  const { requireNoContract } = await import('../../services/merchants/withdraw-addresses.ts');
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

function settingsOf(options: Settings) {
  const { name, monthlyLimitUsd } = options;
  const withdraw: Partial<Record<Network, string | null>> = {};
  for (const network of NETWORKS) {
    const address = withdrawalOf(options, network);
    if (address !== undefined) withdraw[network] = orNull(address) ?? null;
  }
  return { name, withdraw, monthlyLimitCents: orNull(monthlyLimitUsd) };
}

function present(view: MerchantView) {
  const cents = view.monthlyLimitCents;
  const withdrawals = Object.fromEntries(
    NETWORKS.map((network) => [`withdraw_${network}`, view.withdraw[network]]),
  ) as Record<`withdraw_${Network}`, string | null>;
  return {
    id: view.id,
    name: view.name,
    subscription: view.subscriptionActive ? 'active' : 'inactive',
    subscription_until: seconds(view.subscriptionUntil),
    monthly_limit_usd:
      cents === null ? null : `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`,
    ...withdrawals,
    payouts: view.payoutsPaused ? 'paused' : 'on',
    created_at: seconds(view.createdAt),
  };
}

function seconds(date: Date | null): string | null {
  return date ? `${date.toISOString().slice(0, 19)}Z` : null;
}
