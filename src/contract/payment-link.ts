import { z } from 'zod';
import { AMOUNT_STATUSES, LINK_CURRENCY, LINK_STATUSES } from '../domain/payment-link.ts';
import {
  coinAmount,
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
import { linkTransaction, paidExample } from './payment-transaction.ts';
import { ADDRESS_BSC, ID, LINK_HASH, TOKEN, USDT_BSC } from './story.ts';

const MAX_SEARCH = 320;
const MAX_EXTERNAL_ID = 255;

const status = z.enum(LINK_STATUSES).meta({
  description:
    'pending: nothing seen yet. processing: seen, not confirmed. partially_paid: confirmed, and less than asked for. completed, expired and cancelled are final.',
});
const amountStatus = z.enum(AMOUNT_STATUSES).meta({
  description:
    'How the confirmed money compares with the amount; late: money arrived after the link had ended.',
});

const linkMembers = {
  id: id.meta({ description: 'The id of the link.' }),
  token: z.string().meta({
    description: 'Unguessable; part of the page’s address.',
    example: 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ',
  }),
  url: z.string().meta({
    description: 'The page for the payer.',
    example: 'https://pay.shop.example/pay/pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ',
  }),
  status,
  amount_status: amountStatus,
  amount_usd: usdAmount.meta({ description: 'What is asked for.' }),
  currency: z
    .literal(LINK_CURRENCY)
    .meta({ description: 'What the link is paid in: one coin for one dollar, fixed when the link is made.' }),
  paid_amount_usd: usdAmount.meta({ description: 'Confirmed payments.' }),
  remaining_amount_usd: usdAmount.meta({ description: 'What is missing; 0 once the link is paid.' }),
  overpaid_amount_usd: usdAmount.meta({ description: 'What was paid beyond the amount.' }),
  description: z.string().nullable().meta({ description: 'Shown to the payer.' }),
  external_id: z
    .string()
    .nullable()
    .meta({ description: "The merchant's own reference, an order number say." }),
  metadata: z
    .record(z.string(), z.unknown())
    .meta({ description: 'As you gave it. Never shown to the payer.' }),
  success_url: z.string().nullable().meta({ description: 'Where the payer goes on after the payment.' }),
  cancel_url: z.string().nullable().meta({ description: 'Where the payer goes instead of paying.' }),
  customer_id: id.meta({ description: 'Who pays.' }),
  email: z.string().nullable().meta({ description: 'The email of that customer.' }),
  webhook_url: z
    .string()
    .nullable()
    .meta({ description: 'Where payment.completed of this link is sent, beside the subscribed endpoints.' }),
  paid_network: network.nullable().meta({ description: 'Where the payment that completed it was made.' }),
  paid_currency: z.literal(LINK_CURRENCY).nullable().meta({ description: 'In which coin.' }),
  transaction_hash: z.string().nullable().meta({ description: 'The transaction that completed the link.' }),
  transactions: z
    .array(linkTransaction)
    .meta({ description: 'What has paid it so far, and what was sent for it and failed.' }),
  sequence: z.int().meta({
    description: 'How many events have told of it. Ignore an event with a lower one than you have seen.',
  }),
  expires_at: time.meta({ description: 'Until when it can be paid.' }),
  created_at: time.meta({ description: 'When it was made.' }),
  completed_at: time.nullable().meta({ description: 'When it was paid.' }),
  is_live: isLive,
};

/** A payment link as its merchant sees it, and as its events carry it. */
export const paymentLink = z.strictObject(linkMembers).meta({ id: 'PaymentLink' });

/** What `payment.late` carries: the link, and the money that came too late for it. */
export const lateLink = z
  .strictObject({
    ...linkMembers,
    late_payment: z
      .strictObject({
        deposit_id: id.meta({ description: 'The deposit; its own events tell what becomes of it.' }),
        transaction_hash: z.string().meta({ description: 'The transaction.' }),
        network: network.meta({ description: 'Where it is.' }),
        amount: coinAmount.meta({ description: 'What came, in coins.' }),
      })
      .meta({
        description: 'The money that came too late. It is a deposit of its own, and not in transactions.',
      }),
  })
  .meta({ id: 'LatePaymentLink' });
export type PaymentLinkView = z.output<typeof paymentLink>;

export const newPaymentLinkAnswer = z
  .strictObject({
    ...linkMembers,
    webhook_secret: z.string().meta({
      description:
        'Signs what is sent to webhook_url. Shown here and never again; without a webhook_url there is nothing to sign.',
    }),
  })
  .meta({ id: 'NewPaymentLink' });

export const method = z
  .strictObject({
    network: network.meta({ description: 'Where to pay.' }),
    currency: z.literal(LINK_CURRENCY).meta({ description: 'In which coin.' }),
    contract_address: z.string().meta({ description: "The coin's contract." }),
    decimals: z.int().meta({ description: 'Decimals of the coin on this network.' }),
    address: z.string().meta({ description: 'Where to send it.' }),
    amount: coinAmount.meta({ description: 'What is left to send, in coins.' }),
    least_amount: coinAmount.meta({
      description: 'From this on the link counts as paid: the amount less what is tolerated.',
    }),
    payment_uri: z.string().meta({ description: 'For a QR code or a wallet.' }),
    required_confirmations: z.int().meta({ description: 'Blocks that a payment needs.' }),
  })
  .meta({ id: 'PaymentMethod' });
export type PaymentMethodView = z.output<typeof method>;

/** What everybody who holds the token may see. */
export const publicPayment = z
  .strictObject({
    token: z.string().meta({ description: 'The token of the link.' }),
    status,
    amount_status: amountStatus,
    amount_usd: usdAmount.meta({ description: 'What is asked for.' }),
    currency: linkMembers.currency,
    description: z.string().nullable().meta({ description: 'What it is for.' }),
    merchant: z
      .strictObject({ name: z.string().meta({ description: 'As the payer sees it.' }) })
      .meta({ description: 'Who asks for it.' }),
    is_live: isLive,
    expires_at: time.meta({ description: 'Until when it can be paid.' }),
    server_time: time.meta({
      description: 'Our clock, for a countdown that does not depend on the browser’s.',
    }),
    methods: z.array(method).meta({
      description:
        'Ways to pay: in live mode on the networks that this gateway watches. Empty once the link has ended, and where none is watched.',
    }),
    transactions: z
      .array(linkTransaction)
      .meta({ description: 'What has paid it so far, and what was sent for it and failed.' }),
    late_transactions: z.array(linkTransaction).meta({
      description:
        'What was confirmed after it had ended, the first twenty: none of it pays it. It is `failed` where its block was replaced since.',
    }),
    paid_network: network.nullable().meta({ description: 'Where the payment that completed it was made.' }),
    transaction_hash: z.string().nullable().meta({ description: 'The transaction that completed it.' }),
    completed_at: time.nullable().meta({ description: 'When it was paid.' }),
    success_url: z.string().nullable().meta({ description: 'Where to go on after the payment.' }),
    cancel_url: z.string().nullable().meta({ description: 'Where to go instead of paying.' }),
  })
  .meta({ id: 'PublicPayment' });
export type PublicPaymentView = z.output<typeof publicPayment>;

export const tokenParams = z.object({
  token: z
    .string()
    .meta({ description: 'The token of the link.', example: 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ' }),
});

/** The body of a request to let a test link expire. */
export const expiryRequest = z
  .object({
    token: text(64).meta({
      description: 'The token of a payment link of the test mode.',
      example: 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ',
    }),
  })
  .meta({ id: 'Expiry' });

export const paymentLinkQuery = listQuery({
  status: z.enum(LINK_STATUSES).optional().meta({ description: 'Only links in this state.' }),
  customer_id: idText.optional().meta({ description: 'Only links of this customer.' }),
  external_id: text(MAX_EXTERNAL_ID).optional().meta({
    description: 'Only links with exactly this external_id; more than one where it was used again.',
  }),
  search: text(MAX_SEARCH).optional().meta({
    description:
      'Part of the description, external_id, email or token, in any case. Without three letters or digits in a row: among the newest 10,000 links only.',
  }),
  created_from: timeFilter.optional().meta({ description: 'Made at or after this time.' }),
  created_to: timeFilter.optional().meta({ description: 'Made at or before this time.' }),
});

export type PaymentLinkFilters = z.output<typeof paymentLinkQuery>;

/** As the documents show it, new. */
export const linkExample: PaymentLinkView = {
  id: ID.link,
  token: TOKEN,
  url: `https://pay.shop.example/pay/${TOKEN}`,
  status: 'pending',
  amount_status: 'none',
  amount_usd: 25.5,
  currency: 'USDT',
  paid_amount_usd: 0,
  remaining_amount_usd: 25.5,
  overpaid_amount_usd: 0,
  description: 'Order 1001',
  external_id: '1001',
  metadata: {},
  success_url: 'https://shop.example/orders/1001',
  cancel_url: null,
  customer_id: ID.customer,
  email: 'ann@example.com',
  webhook_url: 'https://shop.example/webhooks/1001',
  paid_network: null,
  paid_currency: null,
  transaction_hash: null,
  transactions: [],
  sequence: 0,
  expires_at: '2026-11-20T11:00:00Z',
  created_at: '2026-11-20T10:00:00Z',
  completed_at: null,
  is_live: false,
};

/** The same, paid. */
export const paidLinkExample: PaymentLinkView = {
  ...linkExample,
  status: 'completed',
  amount_status: 'exact',
  paid_amount_usd: 25.5,
  remaining_amount_usd: 0,
  paid_network: 'bsc',
  paid_currency: 'USDT',
  transaction_hash: LINK_HASH,
  sequence: 1,
  completed_at: '2026-11-20T10:12:00Z',
  transactions: [{ ...paidExample, amount: '25.5' }],
};

/** The same, paid in part. */
export const partialLinkExample: PaymentLinkView = {
  ...linkExample,
  status: 'partially_paid',
  amount_status: 'underpaid',
  paid_amount_usd: 10,
  remaining_amount_usd: 15.5,
  sequence: 1,
  transactions: [{ ...paidExample, amount: '10' }],
};

/** What its payer sees. */
export const publicPaymentExample: PublicPaymentView = {
  token: TOKEN,
  status: 'pending',
  amount_status: 'none',
  amount_usd: 25.5,
  currency: 'USDT',
  description: 'Order 1001',
  merchant: { name: 'My shop' },
  is_live: false,
  expires_at: '2026-11-20T11:00:00Z',
  server_time: '2026-11-20T10:01:00Z',
  methods: [
    {
      network: 'bsc',
      currency: 'USDT',
      contract_address: USDT_BSC,
      decimals: 18,
      address: ADDRESS_BSC,
      amount: '25.5',
      least_amount: '25.3725',
      payment_uri: `ethereum:${USDT_BSC}@56/transfer?address=${ADDRESS_BSC}&uint256=25500000000000000000`,
      required_confirmations: 15,
    },
  ],
  transactions: [],
  late_transactions: [],
  paid_network: null,
  transaction_hash: null,
  completed_at: null,
  success_url: 'https://shop.example/orders/1001',
  cancel_url: null,
};
