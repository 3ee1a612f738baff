import { z } from 'zod';
import { NETWORKS } from '../domain/assets.ts';
import { parseUnits } from '../domain/money.ts';
import { LINK_CURRENCY, LINK_LIMITS } from '../domain/payment-link.ts';
import { webAddress } from '../domain/web-address.ts';
import { boundedText, oneOfMembers, text, WEB_URL } from './common.ts';
import { emailText, metadata } from './customer.ts';

const MAX_URL = 2048;
const MAX_DESCRIPTION = 500;
const MAX_EXTERNAL_ID = 255;

/** At most two decimals, and nothing that could be mistaken for another number. */
const DECIMAL = /^(0|[1-9]\d{0,15})(\.\d{1,2})?$/;
/** For the description: the same up to the largest amount. */
const SPELLED = `^((0|[1-9]\\d{0,${String(LINK_LIMITS.maxUsd).length - 2}})(\\.\\d{1,2})?|${LINK_LIMITS.maxUsd}(\\.00?)?)$`;
/** More than the largest amount has, and fewer than are exact in a float. */
const EXACT_DIGITS = 14;
const MAX_CENTS = BigInt(LINK_LIMITS.maxUsd) * 100n;

/**
 * USD as cents. A JSON number counts by its decimal spelling with at most 14 digits, which is what its writer
 * meant: 5.1 is 510 cents, and so is 5.0999999999999996, the same number from a writer that prints 17 digits.
 * What is beyond these is a float's noise, as in 3.2 + 2.36; 19.999 has it not.
 */
export const usdCents = z
  .union([boundedText(100), z.number()], 'must be a number or a decimal string such as "12.50"')
  .transform((given, context) => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const spelled = typeof given === 'number' ? String(Number(given.toPrecision(EXACT_DIGITS))) : given;
    if (!DECIMAL.test(spelled)) return refuse('must be an amount such as 12.50, with at most 2 decimals');
    const cents = parseUnits(spelled, 2);
    return cents > MAX_CENTS ? refuse(`must be at most ${LINK_LIMITS.maxUsd}`) : cents;
  })
  .meta({
    override: {
      anyOf: [
        { type: 'number', minimum: 0, maximum: LINK_LIMITS.maxUsd },
        { type: 'string', pattern: SPELLED },
      ],
    },
    example: 25.5,
  });

/** An absolute address on the web. Only such a link is ever shown to a payer. */
const webUrl = text(MAX_URL)
  .refine((value) => webAddress(value) !== undefined, 'must be an absolute http or https URL')
  .meta({ override: { pattern: WEB_URL } });

const LIMITS_TEXT = `from ${LINK_LIMITS.minExpiresInSeconds} to ${LINK_LIMITS.maxExpiresInSeconds}`;
const expiresIn = z
  .number()
  .refine(
    (value) =>
      Number.isInteger(value) &&
      value >= LINK_LIMITS.minExpiresInSeconds &&
      value <= LINK_LIMITS.maxExpiresInSeconds,
    `must be a whole number ${LIMITS_TEXT}`,
  )
  .meta({
    override: {
      type: 'integer',
      minimum: LINK_LIMITS.minExpiresInSeconds,
      maximum: LINK_LIMITS.maxExpiresInSeconds,
    },
    description: `Seconds; ${LINK_LIMITS.defaultExpiresInSeconds} when absent.`,
  });

const AMOUNT = { type: ['number', 'string'] };

/** What a new link takes, with aliases resolved. */
export const newPaymentLink = z
  .object({
    email: emailText
      .nullish()
      .meta({ description: 'The customer by email; made when there is none.', example: 'jane@example.com' }),
    customer_id: z.string().trim().nullish().meta({ description: 'The customer by id. Give this or email.' }),
    amount_usd: usdCents.nullish().meta({
      description: 'Required, here or as amount. A number or a decimal string, at most 2 decimals.',
    }),
    amount: usdCents.nullish().meta({ description: 'An alias of amount_usd.' }),
    description: text(MAX_DESCRIPTION)
      .nullish()
      .meta({ description: 'Shown to the payer.', example: 'Order 1001' }),
    external_id: text(MAX_EXTERNAL_ID)
      .nullish()
      .meta({ description: 'Your own reference, an order number say. Need not be unique.' }),
    metadata: metadata
      .nullish()
      .meta({ description: 'Anything of yours: at most 50 keys and 16 KiB. Never shown to the payer.' }),
    success_url: webUrl.nullish().meta({ description: 'Where the payer goes on after the payment.' }),
    cancel_url: webUrl.nullish().meta({ description: 'Where the payer goes instead of paying.' }),
    webhook_url: text(MAX_URL)
      .meta({ override: { pattern: WEB_URL } })
      .nullish()
      .meta({ description: 'Gets `payment.completed` of this link: https, and a public host.' }),
    expires_in: expiresIn.nullish(),
    currency: z.literal(LINK_CURRENCY).nullish().meta({ description: 'Narrows the ways to pay.' }),
    network: z.enum(NETWORKS).nullish().meta({ description: 'Narrows the ways to pay.' }),
  })
  .transform((body, context) => {
    const amountCents = body.amount_usd ?? body.amount ?? undefined;
    const customerId = body.customer_id || undefined;
    const email = body.email ?? undefined;
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (amountCents === undefined) refuse('amount_usd', 'is required');
    if (body.amount !== undefined && body.amount !== null && body.amount !== amountCents)
      refuse('amount', 'must be the same as amount_usd');
    if (!customerId && !email) refuse('email', 'or customer_id is required');
    return { ...body, amountCents: amountCents ?? 0n, customerId, email };
  })
  .meta({
    id: 'PaymentLinkRequest',
    override: {
      allOf: [
        oneOfMembers({ amount_usd: AMOUNT, amount: AMOUNT }),
        oneOfMembers({ email: { type: 'string' }, customer_id: { type: 'string', pattern: '\\S' } }),
      ],
    },
  });
