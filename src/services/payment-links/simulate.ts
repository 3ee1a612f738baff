import { createHash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { Customer, PaymentLink } from '../../db/entities/index.ts';
import { assetOf, type Network } from '../../domain/assets.ts';
import { isCovered, isOpenLink, type PaymentShare, shareOfOpen } from '../../domain/payment-link.ts';
import { priceSimulation, type Simulation, simulateDeposit } from '../deposits/simulate.ts';
import { type Deps, txDeps } from '../deps.ts';
import { answerOnce, IdempotencyConflict } from '../idempotency.ts';
import { notFound } from '../refusal.ts';
import type { Tx } from '../transact.ts';
import { TOKEN_PATTERN } from './create.ts';
import { payableNetworks } from './networks.ts';

export type LinkSimulation = {
  readonly token: string;
  /** Of what the link still misses. */
  readonly share: PaymentShare;
  /** Where it arrives; one on which the link is not paid counts as none, which is the first that it has. */
  readonly network: Network | undefined;
  /** The same key does it once; 1 to 255 visible characters. */
  readonly key: string;
};

/** The merchant of a test link. Throws the same NOT_FOUND Refusal for live links and for unknown tokens. */
export async function testLinkOwner(deps: Deps, token: string): Promise<string> {
  return (await testLink(deps, token)).merchantId;
}

/**
 * Lets a test payment of a link arrive and be completed, as `POST /test/simulate-deposit` does. What is
 * still open is looked at under the customer's lock, so two payments at once never both bring all of it; a
 * link that wants nothing any more is left alone. A key that was used does nothing again, nor does one
 * whose request is not over yet. Throws as {@link testLinkOwner} and the simulation of deposits do.
 */
export async function simulatePayment(deps: Deps, input: LinkSimulation): Promise<void> {
  const { token, share, network, key } = input;
  const { id, merchantId, customerId, currency } = await testLink(deps, token);
  const request = {
    merchantId,
    mode: 'test' as const,
    method: 'POST',
    path: `/pay/${token}/simulate`,
    key,
    requestHash: createHash('sha256')
      .update(JSON.stringify([share, network]))
      .digest('hex'),
  };
  const payment = { merchantId, customerId, currency, paymentToken: token, outcome: 'completed' } as const;
  const work = {
    prepare: () => priceSimulation(deps, payment),
    apply: async (tx: Tx, price: Awaited<ReturnType<typeof priceSimulation>>) => {
      const money = await moneyOf(tx, deps, { id, customerId, share, network });
      if (money) await simulateDeposit(tx, txDeps(deps), { ...payment, ...money, events: 'final', price });
      return { status: 303, body: '' };
    },
    keptRefusal: () => undefined,
  };
  await answerOnce(deps, request, work).catch((error: unknown) => {
    if (!(error instanceof IdempotencyConflict)) throw error;
  });
}

async function testLink(deps: Deps, token: string): Promise<PaymentLink> {
  const link = TOKEN_PATTERN.test(token)
    ? await deps.orm.em.fork().findOne(PaymentLink, { token, mode: 'test' })
    : null;
  if (!link) throw notFound('payment link');
  return link;
}

type Wish = Pick<LinkSimulation, 'share' | 'network'> & { readonly id: string; readonly customerId: string };

/** What arrives where; undefined when the link takes nothing any more. */
async function moneyOf(
  tx: Tx,
  deps: Deps,
  { id, customerId, share, network: wanted }: Wish,
): Promise<Pick<Simulation, 'network' | 'amountUnits'> | undefined> {
  // The lock that the simulation itself takes, taken before what is open is read.
  await tx.em.findOneOrFail(Customer, customerId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const link = await tx.em.findOneOrFail(PaymentLink, id, { refresh: true });
  const networks = payableNetworks(deps.settings, 'test', link.network ?? null);
  const network = networks.find((one) => one === wanted) ?? networks[0];
  const takes = isOpenLink(link.status) && deps.now() <= link.expiresAt && !isCovered(link);
  if (!takes || network === undefined) return undefined;
  return { network, amountUnits: shareOfOpen(link, share, assetOf(network, link.currency).decimals) };
}
