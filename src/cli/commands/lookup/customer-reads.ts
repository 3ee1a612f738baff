import type { Command } from 'commander';
import type { Mode } from '../../../domain/assets.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { answering, leaf } from '../../run.ts';
import { facts, listing, table } from '../../table.ts';

const MAX_LISTED = 1_000;
const DEPOSITS_SHOWN = 20;

/** `customer list` and `customer show`. */
export function addCustomerReads(customer: Command): void {
  leaf(customer, 'list', 'lists customers, newest first')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--mode <mode>', 'only of this mode', oneOf('live', 'test'))
    .option('--email <email>', 'only with this email, in any case', text())
    .option('--external-id <id>', 'only with this id of the merchant', text())
    .option('--address <address>', 'only with this address, in any spelling', text())
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(customer, 'show', 'one customer with addresses and the newest deposits')
    .argument('<id>', 'id of a customer ("find" knows them by email, external id and address)', text())
    .action(answering(show));
}

type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly email?: string;
  readonly externalId?: string;
  readonly address?: string;
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, reads] = await Promise.all([
    import('../../process.ts'),
    import('./customer-rows.ts'),
  ]);
  const found = await withGateway({}, ({ deps }) => reads.listAllCustomers(deps, options));
  const customers = found.map(reads.customerView);
  const header = ['ID', 'MODE', 'EMAIL', 'EXTERNAL ID', 'MERCHANT', 'MADE', 'NAME'];
  const rows = customers.map((row) => [
    row.id,
    row.is_live ? 'live' : 'test',
    row.email,
    row.external_id,
    row.merchant_id,
    row.created_at,
    row.name,
  ]);
  const none = 'No customer: leave filters out, or see with "merchant list" whose they would be.';
  const next = 'All about one: "customer show ID".';
  const limit = { given: options.limit, most: MAX_LISTED };
  return { json: { customers }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { getCustomer }, { requireCustomer }, { listAllDeposits }] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/merchants/customer-reads.ts'),
    import('./customer-rows.ts'),
    import('../deposits/deposit-reads.ts'),
  ]);
  const found = await withGateway({}, async ({ deps }) => {
    const row = await requireCustomer(deps, args[0] ?? '');
    const { total_deposited_usd: total, ...view } = await getCustomer(deps, row);
    const deposits = await listAllDeposits(deps, { customer: row.id, limit: DEPOSITS_SHOWN });
    // Dollars are a decimal string at the command line, like all money.
    return {
      customer: { ...view, total_deposited_usd: total.toFixed(2) },
      merchant_id: row.merchantId,
      deposits,
    };
  });
  const { addresses, metadata, ...customer } = found.customer;
  const parts = [
    facts({ ...customer, merchant_id: found.merchant_id, metadata: JSON.stringify(metadata) }),
    table(
      ['NETWORK', 'ADDRESS', 'SINCE'],
      addresses.map((row) => [row.network, row.address, row.created_at]),
    ),
    table(
      ['DEPOSIT', 'STATUS', 'AMOUNT', 'NETWORK', 'DETECTED', 'TRANSACTION'],
      found.deposits.map((row) => [
        row.id,
        row.status,
        `${row.amount} ${row.currency}`,
        row.network,
        row.detected_at,
        row.transaction_hash,
      ]),
    ),
  ];
  const next =
    found.deposits.length === 0
      ? 'No deposit yet. A payment that should be here: "find HASH".'
      : 'All about one: "deposit show ID". A payment that is missing: "find HASH".';
  return { json: found, text: parts.filter((part) => part !== '').join('\n\n'), next };
}
