import { randomBytes } from 'node:crypto';
import type { RequiredEntityData } from '@mikro-orm/core';
import type { PaymentLinkView } from '../../contract/payment-link.ts';
import { Customer, PaymentLink } from '../../db/entities/index.ts';
import type { Network } from '../../domain/assets.ts';
import { isUuid, paymentWorkflowId } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import { LINK_CURRENCY, LINK_LIMITS, type LinkCurrency, linkAmounts } from '../../domain/payment-link.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { findOrCreateByEmail, NEW_CUSTOMER } from '../merchants/customers.ts';
import { roomForTests } from '../merchants/open-tests.ts';
import { refuseOverQuota, takeFromQuotas } from '../merchants/quotas.ts';
import { AmountTooSmall, notFound, Refusal } from '../refusal.ts';
import type { Scope } from '../scope.ts';
import { newToken } from '../token.ts';
import type { Tx } from '../transact.ts';
import { insertEndpoint } from '../webhooks/endpoints.ts';
import { generateSecret } from '../webhooks/http/signature.ts';
import { checkUrl, type EndpointDeps, type PermittedUrl } from '../webhooks/permit.ts';
import { paymentStart } from './actor-message.ts';
import { payableNetworks, refuseUnwatched } from './networks.ts';
import { paymentViews } from './present.ts';

/**
 * A link as it is asked for; the contract has checked its terms. `customerId`
 * wins when both it and an email are given; one of the two must be.
 */
export type NewPaymentLink = Scope & {
  readonly customerId?: string | undefined;
  readonly email?: string | undefined;
  readonly amountCents: bigint;
  readonly description?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  readonly successUrl?: string | null | undefined;
  readonly cancelUrl?: string | null | undefined;
  /** Gets `payment.completed` of this link; the rule for webhook endpoints applies to it. */
  readonly webhookUrl?: string | null | undefined;
  /** In seconds; unset means an hour. */
  readonly expiresInS?: number | null | undefined;
  readonly currency?: LinkCurrency | null | undefined;
  /** The only network that may pay; unset means any. */
  readonly network?: Network | null | undefined;
  /** Where the payer's pages are, without a slash at the end. */
  readonly publicUrl: string;
};

/** 196 random bits. */
const TOKEN_LENGTH = 33;
/** What every token looks like: earlier ones were 192 random bits in base64url. */
export const TOKEN_PATTERN = /^pl_(?:[A-Za-z0-9]{33}|[A-Za-z0-9_-]{32})$/;

/** A link whose terms were checked. */
export type PermittedLink = NewPaymentLink & {
  readonly webhookUrl: PermittedUrl | null;
  readonly expiresInS: number;
};

/**
 * What {@link createPaymentLink} needs to know first. Looks a name up if the link has a URL of its own,
 * so it is never called inside a transaction. Throws a {@link Refusal}: AMOUNT_TOO_SMALL or INVALID.
 */
export async function permitPaymentLink(deps: EndpointDeps, input: NewPaymentLink): Promise<PermittedLink> {
  const tooSmall = amountTooSmall(deps, input.amountCents);
  if (tooSmall) throw tooSmall;
  if (input.amountCents > BigInt(LINK_LIMITS.maxUsd) * 100n)
    throw new Refusal('INVALID', `amount_usd must be at most ${LINK_LIMITS.maxUsd}.`, 'amount_usd');
  refuseUnwatched(deps.settings, input.mode, input.network ?? null);
  const webhookUrl = input.webhookUrl == null ? null : await checkUrl(deps, input.webhookUrl, 'webhook_url');
  return { ...input, webhookUrl, expiresInS: input.expiresInS ?? LINK_LIMITS.defaultExpiresInSeconds };
}

/**
 * Makes a payment link, and its customer if the email is new, without Temporal or a node. Returns
 * the secret that signs what goes to `webhookUrl`, which is stored sealed and never shown again;
 * without such a URL it has nothing to sign and is kept nowhere. Throws a {@link Refusal}:
 * NOT_FOUND for a customer of another merchant, or one that says that there are too many.
 */
