import { z } from 'zod';
import { normaliseAddress } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import { findAsset } from '../../domain/assets.ts';
import { DEPOSIT_STATES, FAILURE_CODES } from '../../domain/deposit.ts';
import { parseUnits } from '../../domain/money.ts';
import { SIMULATED_OUTCOMES } from '../../services/deposits/simulate.ts';
import {
  ADDRESS,
  boundedText,
  coinAmount,
  currency,
  id,
  idText,
  isLive,
  listQuery,
  network,
  text,
  time,
  timeFilter,
  usdAmount,
} from './common.ts';

export const deposit = z
  .strictObject({
    id: id.meta({ description: 'The idempotency key: made from mode, network, transaction, address and asset.' }),
    customer_id: id.meta({ description: 'Whose address received it.' }),
    external_id: z.string().nullable().meta({ description: 'Your own id of that customer.' }),
    email: z.string().nullable().meta({ description: 'The email of that customer.' }),
    network: network.meta({ description: 'Where it arrived.' }),
    currency: currency.meta({ description: 'What arrived.' }),
    contract_address: z.string().nullable().meta({ description: "The token's contract; null for the network's own coin." }),
    amount: coinAmount,
    amount_raw: z.string().regex(/^\d+$/).meta({ description: 'Base units.' }),
    amount_usd: usdAmount.nullable(),
    rate_usd: z.number().nullable().meta({ description: 'USD for one coin, frozen with the deposit.' }),
    rate_source: z.string().nullable().meta({ description: 'Where the price came from; it says so when it was an old one.' }),
    rate_at: time.nullable().meta({ description: 'When that price was read.' }),
    address: z.string().meta({ description: 'Where it was sent to.' }),
    from_address: z.string().nullable().meta({ description: 'Who sent it; null where several did.' }),
    transaction_hash: z.string().meta({ description: 'The transaction that holds it. One can hold several deposits: id is the key.' }),
    block_number: z.int().meta({ description: 'The block that holds it.' }),
    block_hash: z.string().nullable().meta({ description: 'Null while the block is replaced.' }),
    confirmations: z.int().meta({ description: 'Blocks on top of that block, as last seen.' }),
    required_confirmations: z.int().meta({ description: 'Blocks that it needs, and finality beside them.' }),
    status: z
      .enum(DEPOSIT_STATES)
      .meta({ description: 'Credit your customer at completed; settled is paid out to you; failed does not count.' }),
    failure_code: z.enum(FAILURE_CODES).nullable().meta({ description: 'Why it failed.' }),
    failure_reason: z.string().nullable().meta({ description: 'The same as a sentence.' }),
    payment_token: z.string().nullable().meta({ description: 'The payment link that this deposit pays.' }),
    settlement: z.null().meta({ description: 'Reserved for payouts.' }),
    sequence: z.int().meta({ description: 'Rises with every transition: ignore an event with a lower one.' }),
    is_live: isLive,
    detected_at: time.meta({ description: 'When it was first seen.' }),
    completed_at: time.nullable().meta({ description: 'When it became completed.' }),
    settled_at: time.nullable().meta({ description: 'When it was paid out.' }),
  })
  .meta({ id: 'Deposit' });

const HASH = /^(0x)?[0-9a-f]{64}$/;
const MAX_HASH = 66;

const hash = text(MAX_HASH)
  .toLowerCase()
  .regex(HASH, 'must be a transaction hash: 64 hexadecimal digits, on bsc after 0x')
  .meta({
    override: { pattern: '^(0[xX])?[0-9a-fA-F]{64}$' },
  });

export const depositQuery = listQuery({
  status: z.enum(DEPOSIT_STATES).optional().meta({ description: 'Only deposits in this state.' }),
  network: network.optional().meta({ description: 'Only deposits on this network.' }),
  currency: currency.optional().meta({ description: 'Only deposits in this coin.' }),
  customer_id: idText.optional().meta({ description: 'Only deposits of this customer.' }),
  transaction_hash: hash
    .optional()
    .meta({ description: 'Only deposits by this transaction; more than one where it paid several customers or assets.' }),
  created_from: timeFilter.optional().meta({ description: 'Detected at or after this time.' }),
  created_to: timeFilter.optional().meta({ description: 'Detected at or before this time.' }),
});

