import { z } from 'zod';
import 'zod-openapi';
import { CURRENCIES, NETWORKS } from '../domain/assets.ts';
import { isUuid } from '../domain/ids.ts';

/** The parts of answers. */
export const id = z.uuid().meta({ example: '0b9f6a52-8a3c-4d0e-9a55-3f1f6f1f0a11' });
export const time = z.iso
  .datetime({ precision: 0 })
  .meta({ description: 'UTC, whole seconds.', example: '2026-11-20T09:30:00Z' });
export const network = z.enum(NETWORKS);
export const currency = z.enum(CURRENCIES);
export const coinAmount = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .meta({ description: 'A decimal string, never a float.', example: '12.5' });
export const usdAmount = z.number().meta({ description: 'USD with at most two decimals.', example: 12.5 });

export const isLive = z
  .boolean()
  .meta({ description: 'True for live data, false for those of the test mode.' });

/**
 * The parts of requests: trimmed text of at most this many characters. A longer text is
 * refused before any pattern or rule examines it.
 */
export const boundedText = (maxLength: number) => z.string().trim().max(maxLength, { abort: true });

/** The same, but not empty. */
export const text = (maxLength: number) =>
  boundedText(maxLength)
    .min(1)
    .meta({ override: { pattern: '\\S' } });

/** For the description: an address on either network; whether it is one is decided by its checksum. */
export const ADDRESS = '^(0x[0-9a-fA-F]{40}|T[1-9A-HJ-NP-Za-km-z]{33})$';

/**
 * Some text, one @, and text with a dot inside; the first such dot decides, so
 * that a text can be read in one way only.
 */
export const EMAIL = /^[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+$/;
export const MAX_EMAIL = 320;
export const NO_EMAIL = 'must be an email address';
/** A + that is not escaped arrives as a space, and would find nobody. */
export const NO_EMAIL_IN_URL = `${NO_EMAIL}: in a URL, write + as %2B`;

/**
 * Filters by what a customer is known by. Lists of customers and of what is theirs compare them in the same
 * way. An empty one is refused: a variable that is empty by mistake would otherwise list everything.
 */
export const byCustomer = {
  external_id: text(255),
  email: text(MAX_EMAIL)
    .regex(EMAIL, NO_EMAIL_IN_URL)
    .meta({ override: { pattern: EMAIL.source } }),
  address: text(320).meta({ override: { pattern: ADDRESS } }),
};

/**
 * For the description: an address on the web. No format "uri": names and paths in any
 * script are accepted, as browsers accept them.
 */
export const WEB_URL = '^https?://\\S+$';

/** For the description: a body in which at least one of these members has a value of a type. */
export const oneOfMembers = (members: Readonly<Record<string, object>>) => ({
  anyOf: Object.entries(members).map(([name, schema]) => ({
    required: [name],
    properties: { [name]: schema },
  })),
});

/** A filter by one of our ids. */
export const idText = z
  .string()
  .refine(isUuid, 'must be an id')
  .meta({ override: { format: 'uuid' } });

export const idParams = z.object({ id: id.meta({ description: 'The id of the resource.' }) });

const EARLIEST_YEAR = 1970;
const LATEST_YEAR = 9999;

/**
 * A time in a query: ISO-8601 with a zone. Bounded, because JavaScript knows dates that PostgreSQL does not.
 */
export const timeFilter = z
  .string()
  .refine((value) => parseTime(value) !== undefined, 'must be an ISO-8601 time such as 2026-11-20T09:30:00Z')
  .transform((value) => parseTime(value))
  .meta({ override: { type: 'string', format: 'date-time', pattern: '^(19[7-9]\\d|[2-9]\\d{3})-' } });

function parseTime(value: string): Date | undefined {
  const parsed = z.iso.datetime({ offset: true }).safeParse(value);
  if (!parsed.success) return undefined;
  const date = new Date(value);
  const year = date.getUTCFullYear();
  return year >= EARLIEST_YEAR && year <= LATEST_YEAR ? date : undefined;
}

/** A whole number in a query, from 1. */
function wholeNumber(max: number) {
  return z
    .string()
    .refine(
      (value) => /^[1-9]\d{0,8}$/.test(value) && Number(value) <= max,
      `must be a whole number from 1 to ${max}`,
    )
    .transform(Number)
    .meta({ override: { type: 'integer', minimum: 1, maximum: max } });
}

/** Rows of a page where the query does not say how many. */
export const DEFAULT_LIMIT = 25;
/** The most rows of one page. */
export const MAX_LIMIT = 100;
const MAX_PAGE = 1_000_000;

/** The members of every list's query. */
const pageQuery = {
  limit: wholeNumber(MAX_LIMIT)
    .optional()
    .meta({ description: `Rows of one page; ${DEFAULT_LIMIT} when absent.` }),
  page: wholeNumber(MAX_PAGE)
    .optional()
    .meta({ description: 'From 1. Shifts while rows arrive: walk with starting_after instead.' }),
  starting_after: idText.optional().meta({ description: 'The id of a row: the page of older ones.' }),
  ending_before: idText.optional().meta({ description: 'The id of a row: the page of newer ones.' }),
};

/** A list's query with its filters. */
export function listQuery<F extends z.core.$ZodLooseShape>(filters: F) {
  return z
    .object({ ...pageQuery, ...filters })
    .refine(
      (query) => hasOnePlace(query as PageMembers),
      'Give only one of page, starting_after and ending_before.',
    );
}

/** The place of a page in its list, as a query names it. */
export type PageMembers = {
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
  readonly starting_after?: string | undefined;
  readonly ending_before?: string | undefined;
};

function hasOnePlace(query: PageMembers): boolean {
  return (
    [query.page, query.starting_after, query.ending_before].filter((value) => value !== undefined).length <= 1
  );
}

/** The schema of a list's body. */
export function listOf<S extends z.ZodType>(item: S) {
  return z.strictObject({
    data: z.array(item),
    has_more: z.boolean(),
    pagination: z.strictObject({
      page: z.int().nullable().meta({ description: 'Null when a cursor was given.' }),
      limit: z.int(),
      total: z.int(),
      total_is_at_least: z.literal(true).optional().meta({
        description: 'There where `total` is only what was counted: of a filtered list, up to 10,000.',
      }),
      total_pages: z.int(),
    }),
  });
}

/** The example of a list: one page that holds everything. */
export function exampleList(...data: readonly object[]) {
  return { data, has_more: false, pagination: { page: 1, limit: 25, total: data.length, total_pages: 1 } };
}
