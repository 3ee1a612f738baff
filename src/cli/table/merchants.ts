// Merchants, their customers, keys and people.
import { CHAIN_NAMES } from '../../chains/names.ts';
import { NETWORKS } from '../../domain/assets.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../domain/events.ts';
import { KEY_SCOPES } from '../../domain/key-scope.ts';
import { LINK_STATUSES } from '../../domain/payment-link.ts';
import { dollarsOrNone, oneOf, scopes, text } from '../arguments.ts';
import { duration, end, time } from '../follow/options.ts';
import {
  BSC,
  BY,
  DECISION,
  type Definition,
  ID,
  LIMIT,
  MERCHANT,
  MODE,
  OF_MERCHANT,
  type OptionGiven,
  SAID,
  WHY,
} from './definition.ts';

const DAY_MS = 86_400_000;
const LISTED = ['customers', 'payments', 'endpoints', 'events', 'users', 'quotas'] as const;
const EMAIL: OptionGiven = ['--email <email>', 'what the person signs in with', text(320)];
const ALLOW_CONTRACT: OptionGiven = ['--allow-contract', 'let a withdraw address be a contract'];
const SETTINGS: readonly OptionGiven[] = [
  ...NETWORKS.map(
    (network): OptionGiven => [
      `--withdraw-${network} <address>`,
      `where payouts on ${CHAIN_NAMES[network]} go`,
      text(100),
    ],
  ),
  ALLOW_CONTRACT,
  ['--monthly-limit-usd <amount>', 'most that is credited in a month', dollarsOrNone],
  BY,
];
const merchants = async () => (await import('../commands/merchants.ts')).MERCHANTS;
const keys = async () => (await import('../commands/keys.ts')).KEYS;
const users = async () => (await import('../commands/users.ts')).USERS;

