import { createHash } from 'node:crypto';
import { firstRow, sql } from '../../db/sql.ts';
import { assetOf, type Currency, findAsset, type Network, SIMULATED_COINS } from '../../domain/assets.ts';
import { parseUnits } from '../../domain/money.ts';
import { priceSimulation, simulateDeposit } from '../deposits/simulate.ts';
import { type Deps, txDeps } from '../deps.ts';
import { answerOnce, IdempotencyConflict } from '../idempotency.ts';
import { notFound } from '../refusal.ts';
import type { Tx } from '../transact.ts';
import { PAGE_TOKEN, pageHash } from './token.ts';

export type PageSimulation = {
  readonly token: string;
  readonly network: Network;
  readonly currency: Currency;
  /** The same key does it once; 1 to 255 visible characters. */
  readonly key: string;
};

/**
 * The merchant of a test customer's page. Throws the same NOT_FOUND Refusal for live and for unknown ones.
 */
export async function testPageOwner(deps: Deps, token: string): Promise<string> {
  return (await testCustomer(deps, token)).merchantId;
}

/**
 * Lets a test deposit arrive and be completed, as `POST /test/simulate-deposit` does. A key that was used
 * does nothing again, nor does one whose request is not over yet. Throws as {@link testPageOwner} and the
 * simulation of deposits do.
 */
export async function simulateOnPage(deps: Deps, input: PageSimulation): Promise<void> {
  const { token, network, currency, key } = input;
  const { id, merchantId } = await testCustomer(deps, token);
  const asset = assetOf(network, currency);
  const money = {
    merchantId,
    customerId: id,
    network,
    currency,
    amountUnits: parseUnits(SIMULATED_COINS[currency], asset.decimals),
    outcome: 'completed',
    events: 'final',
  } as const;
  const request = {
    merchantId,
    mode: 'test' as const,
    method: 'POST',
    path: `/address/${id}/simulate`,
    key,
    requestHash: createHash('sha256')
      .update(JSON.stringify([network, currency]))
      .digest('hex'),
  };
  const work = {
    prepare: () => priceSimulation(deps, money),
    apply: async (tx: Tx, price: Awaited<ReturnType<typeof priceSimulation>>) => {
      await simulateDeposit(tx, txDeps(deps), { ...money, price });
      return { status: 303, body: '' };
    },
    keptRefusal: () => undefined,
  };
  await answerOnce(deps, request, work).catch((error: unknown) => {
    if (!(error instanceof IdempotencyConflict)) throw error;
  });
}

/** The currency with that name on a network, for what a form says. */
export function simulatedCurrency(network: Network, name: unknown): Currency | undefined {
  return typeof name === 'string' ? findAsset(network, name)?.currency : undefined;
}

async function testCustomer(deps: Deps, token: string): Promise<{ id: string; merchantId: string }> {
  const found = PAGE_TOKEN.test(token)
    ? await firstRow(
        deps.orm.em.fork(),
        sql<{ id: string; merchantId: string }>`select id, merchant_id from customers
          where page_token_hash = ${pageHash(token)} and mode = 'test'`,
      )
    : undefined;
  if (!found) throw notFound('address page');
  return found;
}
