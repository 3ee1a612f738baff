import { z } from 'zod';
import {
  byCustomer,
  currency,
  EMAIL,
  id,
  isLive,
  listQuery,
  MAX_EMAIL,
  NO_EMAIL,
  NO_EMAIL_IN_URL,
  network,
  oneOfMembers,
  text,
  time,
  timeFilter,
  usdAmount,
} from './common.ts';
import { ADDRESS_BSC, ADDRESS_TRON, ID, PAGE_TOKEN, USDT_BSC, USDT_TRON } from './story.ts';

const MAX_EXTERNAL_ID = 255;
const MAX_NAME = 255;
const MAX_METADATA_KEYS = 50;
const MAX_METADATA_BYTES = 16 * 1024;
const MAX_SEARCH = 320;

/** What an erasure writes in the place of an external id: no customer may get such an id before. */
const ERASED = /^erased-[0-9a-f-]{36}$/;

export const emailText = text(MAX_EMAIL)
  .regex(EMAIL, NO_EMAIL)
  .meta({ override: { pattern: EMAIL.source } });

/** PHP prints an empty map as an empty list. */
export const metadata = z
  .preprocess(
    (given) => (Array.isArray(given) && given.length === 0 ? {} : given),
    z.record(z.string(), z.unknown()),
  )
  .refine(
    (value) => Object.keys(value).length <= MAX_METADATA_KEYS,
    `must have at most ${MAX_METADATA_KEYS} keys`,
  )
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
    `must be at most ${MAX_METADATA_BYTES} bytes of JSON`,
  )
  .meta({ override: { type: 'object', additionalProperties: {}, maxProperties: MAX_METADATA_KEYS } });

export const newCustomer = z
  .object({
    external_id: text(MAX_EXTERNAL_ID)
      .refine((value) => !ERASED.test(value), 'must not be the mark of an erased customer')
      .nullish()
      .meta({ description: "The merchant's own user id; unique in the mode.", example: 'user_42' }),
    email: emailText
      .nullish()
      .meta({ description: 'Unique in the mode; case is kept.', example: 'jane@example.com' }),
    name: text(MAX_NAME).nullish().meta({ description: 'For your own eyes.' }),
    metadata: metadata.nullish().meta({ description: 'Anything of yours: at most 50 keys and 16 KiB.' }),
  })
  .refine(
    (body) => Boolean(body.external_id ?? body.email),
    'At least one of external_id and email is required.',
  )
  .meta({
    id: 'NewCustomer',
    override: oneOfMembers({ external_id: { type: 'string' }, email: { type: 'string' } }),
  });

export const address = z
  .strictObject({
    network: network.meta({ description: 'Which network it is on.' }),
    address: z
      .string()
      .meta({ description: 'Permanent. As its network spells it: 0x with mixed case, or base58.' }),
    native_currency: currency.meta({ description: "The network's own coin." }),
    currencies: z
      .array(z.strictObject({ currency, contract_address: z.string().nullable(), decimals: z.int() }))
      .meta({ description: 'What is credited when it arrives there. Nothing else is.' }),
    created_at: time.meta({ description: 'When it was made.' }),
  })
  .meta({ id: 'DepositAddress', description: 'Permanent: it is never revoked and watched for ever.' });
export type AddressView = z.output<typeof address>;

export const customer = z
  .strictObject({
    id: id.meta({ description: 'Our id of the customer.' }),
    external_id: z.string().nullable().meta({ description: 'Your own id, if you gave one.' }),
    email: z.string().nullable().meta({ description: 'As you gave it.' }),
    name: z.string().nullable().meta({ description: 'As you gave it.' }),
    metadata: z.record(z.string(), z.unknown()).meta({ description: 'As you gave it.' }),
    is_live: isLive,
    addresses: z.array(address).meta({ description: 'One for each network.' }),
    deposit_count: z.int().meta({ description: 'Deposits in every state.' }),
    total_deposited_usd: usdAmount.meta({ description: 'The sum of completed and settled deposits.' }),
    created_at: time.meta({ description: 'When the customer was made.' }),
    updated_at: time.meta({ description: 'When the customer last changed.' }),
  })
  .meta({ id: 'Customer' });