export const MERCHANTS: readonly Definition[] = [
  {
    name: 'list',
    about:
      "lists every merchant's rows of a kind, newest first; what has an email, an address or an id: find",
    takes: [['<what>', LISTED.join(', '), oneOf(...LISTED)]],
    options: [
      OF_MERCHANT,
      LIMIT,
      ['--mode <mode>', 'customers and endpoints of this mode', oneOf('live', 'test')],
      ['--customer <id>', 'payments of this customer'],
      ['--status <status>', 'payments in this status', oneOf(...LINK_STATUSES)],
      ['--disabled', 'endpoints to which nothing is sent'],
      ['--about <id>', 'events about this deposit, customer, payment link or endpoint'],
      ['--type <event>', 'events of this kind', oneOf(...EVENT_TYPES, TEST_EVENT)],
    ],
    examples: [
      `customers --merchant ${ID}`,
      `payments --merchant ${ID} --status partially_paid`,
      'endpoints --disabled',
      `events --about ${ID}`,
    ],
    work: async () => (await import('../commands/lookup/list.ts')).list,
  },
  {
    name: 'merchant create',
    about: 'makes a merchant with a live and a test key, which are shown this once',
    needs: [['--name <name>', 'what customers see']],
    options: [...SETTINGS, ['--no-subscription', 'leave the API closed until "subscription set" opens it']],
    examples: ["--name 'My shop'", `--name 'My shop' --withdraw-bsc ${BSC}`],
    work: async () => (await merchants()).create,
  },
  {
    name: 'merchant set <id>',
    about: 'changes what is given; "none" takes a value away',
    options: [
      ['--name <name>', 'what customers see'],
      ...SETTINGS,
      ['--pause-payouts <bool>', 'as "payout pause" and "payout resume"', oneOf('true', 'false')],
      [
        '--quota <quotas>',
        'how much it may have at most, as MODE.NAME=NUMBER with commas between; NAME is customers, endpoints, events_per_day (money that arrives is never refused) or open_links',
      ],
    ],
    examples: [
      `${ID} --withdraw-bsc ${BSC}`,
      `${ID} --monthly-limit-usd 250000`,
      `${ID} --quota live.events_per_day=100000,test.customers=none`,
    ],
    work: async () => (await merchants()).change,
  },
  {
    name: 'merchant list',
    about: 'lists all merchants, oldest first',
    work: async () => (await merchants()).list,
  },
  {
    name: 'merchant changes',
    about:
      'lists withdraw addresses that users of merchants changed and that do not count yet, or takes one back',
    options: [OF_MERCHANT, ['--cancel <id>', 'the change that is taken back before it counts'], BY, WHY],
    examples: ['', `--cancel ${ID} --by "$USER" --reason 'the merchant did not ask for it'`],
    work: async () => (await import('../commands/withdraw-changes.ts')).changes,
  },
  {
    name: 'subscription set',
    about: 'opens or closes the API for a merchant; watching and crediting never depend on it',
    takes: [
      ['<merchant>', 'merchant id'],
      ['<state>', 'active or inactive', oneOf('active', 'inactive')],
    ],
    options: [['--until <time>', 'when an active one ends', time], BY],
    examples: [`${ID} active --until 2099-12-31`, `${ID} inactive`],
    work: async () => (await merchants()).setState,
  },
  {
    name: 'customer erase <id>',
    about: 'takes email, name, metadata and external id out of every row; money and addresses stay. For good',
    needs: DECISION,
    examples: [`${ID} ${SAID}`],
    work: async () => (await merchants()).erase,
  },
  {
    name: 'key create',
    about: 'makes a key, which is shown this once',
    needs: [MERCHANT, MODE],
    options: [
      ['--label <text>', 'what it is for', text(200)],
      [
        '--scope <scopes>',
        `what it may do: ${KEY_SCOPES.join(', ')}; several with commas (default: all)`,
        scopes,
      ],
      ['--expires <end>', 'when it ends by itself: a duration such as 90d, or a time', end],
      BY,
    ],
    examples: [
      `--merchant ${ID} --mode live --label 'web server'`,
      `--merchant ${ID} --mode test --expires 90d`,
    ],
    work: async () => (await keys()).create,
  },
  {
    name: 'key list',
    about: 'lists keys, newest first',
    options: [OF_MERCHANT],
    examples: ['', `--merchant ${ID}`],
    work: async () => (await keys()).list,
  },
  {
    name: 'key revoke <id>',
    about: 'ends a key at once',
    options: [BY],
    examples: [ID],
    work: async () => (await keys()).revoke,
  },
  {
    name: 'key rotate <id>',
    about: 'makes a second key and lets the old one end after a grace period',
    options: [
      ['--grace <duration>', 'how long the old key goes on', duration('365d'), DAY_MS, '24h'],
      ['--expires <end>', 'when the new key ends (default: when the old one would have)', end],
      BY,
    ],
    examples: [`${ID} --grace 7d`],
    work: async () => (await keys()).rotate,
  },
  {
    name: 'allow-ip',
    about: 'from where live keys of a merchant may be used; without a network on the list, from everywhere',
    takes: [
      [
        '<what>',
        'add, remove or list; the first that is added closes all others',
        oneOf('add', 'remove', 'list'),
      ],
      ['[network]', 'an address or a network, such as 203.0.113.7 or 2001:db8::/32'],
    ],
    needs: [MERCHANT],
    options: [BY],
    examples: [`add 203.0.113.0/24 --merchant ${ID}`, `list --merchant ${ID}`],
    work: async () => (await keys()).allowIp,
  },
  {
    name: 'user create',
    about: 'makes a user; prints a link that sets the password, unless one comes on stdin',
    needs: [MERCHANT, EMAIL],
    options: [BY],
    examples: [`--merchant ${ID} --email ann@example.com`],
    work: async () => (await users()).create,
  },
  {
    name: 'user reset-password',
    about:
      'ends the password and every session; prints a link that sets a new one, unless one comes on stdin',
    needs: [EMAIL],
    options: [BY],
    examples: ['--email ann@example.com'],
    work: async () => (await users()).reset,
  },
  {
    name: 'user totp',
    about:
      'asks for a code of an authenticator app from now on; shows the secret this once and ends every session',
    needs: [EMAIL],
    options: [['--disable', 'ask for no code any more'], BY],
    examples: ['--email ann@example.com'],
    work: async () => (await users()).totp,
  },
  {
    name: 'user hash',
    about: 'prints what the log says of this account where a login is refused',
    needs: [EMAIL],
    examples: ['--email ann@example.com'],
    work: async () => (await users()).hash,
  },
];
