import { normaliseAddress } from '../../chains/addresses.ts';
import { PRICE_CHAINS } from '../../chains/index.ts';
import { MAX_TOLERANCE_PERCENT } from '../../domain/payment-link.ts';
import { pemFile } from '../key-parsers.ts';
import * as parse from '../parsers.ts';
import { variable } from '../variable.ts';

const PRICE_CHAIN_NAMES = PRICE_CHAINS.map(({ name }) => name).join(', ');

function feedAddress({ network, addresses }: (typeof PRICE_CHAINS)[number]): parse.AddressForm {
  return { form: addresses.form, normalise: (address) => normaliseAddress(network, address) };
}

/** Money, prices, webhooks and limits. */
export const MONEY_VARIABLES = {
  MIN_PAYMENT_USD: variable({
    group: 'money',
    parser: parse.decimal(2, '0.01', '1000000'),
    default: '5.00',
    example: '5.00',
    about: 'Smallest amount of a payment link.',
  }),
  PAYMENT_TOLERANCE_PERCENT: variable({
    group: 'money',
    parser: parse.decimal(2, '0', `${MAX_TOLERANCE_PERCENT}`),
    default: '0.5',
    example: '0.5',
    about: 'A payment link that is underpaid by at most this much counts as paid.',
  }),
  MIN_DEPOSIT: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    example: 'USDT.bsc=1,USDT.tron=1',
    about:
      'Deposits below the amount for their asset fail with BELOW_MINIMUM. Unset: every amount is credited.',
  }),
  DUST_FLOOR: variable({
    group: 'money',
    parser: parse.amountsByCurrency,
    default: 'USDT=0.001,BNB=0.000001,TRX=0.01',
    example: 'USDT=0.001,BNB=0.000001,TRX=0.01',
    about:
      'What is below is no deposit: it is listed by "deposit list --unrecognised" with the reason "dust" and can be claimed. none: no amount is too small.',
  }),
  SETTLE_MIN: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    default: 'USDT.bsc=1,BNB=0.002,USDT.tron=20,TRX=20',
    example: 'USDT.bsc=1,BNB=0.002,USDT.tron=20,TRX=20',
    about: 'What an address has to hold of an asset in completed deposits before it is paid out.',
  }),
  SETTLE_EVERY: variable({
    group: 'money',
    parser: parse.durationOrNone('1s', '7d'),
    example: '10m',
    about:
      'An asset of an address is paid out at most once in this time: who pays small sums to an address of its own again and again would use up the gas wallet. A hundred times SETTLE_MIN and more goes at once; 0: everything does. Unset: 10m in production, 0 outside.',
  }),
  SETTLE_MAX_FEE_PERCENT: variable({
    group: 'money',
    parser: parse.decimal(2, '0.01', '100'),
    default: '5',
    example: '5',
    about: 'A payout waits while its chain fees would exceed this share of its amount.',
  }),
  WITHDRAW_CHANGE_DELAY: variable({
    group: 'money',
    parser: parse.durationOrNone('1s', '30d'),
    default: '24h',
    example: '24h',
    about:
      'How long after it was asked for a withdraw address counts that a signed-in user changes; until then every user of the merchant sees it and can cancel it. Not below 1h in production; 0 (at once) only outside. SIGN_NEW_DESTINATION_AFTER begins when it counts. What "merchant set" sets counts at once.',
  }),
  SIGN_MAX_PER_HOUR: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    example: 'USDT.bsc=10000,BNB=5',
    about:
      'The most that the signer signs away of an asset within any hour, top-ups included; more waits. Unset: no limit.',
  }),
  SIGN_MAX_PER_DAY: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    example: 'USDT.bsc=50000,BNB=20',
    about: 'The same within any 24 hours.',
  }),
  SIGN_MAX_PER_HOUR_MERCHANT: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    example: 'USDT.bsc=5000',
    about:
      "How much of SIGN_MAX_PER_HOUR may be one merchant's, so that none uses up what all share. Unset for an asset: a third of it. What is more than a limit ever allows is paid in parts.",
  }),
  SIGN_MAX_PER_DAY_MERCHANT: variable({
    group: 'money',
    parser: parse.amountsByAsset,
    example: 'USDT.bsc=25000',
    about: 'The same of SIGN_MAX_PER_DAY.',
  }),
  PRICE_SOURCE: variable({
    group: 'prices',
    parser: parse.priceSource,
    default: 'chainlink',
    example: 'fixed:BNB=600,TRX=0.3,USDT=1',
    about: `chainlink reads price feeds on the first of these chains that is watched: ${PRICE_CHAIN_NAMES}; fixed:… is for development. Outside production, while no chain is watched, the default is fixed:BNB=600,TRX=0.3,USDT=1, so that deposits of every coin can be simulated.`,
  }),
  PRICE_FEEDS: variable({
    group: 'prices',
    parser: parse.priceFeeds(PRICE_CHAINS.map(feedAddress)),
    example: 'BNB=0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE',
    about:
      'Other addresses for single feeds (USD, aggregator interface), on the chain that PRICE_SOURCE reads and in its spelling. Unset: the feeds of its mainnet.',
  }),
  PRICE_MAX_AGE: variable({
    group: 'prices',
    parser: parse.duration('10s', '7d'),
    default: '25h',
    example: '25h',
    about:
      'From this age on an answer of a feed is marked as stale. It can only shorten the limits that fit the rhythm of each feed (USDT reports as rarely as once a day).',
  }),
  WEBHOOK_MAX_ATTEMPTS: variable({
    group: 'webhooks',
    parser: parse.wholeNumber(1, 6),
    default: '5',
    example: '5',
    about: 'Attempts of one delivery, with gaps of 1 s, 5 s, 15 s, 1 min (and 5 min before a sixth).',
  }),
  WEBHOOK_RETENTION: variable({
    group: 'webhooks',
    parser: parse.duration('7d', '3650d'),
    default: '90d',
    example: '90d',
    about:
      'For how long a finished delivery and the answers to its attempts are kept and can be resent. Events and the ledger stay. A month can be detached only when it is older than this.',
  }),
  WEBHOOK_ALLOWED_CIDRS: variable({
    group: 'webhooks',
    parser: parse.cidrs,
    example: '10.1.2.0/24',
    about:
      'Exception: private networks that webhooks may reach. Every merchant can then make this service call them.',
  }),
  WEBHOOK_DENIED_CIDRS: variable({
    group: 'webhooks',
    parser: parse.cidrs,
    example: '203.0.113.10,2001:db8:5::/48',
    about:
      'Networks that no webhook may reach, also where WEBHOOK_ALLOWED_CIDRS opens them: name the public addresses of your own machines.',
  }),
  WEBHOOK_ALLOWED_PORTS: variable({
    group: 'webhooks',
    parser: parse.ports,
    example: '88,465',
    about:
      'Exception: ports of receivers beside 80, 443 and those from 1024 up. In networks that WEBHOOK_ALLOWED_CIDRS opens every port is open.',
  }),
  WEBHOOK_ALLOW_HTTP: variable({
    group: 'webhooks',
    parser: parse.flag,
    default: 'false',
    example: 'false',
    about: 'Exception: also deliver to http URLs, in the clear.',
  }),
  WEBHOOK_CA_FILE: variable({
    group: 'webhooks',
    parser: pemFile,
    example: '/etc/gateway/ca.pem',
    about: 'Exception: PEM certificates of authorities that are trusted beside the usual ones.',
  }),
  RATE_LIMIT_PER_SECOND: variable({
    group: 'limits',
    parser: parse.wholeNumber(1, 100_000),
    default: '100',
    example: '100',
    about: 'Requests a second that one API key may make over time.',
  }),
  RATE_LIMIT_BURST: variable({
    group: 'limits',
    parser: parse.wholeNumber(1, 1_000_000),
    default: '200',
    example: '200',
    about: 'Requests that one API key may make at once; not below RATE_LIMIT_PER_SECOND.',
  }),
  RATE_LIMIT_BAD_CREDENTIALS: variable({
    group: 'limits',
    parser: parse.wholeNumber(1, 100_000),
    default: '20',
    example: '20',
    about: 'Bad credentials a minute from one client address before it gets 429.',
  }),
  RATE_LIMIT_TESTS_PER_SECOND: variable({
    group: 'limits',
    parser: parse.wholeNumber(1, 100_000),
    default: '5',
    example: '5',
    about:
      'Simulated deposits and test webhooks a second that one merchant may ask for over time, ten times as many at once; one endpoint a fifth.',
  }),
} as const;
