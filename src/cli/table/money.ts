// Deposits, payouts, and the webhooks that tell of them.
import { DEPOSIT_STATES } from '../../domain/deposit.ts';
import { PAYOUT_STATES } from '../../domain/settlement.ts';
import { oneOf, text, wholeNumber } from '../arguments.ts';
import { duration, FORWARDING, SECRET_STDIN } from '../follow/options.ts';
import {
  BSC,
  BY,
  DECISION,
  type Definition,
  HASH,
  ID,
  LIMIT,
  NETWORK,
  OF_MERCHANT,
  ON_NETWORK,
  type OptionGiven,
  SAID,
  WHY,
} from './definition.ts';

const TX: OptionGiven = ['--tx <hash>', 'hash of the transaction', text(80)];
const deposits = async () => (await import('../commands/deposits/deposits.ts')).DEPOSITS;
const payouts = async () => (await import('../commands/payouts/payouts.ts')).PAYOUTS;
const payoutReads = async () => (await import('../commands/payouts/payout-reads.ts')).PAYOUT_READS;
const webhooks = async () => (await import('../commands/webhooks.ts')).WEBHOOKS;

export const MONEY: readonly Definition[] = [
  {
    name: 'deposit list',
    about: 'lists deposits, newest first',
    options: [
      ['--status <state>', 'only in this state', oneOf(...DEPOSIT_STATES)],
      ON_NETWORK,
      OF_MERCHANT,
      ['--customer <id>', 'only of this customer'],
      ['--tx <hash>', 'only of this transaction, with or without 0x'],
      ['--address <address>', 'only to this address, in any spelling'],
      ['--unrecognised', 'instead: what reached our addresses and cannot be credited'],
      LIMIT,
    ],
    examples: [`--customer ${ID}`, `--tx ${HASH}`, '--status confirming --network bsc', '--unrecognised'],
    work: async () => (await deposits()).list,
  },
  {
    name: 'deposit show',
    about: 'one deposit: why it is where it is, what to do, and all that happened to it',
    takes: [['<id>', 'id of a deposit, or the hash of its transaction']],
    examples: [ID, HASH],
    work: async () => (await deposits()).show,
  },
  {
    name: 'deposit stuck',
    about: 'deposits, payouts, wallets, links and chains that do not go on by themselves, and what to do',
    examples: ['', '--json'],
    work: async () => (await import('../commands/deposits/stuck.ts')).stuck,
  },
  {
    name: 'deposit fail <id>',
    about: 'gives up an open deposit, or withdraws one whose block was replaced',
    needs: DECISION,
    examples: [`${ID} ${SAID}`],
    work: async () => (await deposits()).fail,
  },
  {
    name: 'deposit release <id>',
    about: 'credits a failed deposit whose money did arrive',
    needs: DECISION,
    examples: [`${ID} ${SAID}`],
    work: async () => (await deposits()).release,
  },
  {
    name: 'deposit claim',
    about:
      'records a transaction that no read and no comparison could attribute, after proving it on the chain',
    needs: [TX, NETWORK],
    options: [
      [
        '--amount <amount>',
        "the whole that it brought in the chain's own coin, where nothing proves it; needs --by and --reason",
        text(80),
      ],
      ['--address <address>', 'our address that it paid, where its data names none or several', text(80)],
      ...DECISION,
    ],
    examples: [`--tx ${HASH} --network bsc`, `--tx ${HASH} --network bsc --amount 0.25 ${SAID}`],
    work: async () => (await import('../commands/deposits/claim.ts')).claim,
  },
  {
    name: 'payout list',
    about: 'lists payouts, newest first, and what waits to become one',
    options: [
      OF_MERCHANT,
      ['--state <state>', 'only payouts in this state', oneOf(...PAYOUT_STATES)],
      ON_NETWORK,
      LIMIT,
    ],
    examples: ['', `--merchant ${ID} --state paying`],
    work: async () => (await payoutReads()).list,
  },
  {
    name: 'payout show',
    about: 'one payout with its deposits and transactions',
    takes: [['<id>', 'id of a payout', text(100)]],
    examples: [ID],
    work: async () => (await payoutReads()).show,
  },
  {
    name: 'payout retry',
    about: 'looks again now, whatever it waits for: a payout, or an address at which nothing is planned',
    takes: [['<id>', 'id of a payout, or an address from "payout list"', text(100)]],
    options: [BY, WHY],
    examples: [ID, BSC],
    work: async () => (await payouts()).retry,
  },
  {
    name: 'payout pause',
    about: 'plans and signs no payout any more; what is signed already goes on',
    options: [['--merchant <id>', 'only of this merchant; else of all'], BY, WHY],
    examples: [SAID, `--merchant ${ID} ${SAID}`],
    work: async () => (await payouts()).pause,
  },
  {
    name: 'payout resume',
    about: 'lets payouts go on that were paused',
    options: [['--merchant <id>', 'only of this merchant; else of all'], BY, WHY],
    examples: [SAID, `--merchant ${ID} ${SAID}`],
    work: async () => (await payouts()).resume,
  },
  {
    name: 'payout accept',
    about: 'lets a wallet sign again that sent what this gateway did not sign',
    needs: [TX, NETWORK, ...DECISION],
    examples: [`--tx ${HASH} --network bsc ${SAID}`],
    work: async () => (await payouts()).accept,
  },
  {
    name: 'payout deny',
    about: 'the same where it is on no chain, as RPC endpoints have to say as well',
    needs: [TX, NETWORK, ...DECISION],
    examples: [`--tx ${HASH} --network bsc --by "$USER" --reason 'no explorer has it'`],
    work: async () => (await payouts()).deny,
  },
  {
    name: 'payout conclude',
    about: 'settles a payout by what the chain shows, where it does not go on by itself',
    takes: [['<id>', 'id of a payout, or the address that sent the transaction', text(100)]],
    needs: [TX, ...DECISION],
    options: [
      ['--deposits <ids>', 'the deposits that it paid, with commas between them', text(20_000)],
      [
        '--journal <file>',
        "the signer's journal or a copy of it, for what a restored database has forgotten",
      ],
    ],
    examples: [`${ID} --tx ${HASH} ${SAID}`, `${BSC} --tx ${HASH} --journal /srv/journal.copy ${SAID}`],
    work: async () => (await import('../commands/payouts/conclude.ts')).conclude,
  },
  {
    name: 'payout approve-destination <merchant> <address>',
    about: "lets a new withdraw address be paid to at once; on the signer's machine, where the wallet opens",
    options: [BY],
    examples: [`${ID} ${BSC}`],
    work: async () => (await payouts()).approveDestination,
  },
  {
    name: 'endpoint',
    about: 'lets webhooks go to an endpoint again, or sends nothing there',
    takes: [
      [
        '<change>',
        'enable: what failed meanwhile is not sent by itself; disable: events fail at once and stay listed',
        oneOf('enable', 'disable'),
      ],
      ['<id>', 'id of an endpoint ("list endpoints")'],
    ],
    options: [BY],
    examples: [`enable ${ID} --by "$USER"`, `disable ${ID}`],
    work: async () => (await webhooks()).changeEndpoint,
  },
  {
    name: 'webhook list',
    about: 'lists deliveries, newest first',
    options: [
      ['--endpoint <id>', 'only to this endpoint'],
      ['--merchant <id>', 'only to the endpoints of this merchant'],
      ['--about <id>', 'only about this deposit, customer, payment link or endpoint'],
      ['--status <status>', 'only in this state', oneOf('pending', 'succeeded', 'failed')],
      LIMIT,
    ],
    examples: ['--status failed', `--about ${ID}`, `--endpoint ${ID}`],
    work: async () => (await webhooks()).list,
  },
  {
    name: 'webhook resend <delivery-id>',
    about: 'sends a finished delivery once more',
    options: [BY],
    examples: [ID],
    work: async () => (await webhooks()).resend,
  },
  {
    name: 'webhook listen',
    about: 'for development: forwards events to a shop, or is a receiver that prints each webhook',
    options: [
      ...FORWARDING,
      ['--port <port>', 'port on 127.0.0.1, 0 for a free one; 8090 if unset', wholeNumber(0, 65_535)],
      SECRET_STDIN,
      ['--status <code>', 'answer what is right with this status', wholeNumber(200, 599)],
      ['--delay <duration>', 'wait before answering', duration('10m')],
    ],
    examples: [
      '',
      '--port 8090 --secret-stdin',
      '--status 503 --delay 5s',
      '--api https://gateway.example --forward-to http://localhost:3000/hook',
    ],
    work: async () => (await import('../commands/listen.ts')).listen,
  },
];
