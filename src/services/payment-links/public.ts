import { chainOf } from '../../chains/index.ts';
import type { PaymentMethodView, PublicPaymentView } from '../../contract/payment-link.ts';
import { DepositAddress, Merchant, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { assetOf, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import { fromLinkUnits, isCovered, isOpenLink, openUnitsOf } from '../../domain/payment-link.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../refusal.ts';
import { TOKEN_PATTERN } from './create.ts';
import { payableNetworks } from './networks.ts';
import { presentPayment, transactionsOf } from './present.ts';

/**
 * The payer's view of a link. Ways to pay are shown only while money would still be taken and seen:
 * the link is open, its time is not over, what was seen so far does not cover it, and the network
 * is read. Throws the same NOT_FOUND {@link Refusal} for an unknown and for a malformed token.
 */
export async function getPublicPayment(deps: Deps, token: string): Promise<PublicPaymentView> {
  const em = deps.orm.em.fork();
  const now = deps.now();
  const row = TOKEN_PATTERN.test(token) ? await em.findOne(PaymentLink, { token }) : null;
  if (!row) throw notFound('payment link');
  const merchant = await em.findOneOrFail(Merchant, row.merchantId);
  const transactions = (await transactionsOf(em, [row.id])).get(row.id) ?? [];
  const view = presentPayment(row, { email: null, transactions });
  const { status, amount_status, amount_usd, currency, description, is_live, expires_at } = view;
  return {
    token,
    status,
    amount_status,
    amount_usd,
    currency,
    description,
    merchant: { name: merchant.name },
    is_live,
    expires_at,
    server_time: isoSeconds(now),
    methods: isOpenLink(status) && now <= row.expiresAt ? await methodsOf(em, deps, row) : [],
    transactions,
    paid_network: view.paid_network,
    transaction_hash: view.transaction_hash,
    success_url: view.success_url,
    cancel_url: view.cancel_url,
  };
}

async function methodsOf(em: Em, deps: Deps, link: PaymentLink): Promise<PaymentMethodView[]> {
  if (isCovered(link)) return [];
  const openUnits = openUnitsOf(link);
  const addresses = await em.find(DepositAddress, { customerId: link.customerId });
  return payableNetworks(deps.settings, link.mode, link.network ?? null).flatMap((network) => {
    const address = addresses.find((row) => row.network === network)?.address;
    return address === undefined ? [] : [methodOf(deps, link, { network, address, openUnits })];
  });
}

type Way = { readonly network: Network; readonly address: string; readonly openUnits: bigint };

function methodOf(deps: Deps, link: PaymentLink, { network, address, openUnits }: Way): PaymentMethodView {
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
    payment_uri: chainOf(network).paymentUri(request),
    required_confirmations: deps.settings.requiredConfirmations[network],
  };
}