export async function createPaymentLink(
  tx: Tx,
  deps: TxDeps,
  input: PermittedLink,
): Promise<{ link: PaymentLinkView; webhookSecret: string }> {
  const { webhookUrl } = input;
  await roomForTests(tx.em, input);
  await refuseOverQuota(tx.em, deps, input, ['open_links']);
  const customer = await customerOf(tx, deps, input);
  // Blocks are compared with these times, and this process's clock may be wrong.
  const now = (await deps.storedNow?.(tx.em)) ?? deps.now();
  const row = tx.em.create(PaymentLink, newRow({ ...deps, now: () => now }, input, customer.id));
  const { id, merchantId, mode } = row;
  await tx.em.flush();
  const secret =
    webhookUrl === null
      ? generateSecret(randomBytes)
      : insertEndpoint(tx.em, deps, {
          id,
          paymentLinkId: id,
          merchantId,
          mode,
          url: webhookUrl,
          events: [],
          description: null,
        }).secret;
  await tx.em.flush();
  await tx.enqueue(paymentWorkflowId(id), paymentStart(row));
  const after = {
    amount_usd: formatUnits(input.amountCents, 2),
    customer_id: customer.id,
    own_webhook: webhookUrl !== null,
  };
  await recordAction(tx.em, deps, { action: 'link.create', merchantId, mode, subject: id, after });
  const [link] = await paymentViews(tx.em, [row]);
  if (!link) throw new Error('the new payment link has no view');
  await takeFromQuotas(tx.em, deps, input, { open_links: 1, ...(customer.isNew ? NEW_CUSTOMER : {}) });
  return { link, webhookSecret: secret };
}

/** The refusal of an amount that is too small for a link; undefined where it is not. */
export function amountTooSmall(
  { settings }: Pick<Deps, 'settings'>,
  amountCents: bigint,
): AmountTooSmall | undefined {
  const { minimumCents } = settings.payments;
  if (amountCents >= minimumCents && amountCents > 0n) return undefined;
  const least = `The smallest amount of a payment link is ${formatUnits(minimumCents, 2)} USD.`;
  return new AmountTooSmall(minimumCents, least, 'amount_usd');
}

async function customerOf(
  tx: Tx,
  deps: TxDeps,
  input: NewPaymentLink,
): Promise<{ id: string; isNew: boolean }> {
  const { merchantId, mode, customerId, email } = input;
  if (customerId !== undefined) {
    const found = isUuid(customerId)
      ? await tx.em.findOne(Customer, { id: customerId, merchantId, mode }, { fields: ['id'] })
      : null;
    if (!found) throw notFound('customer');
    return { id: found.id, isNew: false };
  }
  if (email === undefined) throw new Refusal('INVALID', 'email or customer_id must be given.', 'email');
  return await findOrCreateByEmail(tx, deps, { merchantId, mode, email });
}

function newRow(deps: TxDeps, input: PermittedLink, customerId: string): RequiredEntityData<PaymentLink> {
  const now = deps.now();
  const token = `pl_${newToken(TOKEN_LENGTH)}`;
  const { amountUnits, leastUnits } = linkAmounts(
    input.amountCents,
    deps.settings.payments.toleranceBasisPoints,
  );
  return {
    id: deps.newId(),
    merchantId: input.merchantId,
    customerId,
    mode: input.mode,
    token,
    url: `${input.publicUrl}/pay/${token}`,
    status: 'pending' as const,
    amountStatus: 'none' as const,
    stateSince: now,
    sequence: 1,
    late: false,
    eventSequence: 0,
    partialUnits: 0n,
    amountCents: input.amountCents,
    amountUnits,
    leastUnits,
    currency: LINK_CURRENCY,
    network: input.network ?? null,
    offeredNetworks: payableNetworks(deps.settings, input.mode, input.network ?? null),
    paidUnits: 0n,
    assignedUnits: 0n,
    openCount: 0,
    description: input.description ?? null,
    externalId: input.externalId ?? null,
    metadata: { ...input.metadata },
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    webhookUrl: input.webhookUrl,
    expiresAt: new Date(now.getTime() + input.expiresInS * 1_000),
    createdAt: now,
    updatedAt: now,
  };
}
