import { createArrivals } from '../../base/async/arrivals.ts';
import { createFairGate } from '../../base/async/fair-gate.ts';
import { chainOf } from '../../chains/index.ts';
import type { PaymentMethodView, PublicPaymentView } from '../../contract/payment-link.ts';
import type { PaymentTransactionView } from '../../contract/payment-transaction.ts';
import { DepositAddress, Merchant, PaymentLink } from '../../db/entities/index.ts';
import { assetOf, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import { fromLinkUnits, isCovered, isOpenLink, openUnitsOf } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../refusal.ts';
import { withinTime } from '../time-limit.ts';
import { TOKEN_PATTERN } from './create.ts';
import { payableNetworks } from './networks.ts';
import { lateTransactionsOf, presentPayment, transactionsOf } from './present.ts';

const READ_MS = 1_500;

/**
 * The payer's view of a link. Ways to pay are shown only while money would still be taken and seen:
 * the link is open, its time is not over, what was seen so far does not cover it, and the network
 * is read. Throws the same NOT_FOUND {@link Refusal} for an unknown and for a malformed token.
 */
export async function getPublicPayment(deps: Deps, token: string): Promise<PublicPaymentView> {
  const ask = deps.publicPayment ?? (async () => (await getPublicPayments(deps, [token])).get(token));
  const view = await ask(token);
  if (!view) throw notFound('payment link');
  return view;
}

/** Reads links for all who ask in a process: at once what is asked for together, one reading at a time. */
export function gatheredPayments(deps: Deps): NonNullable<Deps['publicPayment']> {
  const { run } = createFairGate({ places: 1 });
  const read = (tokens: readonly string[]) =>
    // A limit of its own: whoever asked first may leave, and others wait for it.
    withinTime(
      { limitMs: READ_MS },
      () => getPublicPayments(deps, tokens),
      (late) => late,
    );
  return createArrivals(read, (work) => run('', work)).ask;
}

/** The same of several links by their tokens, in a few queries for any number; unknown ones are left out. */
export async function getPublicPayments(
  deps: Deps,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, PublicPaymentView>> {
  const possible = tokens.filter((token) => TOKEN_PATTERN.test(token));
  if (possible.length === 0) return new Map();
  const em = deps.orm.em.fork();
  const now = deps.now();
  const links = await em.find(PaymentLink, { token: { $in: possible } });
  if (links.length === 0) return new Map();
  const merchants = await em.find(Merchant, { id: { $in: links.map(({ merchantId }) => merchantId) } });
  const transactions = await transactionsOf(
    em,
    links.map(({ id }) => id),
  );
  const late = await lateTransactionsOf(
    em,
    links.map(({ id }) => id),
  );
  const isPayable = (link: PaymentLink) =>
    isOpenLink(link.status) && now <= link.expiresAt && !isCovered(link);
  const payers = links.filter(isPayable).map(({ customerId }) => customerId);
  const addresses = payers.length > 0 ? await em.find(DepositAddress, { customerId: { $in: payers } }) : [];
  const views = links.map((link) => {
    const own = addresses.filter(({ customerId }) => customerId === link.customerId);
    const methods = isPayable(link) ? methodsOf(deps, link, own) : [];
    const name = merchants.find(({ id }) => id === link.merchantId)?.name ?? '';
    const shown = { transactions: transactions.get(link.id) ?? [], late: late.get(link.id) ?? [] };
    return viewOf(link, { now, name, methods, ...shown });
  });
  return new Map(views.map((view) => [view.token, view]));
}

type Shown = {
  readonly now: Date;
  /** Of the merchant. */
  readonly name: string;
  readonly methods: PaymentMethodView[];
  readonly transactions: readonly PaymentTransactionView[];
  readonly late: readonly PaymentTransactionView[];
};

function viewOf(link: PaymentLink, { now, name, methods, transactions, late }: Shown): PublicPaymentView {
  const view = presentPayment(link, { email: null, transactions });
  return {
    token: link.token,
    status: view.status,
    amount_status: view.amount_status,
    amount_usd: view.amount_usd,
    currency: view.currency,
    description: view.description,
    merchant: { name },
    is_live: view.is_live,
    expires_at: view.expires_at,
    server_time: isoSeconds(now),
    methods,
    transactions: view.transactions.map(forPayer),
    late_transactions: late.map(forPayer),
    paid_network: view.paid_network,
    transaction_hash: view.transaction_hash,
    completed_at: view.completed_at,
    success_url: view.success_url,
    cancel_url: view.cancel_url,
  };
}

/** Why money is held is between the merchant and the customer: whoever holds the token is not told it. */
function forPayer(row: PaymentTransactionView): PaymentTransactionView {
  const { failure_code: code } = row;
  return { ...row, failure_code: code === 'REORGED' || code === 'BELOW_MINIMUM' ? code : null };
}

function methodsOf(deps: Deps, link: PaymentLink, addresses: readonly DepositAddress[]): PaymentMethodView[] {
  const openUnits = openUnitsOf(link);
  const leastUnits = link.leastUnits - link.assignedUnits;
  return payableNetworks(deps.settings, link.mode, link.network ?? null).flatMap((network) => {
    const address = addresses.find((row) => row.network === network)?.address;
    return address === undefined ? [] : [methodOf(deps, link, { network, address, openUnits, leastUnits })];
  });
}

/** `openUnits` are asked for, `leastUnits` enough: both in units of links. */
type Way = {
  readonly network: Network;
  readonly address: string;
  readonly openUnits: bigint;
  readonly leastUnits: bigint;
};

function methodOf(deps: Deps, link: PaymentLink, way: Way): PaymentMethodView {
  const { network, address, openUnits, leastUnits } = way;
  const { decimals } = assetOf(network, link.currency);
  const units = fromLinkUnits(openUnits, decimals);
  const amount = formatUnits(units, decimals);
  const contract = deps.settings.contracts[network];
  const request = { address, contract, units, amount, chainId: deps.settings.chainIds[network] };
  return {
    network,
    currency: link.currency,
    contract_address: contract,
    decimals,
    address,
    amount,
    least_amount: formatUnits(fromLinkUnits(leastUnits, decimals), decimals),
    payment_uri: chainOf(network).paymentUri(request),
    required_confirmations: deps.settings.requiredConfirmations[network],
  };
}
