import { z } from 'zod';
import { normaliseAddress } from '../chains/addresses.ts';
import { chainOf } from '../chains/index.ts';
import { SIMULATED_AMOUNT, simulationRequest } from '../contract/deposit.ts';
import { findAsset, NETWORKS } from '../domain/assets.ts';
import { parseUnits } from '../domain/money.ts';

/** The network of a simulation that names none; it is documented, so the list keeps its order. */
const [USUAL_NETWORK] = NETWORKS;
const MAX_AMOUNT = 10n ** 12n;

/** What the simulation takes, with every alias and default resolved. */
export const simulation = simulationRequest
  .transform((body, context) => {
    const refuse = (path: string, message: string) => {
      context.addIssue({ code: 'custom', path: [path], message });
      return z.NEVER;
    };
    const chain = body.network ?? USUAL_NETWORK;
    const coin = body.currency ?? body.token ?? 'USDT';
    if (body.token !== undefined && body.token !== coin)
      return refuse('token', 'must be the same as currency');
    const asset = findAsset(chain, coin);
    if (!asset) return refuse('currency', `must be one that ${chain} has: ${coin} is not`);
    if (body.amount_usd !== undefined && coin !== 'USDT')
      return refuse('amount_usd', 'is for USDT only: give amount');
    if (body.amount !== undefined && body.amount_usd !== undefined && body.amount !== body.amount_usd) {
      return refuse('amount_usd', 'must be the same as amount');
    }
    const amount = body.amount ?? body.amount_usd;
    if (body.share !== undefined && amount !== undefined)
      return refuse('share', 'stands for amount: give only one');
    if (body.share !== undefined && !body.payment_token)
      return refuse('share', 'is of a payment link: give payment_token');
    const units = unitsOf(amount ?? SIMULATED_AMOUNT, asset.decimals);
    if (typeof units === 'string')
      return refuse(
        body.amount === undefined && body.amount_usd !== undefined ? 'amount_usd' : 'amount',
        units,
      );
    const transactionHash = body.transaction_hash ?? undefined;
    const { hashHasPrefix } = chainOf(chain);
    if (transactionHash !== undefined && transactionHash.startsWith('0x') !== hashHasPrefix) {
      return refuse('transaction_hash', `must ${hashHasPrefix ? '' : 'not '}begin with 0x on ${chain}`);
    }
    const fromAddress = body.from_address ? normaliseAddress(chain, body.from_address) : undefined;
    if (body.from_address && fromAddress === undefined)
      return refuse('from_address', `must be a ${chain} address`);
    return {
      customerId: body.customer_id,
      network: chain,
      currency: coin,
      amountUnits: body.share ?? units,
      transactionHash,
      fromAddress,
      paymentToken: body.payment_token ?? undefined,
      outcome: body.outcome ?? ('completed' as const),
      events: body.events ?? ('final' as const),
    };
  })
  .meta({ id: 'Simulation' });

function unitsOf(given: string, decimals: number): bigint | string {
  try {
    const units = parseUnits(given, decimals);
    if (units === 0n) return 'must be more than 0';
    return units > MAX_AMOUNT * 10n ** BigInt(decimals) ? `must be at most ${MAX_AMOUNT}` : units;
  } catch (error) {
    return error instanceof RangeError ? error.message : 'is not valid';
  }
}
