import { z } from 'zod';
import { DEPOSIT_STATES, FAILURE_CODES, SIMULATED_OUTCOMES } from '../domain/deposit.ts';
import { PAYMENT_SHARES } from '../domain/payment-link.ts';
import {
  ADDRESS,
  boundedText,
  byCustomer,
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
import { ADDRESS_BSC, HASH, ID, USDT_BSC } from './story.ts';

const settlement = z
  .strictObject({
    transaction_hash: z
      .string()
      .meta({ description: 'The transaction that paid you; one can pay for several deposits.' }),
    destination: z.string().meta({ description: 'Your withdraw address.' }),
    amount: coinAmount.meta({ description: 'What you got for this deposit, in its coin.' }),
    fee_amount: coinAmount.meta({ description: "This deposit's part of all chain fees of that payout." }),
    fee_currency: currency.meta({ description: "The network's own coin." }),
    settled_at: time.meta({ description: 'When the payout was final.' }),
  })
  .meta({ id: 'Settlement' });

export const deposit = z
  .strictObject({
    id: id.meta({
      description: 'The idempotency key: made from mode, network, transaction, address and asset.',
    }),
    customer_id: id.meta({ description: 'Whose address received it.' }),
    external_id: z.string().nullable().meta({ description: 'Your own id of that customer.' }),
    email: z.string().nullable().meta({ description: 'The email of that customer.' }),
    network: network.meta({ description: 'Where it arrived.' }),
    currency: currency.meta({ description: 'What arrived.' }),
    contract_address: z
      .string()
      .nullable()
      .meta({ description: "The token's contract; null for the network's own coin." }),
    amount: coinAmount,
    amount_raw: z.string().regex(/^\d+$/).meta({ description: 'Base units.' }),
    amount_usd: usdAmount.nullable(),
    rate_usd: z.number().nullable().meta({ description: 'USD for one coin, frozen with the deposit.' }),
    rate_source: z
      .string()
      .nullable()
      .meta({ description: 'Where the price came from; it says so when it was an old one.' }),
    rate_at: time.nullable().meta({ description: 'When that price was read.' }),
    address: z.string().meta({ description: 'Where it was sent to.' }),
    from_address: z.string().nullable().meta({ description: 'Who sent it; null where several did.' }),
    transaction_hash: z
      .string()
      .meta({ description: 'The transaction that holds it. One can hold several deposits: id is the key.' }),
    block_number: z.int().meta({ description: 'The block that holds it.' }),
    block_hash: z.string().nullable().meta({ description: 'Null while the block is replaced.' }),
    confirmations: z.int().meta({ description: 'Blocks on top of that block, as last seen.' }),
    required_confirmations: z.int().meta({ description: 'Blocks that it needs, and finality beside them.' }),
    status: z.enum(DEPOSIT_STATES).meta({
      description: 'Credit your customer at completed; settled is paid out to you; failed does not count.',
    }),
    failure_code: z.enum(FAILURE_CODES).nullable().meta({ description: 'Why it failed.' }),
    failure_reason: z.string().nullable().meta({ description: 'The same as a sentence.' }),
    payment_token: z.string().nullable().meta({ description: 'The payment link that this deposit pays.' }),
    settlement: settlement.nullable().meta({ description: 'The payout of it; null until it is settled.' }),
    sequence: z.int().meta({ description: 'Rises with every transition: ignore an event with a lower one.' }),
    is_live: isLive,
    detected_at: time.meta({ description: 'When it was first seen.' }),
    completed_at: time.nullable().meta({ description: 'When it became completed.' }),
    settled_at: time.nullable().meta({ description: 'When it was paid out.' }),
  })
  .meta({ id: 'Deposit' });
/** A deposit as merchants see it, in answers of the API and in the data of events alike. */
export type DepositView = z.output<typeof deposit>;

const HASH_PATTERN = /^(0x)?[0-9a-f]{64}$/;
const MAX_HASH = 66;

const hash = text(MAX_HASH)
  .toLowerCase()
  .regex(HASH_PATTERN, 'must be a transaction hash: 64 hexadecimal digits, on bsc after 0x')
  .meta({
    override: { pattern: '^(0[xX])?[0-9a-fA-F]{64}$' },
  });

export const depositQuery = listQuery({
  status: z.enum(DEPOSIT_STATES).optional().meta({ description: 'Only deposits in this state.' }),
  network: network.optional().meta({ description: 'Only deposits on this network.' }),
  currency: currency.optional().meta({ description: 'Only deposits in this coin.' }),
  customer_id: idText.optional().meta({ description: 'Only deposits of this customer.' }),
  external_id: byCustomer.external_id
    .optional()
    .meta({ description: 'Only deposits of the customer with exactly this external_id.' }),
  email: byCustomer.email
    .optional()
    .meta({ description: 'Only deposits of the customer with exactly this email, in this case.' }),
  address: byCustomer.address
    .optional()
    .meta({ description: 'Only deposits to this address of yours, in any spelling that its network knows.' }),
  transaction_hash: hash.optional().meta({
    description:
      'Only deposits by this transaction; more than one where it paid several customers or assets.',
  }),
  created_from: timeFilter.optional().meta({ description: 'Detected at or after this time.' }),
  created_to: timeFilter.optional().meta({ description: 'Detected at or before this time.' }),
});

/** The amount of a simulation that names none. */
export const SIMULATED_AMOUNT = '10';
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

/** The body of a request for a simulation. */
export const simulationRequest = z.object({
  customer_id: z.string().trim().meta({ description: 'A customer of the test mode.' }),
  network: network.optional().meta({ description: 'bsc when absent.' }),
  currency: currency.optional().meta({ description: 'USDT when absent.' }),
  token: currency.optional().meta({ description: 'An alias of currency.' }),
  amount: amount.optional().meta({ description: `In coins; "${SIMULATED_AMOUNT}" when absent.` }),
  amount_usd: amount.optional().meta({ description: 'An alias of amount for USDT.' }),
  share: z.enum(PAYMENT_SHARES).optional().meta({
    description:
      'Instead of an amount: how much of what the link of `payment_token` still misses. `full` pays it, `half` leaves a rest (rounded down to the smallest unit of the coin), `double` is too much.',
  }),
  transaction_hash: hash
    .nullish()
    .meta({ description: 'The same hash, customer and currency give the same deposit.' }),
  from_address: text(64)
    .meta({ override: { pattern: ADDRESS } })
    .nullish()
    .meta({ description: 'Who paid: an address on the network.' }),
  payment_token: text(64).nullish().meta({
    description: 'The payment link that is paid, of this customer; found by amount and age when absent.',
  }),
  outcome: z
    .enum(SIMULATED_OUTCOMES)
    .optional()
    .meta({ description: 'The state in which the deposit stays; completed when absent.' }),
  events: z
    .enum(['final', 'full'])
    .optional()
    .meta({ description: 'Which states are announced; final when absent.' }),
});

/** As the documents show it. */
export const depositExample: DepositView = {
  id: ID.deposit,
  customer_id: ID.customer,
  external_id: 'user-42',
  email: 'ann@example.com',
  network: 'bsc',
  currency: 'USDT',
  contract_address: USDT_BSC,
  amount: '12.5',
  amount_raw: '12500000000000000000',
  amount_usd: 12.5,
  rate_usd: 1,
  rate_source: 'fixed',
  rate_at: '2026-11-20T09:30:00Z',
  address: ADDRESS_BSC,
  from_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  transaction_hash: HASH,
  block_number: 51234567,
  block_hash: '0x434dfb10f9584740abe50bb219f113ac12037584f5dd4da8937f2c4e3c5fc898',
  confirmations: 15,
  required_confirmations: 15,
  status: 'completed',
  failure_code: null,
  failure_reason: null,
  payment_token: null,
  settlement: null,
  sequence: 3,
  is_live: false,
  detected_at: '2026-11-20T09:29:48Z',
  completed_at: '2026-11-20T09:30:00Z',
  settled_at: null,
};
