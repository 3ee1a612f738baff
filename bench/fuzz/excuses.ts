/**
 * The name of a failure, a pattern of the operation, the
 * method that was sent and the error, and why it is no fault.
 */
export type Excuse = readonly [failure: string, pattern: string, why: string];

const PAGE = 'GET /login is a page for people, and the description is of the API';

const refused = (pattern: string, why: string): Excuse => [
  'RejectedPositiveData',
  pattern.replace('^', ': '),
  why,
];

/**
 * Well-formed requests that the contract refuses with a 400 for something that a
 * JSON Schema cannot say: rules between parameters, what is in the database, what
 * another standard defines, what the operator sets. Nothing else is left out.
 */
export const EXCUSES: readonly Excuse[] = [
  ['UnsupportedMethodResponse', '^POST /login GET: ', PAGE],
  ['AllowHeaderMismatch', '^POST /login OPTIONS: ', PAGE],
  refused('^VALIDATION_ERROR Give only one of page', 'a page and a cursor together'),
  refused(
    '^VALIDATION_ERROR At least one of external_id and email',
    'one of two query parameters is required',
  ),
  refused('^VALIDATION_ERROR (starting_after|ending_before) ', 'a cursor that is no row of this list'),
  refused('NUL character', 'U+0000, which no text may hold'),
  refused('nested more than', 'JSON deeper than any resource'),
  refused(
    '^VALIDATION_ERROR (The request body contains a number|The query string is not valid)',
    'what is no text or number at all',
  ),
  refused('^VALIDATION_ERROR metadata must be at most', 'metadata by its bytes'),
  refused('^AMOUNT_TOO_SMALL ', 'the minimum is a setting'),
  refused(
    '^VALIDATION_ERROR (amount|amount_usd|token|enabled_events) must be the same',
    'aliases that differ',
  ),
  refused(
    '^VALIDATION_ERROR (amount|amount_usd) must (be an amount such as|be a plain decimal|have at most|be more than 0)',
    'the decimals of a coin',
  ),
  refused('^VALIDATION_ERROR currency must be one that', 'a coin that the network has not'),
  refused('^VALIDATION_ERROR amount_usd is for USDT only', 'dollars of another coin'),
  refused(
    '^VALIDATION_ERROR transaction_hash must (not )?begin with 0x',
    'a hash in the spelling of the other network',
  ),
  refused('^VALIDATION_ERROR (from_address|address) must be a ', 'the checksum of an address'),
  refused('^VALIDATION_ERROR network \\w+ is not watched', 'which networks are watched is a setting'),
  refused('^VALIDATION_ERROR share (stands|is of)', 'a share beside an amount, or of no link'),
  refused('^VALIDATION_ERROR payment_token ', 'the state of a payment link'),
  refused(
    '^VALIDATION_ERROR (success_url|cancel_url) must be an absolute',
    'what the URL standard says of the rest of an address',
  ),
  refused(
    '^VALIDATION_ERROR (This payment link is \\w+ already|A payment of this link)',
    'the state of a payment link',
  ),
  refused(
    '^VALIDATION_ERROR (The webhook endpoint|This delivery) .*(deleted|disabled|on its way)',
    'the state of a delivery',
  ),
  refused('^VALIDATION_ERROR There are 50 webhook endpoints', 'the room of a merchant'),
  refused(
    '^VALIDATION_ERROR The (URL|host)',
    'which addresses may be called, and what the URL standard says of the rest of an address',
  ),
];
