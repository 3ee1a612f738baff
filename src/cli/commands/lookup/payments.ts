import type { Command } from 'commander';
import { LINK_STATUSES, type LinkStatus } from '../../../domain/payment-link.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { answering, group, leaf } from '../../run.ts';
import { facts, listing, table } from '../../table.ts';

const MAX_LISTED = 1_000;

/** `payment`. */
export function addPaymentCommands(program: Command): void {
  const payment = group(program, 'payment', 'payment links of merchants');
  leaf(payment, 'list', 'lists payment links, newest first')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--customer <id>', 'only of this customer', text())
    .option('--status <status>', 'only in this status', oneOf(...LINK_STATUSES))
    .option('--external-id <id>', "only with the merchant's own id of it", text())
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(payment, 'show', 'one payment link: what it waits for, what came, and what the merchant was told')
    .argument('<id>', 'id or token of a payment link, or the address of its page', text())
    .action(answering(show));
}

type Filters = {
  readonly merchant?: string;
  readonly customer?: string;
  readonly status?: LinkStatus;
  readonly externalId?: string;
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listAllLinks }] = await Promise.all([
    import('../../process.ts'),
    import('./payment-rows.ts'),
  ]);
  const payments = await withGateway({}, ({ deps }) => listAllLinks(deps, options));
  const header = [
    'ID',
    'STATUS',
    'PAID',
    'OF',
    'MODE',
    'MERCHANT',
    'CUSTOMER',
    'ENDS',
    'MADE',
    'EXTERNAL ID',
  ];
  const rows = payments.map((row) => [
    row.id,
    row.status,
    row.paid,
    row.amount,
    row.is_live ? 'live' : 'test',
    row.merchant_id,
    row.customer_id,
    row.expires_at,
    row.created_at,
    row.external_id,
  ]);
  const none = 'No payment link: leave filters out, or see with "merchant list" whose they would be.';
  const next = 'All about one: "payment show ID".';
  const limit = { given: options.limit, most: MAX_LISTED };
  return { json: { payments }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readLink }, { pagesOf }] = await Promise.all([
    import('../../process.ts'),
    import('./payment-rows.ts'),
    import('../../links.ts'),
  ]);
  const found = await withGateway({}, ({ deps, config }) => readLink(deps, pagesOf(config), args[0] ?? ''));
  const { deposits, events, links, ...payment } = found;
  const { why, action, ...rest } = payment;
  const parts = [
    facts({ why, 'to do': action }),
    facts({ ...rest, metadata: JSON.stringify(rest.metadata) }),
    table(
      ['DEPOSIT', 'STATUS', 'AMOUNT', 'NETWORK', 'DETECTED', 'TRANSACTION'],
      deposits.map((row) => [
        row.id,
        row.status,
        `${row.amount} ${row.currency}`,
        row.network,
        row.detected_at,
        row.transaction_hash,
      ]),
    ),
    table(
      ['EVENT', 'ID', 'AT', 'DELIVERIES'],
      events.map((row) => [row.event, row.id, row.timestamp, row.deliveries]),
    ),
  ];
  const copy = Object.values(links).filter((link) => link !== null);
  const next = 'What became of an event: "event show ID". Of a deposit: "deposit show ID".';
  return {
    json: found,
    text: parts.filter((part) => part !== '').join('\n\n'),
    ...(copy.length === 0 ? {} : { copy: ['', ...copy] }),
    next,
  };
}
