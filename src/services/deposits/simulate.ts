import { LockMode } from '@mikro-orm/core';
import { chainOf } from '../../chains/index.ts';
import type { Price } from '../../chains/reader.ts';
import { ChainCursor, Customer, type Deposit, DepositAddress, PaymentLink } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { assetOf, type Currency, type Network } from '../../domain/assets.ts';
import { type DepositState, happyPath, type SimulatedOutcome } from '../../domain/deposit.ts';
import { type PaymentShare, shareOfOpen } from '../../domain/payment-link.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { roomForTests } from '../merchants/open-tests.ts';
import { refuseOverQuota, takeFromQuotas } from '../merchants/quotas.ts';
import { simulatePayout } from '../payouts/finish.ts';
import { Refusal } from '../refusal.ts';
import type { Tx } from '../transact.ts';
import { depositStart, workflowIdOf } from './actor-message.ts';
import { currentPrice } from './price.ts';
import { recordDeposit } from './record.ts';
import { applyTransition } from './transition.ts';

export type Simulation = {
  readonly merchantId: string;
  readonly customerId: string;
  readonly network: Network;
  readonly currency: Currency;
  /** Base units, or in words how much of what the link still misses that `paymentToken` names. */
  readonly amountUnits: bigint | PaymentShare;
  /** The same hash, customer and currency give the same deposit; unset means a random one. */
  readonly transactionHash?: string | undefined;
  readonly fromAddress?: string | undefined;
  /** The link that is paid, of this very customer; unset means matched as live money is. */
  readonly paymentToken?: string | undefined;
  readonly outcome: SimulatedOutcome;
  /** `final` announces only the state in which the deposit ends, `full` every state on the way. */
  readonly events: 'final' | 'full';
};

/** A coin whose price is not known yet cannot be simulated to the end; the API answers 503. */
export class NoPriceYet extends Error {
  override readonly name = 'NoPriceYet';
}

/**
 * What {@link simulateDeposit} needs to know first: the price. It may have to be
 * waited for, so this is never called inside a transaction. Throws {@link NoPriceYet}.
 */
export async function priceSimulation(
  deps: Deps,
  { currency, outcome }: Pick<Simulation, 'currency' | 'outcome'>,
): Promise<Price | undefined> {
  const price = await currentPrice(deps, currency);
  const needsPrice = outcome === 'completed' || outcome === 'settled';
  if (!price && needsPrice) throw new NoPriceYet(`there is no price for ${currency} yet`);
  return price;
}

/**
 * Makes a test deposit that ends in the wanted state, through the same tables, postings, events
 * and actor as live money; only the chain is replaced. A repeated hash returns the first
 * deposit unchanged with `created: false`. Returns undefined if there is no such test customer.
 */
export async function simulateDeposit(
  tx: Tx,
  deps: TxDeps,
  input: Simulation & { readonly price: Price | undefined },
): Promise<{ deposit: Deposit; created: boolean } | undefined> {
  // The customer's row is the lock under which two equal simulations become one.
  const customer = await tx.em.findOne(
    Customer,
    { id: input.customerId, merchantId: input.merchantId, mode: 'test' },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!customer) return undefined;
  const address = await tx.em.findOneOrFail(DepositAddress, {
    customerId: customer.id,
    network: input.network,
  });
  const cursor = await tx.em.findOne(ChainCursor, input.network);
  const blockNumber = cursor?.headNumber ?? 1;
  const place = { address, blockNumber, price: input.price };
  const { named, ...recorded } = await recordSimulated(tx, deps, input, place);
  if (recorded.outcome !== 'created') return { deposit: recorded.deposit, created: false };
  const scope = { merchantId: input.merchantId, mode: 'test' as const };
  await roomForTests(tx.em, scope);
  await refuseOverQuota(tx.em, deps, scope, ['events_per_day']);
  const deliveries = [
    ...recorded.deliveries,
    ...(await walk(tx, deps, recorded.deposit, { ...input, named })),
  ];
  await tx.enqueue(workflowIdOf(recorded.deposit), depositStart(recorded.deposit, deliveries));
  const { id: subject, status } = recorded.deposit;
  const after = { customer_id: customer.id, status };
  await recordAction(tx.em, deps, {
    action: 'deposit.simulate',
    merchantId: input.merchantId,
    mode: 'test',
    subject,
    after,
  });
  await takeFromQuotas(tx.em, deps, scope, { events_per_day: announcements(input) });
  return { deposit: recorded.deposit, created: true };
}

type Place = { address: DepositAddress; blockNumber: number; price: Price | undefined };