export type CustomerView = z.output<typeof customer>;

const pageUrl = `https://pay.shop.example/address/${PAGE_TOKEN}`;

export const addressPageLink = z
  .strictObject({
    customer_id: id.meta({ description: 'Whose page it is.' }),
    token: z
      .string()
      .meta({ description: 'Finds the page; keep it as secret as the page.', example: PAGE_TOKEN }),
    url: z.string().meta({ description: 'The page. Show it to this customer alone.', example: pageUrl }),
  })
  .meta({ id: 'AddressPage' });
export type AddressPageLink = z.output<typeof addressPageLink>;

export const existsQuery = z.object({
  external_id: z
    .string()
    .trim()
    .optional()
    .meta({ description: "The merchant's own user id; looked at first." }),
  email: z
    .string()
    .trim()
    .regex(/^\S*$/, NO_EMAIL_IN_URL)
    .optional()
    .meta({
      description: 'Used when external_id is absent or empty. Case-sensitive. In a URL, + is written %2B.',
      override: { pattern: '^\\S*$' },
    }),
});

export const existsAnswer = z
  .strictObject({
    exists: z.boolean().meta({ description: 'Whether there is such a customer in this mode.' }),
    match: z.enum(['external_id', 'email']).meta({ description: 'The field that was used for the lookup.' }),
    customer: z
      .strictObject({ id, external_id: z.string().nullable(), email: z.string().nullable() })
      .nullable()
      .meta({ description: 'The customer in short; null where there is none.' }),
  })
  .meta({ id: 'CustomerExists' });

export const customerQuery = listQuery({
  email: byCustomer.email.optional().meta({ description: 'Exactly this email, in this case.' }),
  external_id: byCustomer.external_id.optional().meta({ description: 'Exactly this external_id.' }),
  address: byCustomer.address.optional().meta({ description: 'A deposit address on either network.' }),
  search: text(MAX_SEARCH).optional().meta({
    description:
      'Part of external_id, email or name, in any case. Without three letters or digits in a row: among the newest 10,000 customers only.',
  }),
  created_from: timeFilter.optional().meta({ description: 'Made at or after this time.' }),
  created_to: timeFilter.optional().meta({ description: 'Made at or before this time.' }),
});

/** As the documents show it. */
export const customerExample: CustomerView = {
  id: ID.customer,
  external_id: 'user-42',
  email: 'ann@example.com',
  name: 'Ann',
  metadata: { plan: 'gold' },
  is_live: false,
  addresses: [
    {
      network: 'bsc',
      address: ADDRESS_BSC,
      native_currency: 'BNB',
      currencies: [
        { currency: 'BNB', contract_address: null, decimals: 18 },
        { currency: 'USDT', contract_address: USDT_BSC, decimals: 18 },
      ],
      created_at: '2026-11-20T09:00:00Z',
    },
    {
      network: 'tron',
      address: ADDRESS_TRON,
      native_currency: 'TRX',
      currencies: [
        { currency: 'TRX', contract_address: null, decimals: 6 },
        { currency: 'USDT', contract_address: USDT_TRON, decimals: 6 },
      ],
      created_at: '2026-11-20T09:00:00Z',
    },
  ],
  deposit_count: 0,
  total_deposited_usd: 0,
  created_at: '2026-11-20T09:00:00Z',
  updated_at: '2026-11-20T09:00:00Z',
};

/** Where the page with this customer's addresses is. */
export const addressPageExample: AddressPageLink = {
  customer_id: ID.customer,
  token: PAGE_TOKEN,
  url: pageUrl,
};