const MAX_AMOUNT = 10n ** 12n;
const DEFAULT_AMOUNT = '10';
const amount = z
  .union([boundedText(100), z.number()], 'must be a decimal string or a number')
  .transform(String)
  .meta({
    override: {
      anyOf: [
        { type: 'number', exclusiveMinimum: 0, maximum: 10 ** 12 },
        { type: 'string', pattern: '^(0|[1-9]\\d{0,12})(\\.\\d{1,18})?$' },
      ],
    },
  });

/** What the simulation takes, with every alias and default resolved. */
export const simulation = z
  .object({
    customer_id: z.string().trim().meta({ description: 'A customer of the test mode.' }),
    network: network.optional().meta({ description: 'bsc when absent.' }),
    currency: currency.optional().meta({ description: 'USDT when absent.' }),
    token: currency.optional().meta({ description: 'An alias of currency.' }),
    amount: amount.optional().meta({ description: `In coins; "${DEFAULT_AMOUNT}" when absent.` }),
    amount_usd: amount.optional().meta({ description: 'An alias of amount for USDT.' }),
    transaction_hash: hash.nullish().meta({ description: 'The same hash, customer and currency give the same deposit.' }),
    from_address: text(64)
      .meta({ override: { pattern: ADDRESS } })
      .nullish()
      .meta({ description: 'Who paid: an address on the network.' }),
    payment_token: text(64)
      .nullish()
      .meta({ description: 'The payment link that is paid, of this customer; found by amount and age when absent.' }),
    outcome: z.enum(SIMULATED_OUTCOMES).optional().meta({ description: 'The state in which the deposit rests; completed when absent.' }),
    events: z.enum(['final', 'full']).optional().meta({ description: 'Which states are announced; final when absent.' }),
  })
  .transform((body, context) => {
    const refuse = (path: string, message: string) => {
      context.addIssue({ code: 'custom', path: [path], message });
      return z.NEVER;
    };
    const chain = body.network ?? 'bsc';
    const coin = body.currency ?? body.token ?? 'USDT';
    if (body.token !== undefined && body.token !== coin) return refuse('token', 'must be the same as currency');
    const asset = findAsset(chain, coin);
    if (!asset) return refuse('currency', `must be one that ${chain} has: ${coin} is not`);
    if (body.amount_usd !== undefined && coin !== 'USDT') return refuse('amount_usd', 'is for USDT only: give amount');
    if (body.amount !== undefined && body.amount_usd !== undefined && body.amount !== body.amount_usd) {
      return refuse('amount_usd', 'must be the same as amount');
    }
    const units = unitsOf(body.amount ?? body.amount_usd ?? DEFAULT_AMOUNT, asset.decimals);
    if (typeof units === 'string')
      return refuse(body.amount === undefined && body.amount_usd !== undefined ? 'amount_usd' : 'amount', units);
    const transactionHash = body.transaction_hash ?? undefined;
    const { hashHasPrefix } = chainOf(chain);
    if (transactionHash !== undefined && transactionHash.startsWith('0x') !== hashHasPrefix) {
      return refuse('transaction_hash', `must ${hashHasPrefix ? '' : 'not '}begin with 0x on ${chain}`);
    }
    const fromAddress = body.from_address ? normaliseAddress(chain, body.from_address) : undefined;
    if (body.from_address && fromAddress === undefined) return refuse('from_address', `must be a ${chain} address`);
    return {
      ...{ customerId: body.customer_id, network: chain, currency: coin, amountUnits: units, transactionHash, fromAddress },
      paymentToken: body.payment_token ?? undefined,
      ...{ outcome: body.outcome ?? ('completed' as const), events: body.events ?? ('final' as const) },
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