async function recordSimulated(
  tx: Tx,
  deps: TxDeps,
  input: Simulation,
  { address, blockNumber, price }: Place,
) {
  const transactionHash = input.transactionHash ?? randomHash(deps, input.network);
  const before = await firstRow(
    tx.em,
    sql<{ blockHash: string | null; amountUnits: string }>`
      select block_hash, amount_units from deposits where mode = 'test' and network = ${input.network}
        and transaction_hash = ${transactionHash} and address_key = ${address.addressKey}
        and currency = ${input.currency}`,
  );
  const named = before ? undefined : input.paymentToken;
  const link = named === undefined ? undefined : await namedLink(tx.em, input, named);
  const recorded = await recordDeposit(tx, deps, {
    paymentLinkId: link?.id,
    mode: 'test',
    simulated: true,
    merchantId: input.merchantId,
    customerId: input.customerId,
    network: input.network,
    currency: input.currency,
    address: address.address,
    addressKey: address.addressKey,
    fromAddress: input.fromAddress ?? null,
    transactionHash,
    // A repeated hash repeats the first one's facts, whatever else the second request says.
    amountUnits: before ? BigInt(before.amountUnits) : unitsOf(input, link),
    blockNumber,
    // A simulated chain has no blocks, so no block time either: the clock that links have their times from.
    minedAt: (await deps.storedNow?.(tx.em)) ?? deps.now(),
    blockHash: before ? before.blockHash : randomHash(deps, input.network),
    headNumber: null,
    price,
    silent: input.events === 'final' && input.outcome !== 'detected',
  });
  return { ...recorded, named: link?.id };
}

/**
 * The link that a simulation names. Throws a {@link Refusal}
 * for one that this deposit could not pay, with the reason.
 */
async function namedLink(em: Em, input: Simulation, token: string): Promise<PaymentLink> {
  const { merchantId, customerId, network, currency } = input;
  // Under the customer's lock: what was read before may have been paid since.
  const found = { token, merchantId, customerId, mode: 'test' as const };
  const link = await em.findOne(PaymentLink, found, { refresh: true });
  const refuse = (why: string): never => {
    throw new Refusal('INVALID', `payment_token ${why}.`, 'payment_token');
  };
  if (!link) return refuse('is not the token of a payment link of this customer');
  if (currency !== link.currency) return refuse(`is of a link that is paid in ${link.currency}`);
  if (link.network != null && link.network !== network)
    return refuse(`is of a link that is paid on ${link.network}`);
  if (link.status === 'completed') return refuse('is of a link that is completed already');
  return link;
}

/** What arrives. Throws a {@link Refusal} for a share of nothing. */
function unitsOf(
  { amountUnits: amount, network, currency }: Simulation,
  link: PaymentLink | undefined,
): bigint {
  if (typeof amount === 'bigint') return amount;
  const units = link ? shareOfOpen(link, amount, assetOf(network, currency).decimals) : 0n;
  if (units === 0n)
    throw new Refusal(
      'INVALID',
      'share is of what a payment link still misses, and this one misses nothing: give an amount.',
      'share',
    );
  return units;
}

/** Passes every state up to the wanted one, each in the audit trail, and announces what was asked for. */
async function walk(
  tx: Tx,
  deps: TxDeps,
  deposit: Deposit,
  input: Simulation & { readonly named: string | undefined },
): Promise<string[]> {
  const target: DepositState = input.outcome === 'reorged' ? 'failed' : input.outcome;
  const way = happyPath(target).slice(1);
  const deliveries: string[] = [];
  for (const to of way) {
    const announced =
      input.events === 'full' || to === target || (target === 'settled' && to === 'completed');
    if (to === 'settled') await simulatePayout(tx.em, deps, deposit, randomHash(deps, deposit.network));
    const failure =
      input.outcome === 'reorged'
        ? { failureCode: 'REORGED' as const, reason: 'simulated: its block was replaced' }
        : { failureCode: 'REJECTED_BY_OPERATOR' as const, reason: 'simulated failure' };
    deliveries.push(
      ...(await applyTransition(tx, deps, deposit, {
        to,
        headNumber: null,
        named: input.named,
        silent: !announced,
        ...(to === 'failed' ? failure : {}),
      })),
    );
  }
  return deliveries;
}

/** How many events a simulation makes. */
function announcements({ outcome, events }: Simulation): number {
  if (events === 'full') return happyPath(outcome === 'reorged' ? 'failed' : outcome).length;
  return outcome === 'settled' ? 2 : 1;
}

function randomHash(deps: TxDeps, network: Network): string {
  const hex = (deps.newId() + deps.newId()).replaceAll('-', '');
  return chainOf(network).hashHasPrefix ? `0x${hex}` : hex;
}
