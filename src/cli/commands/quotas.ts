import type { Command } from 'commander';
import { UsageError } from '../../base/errors.ts';
import type { Mode } from '../../domain/assets.ts';
import type { Quota, QuotaView } from '../../services/merchants/quotas.ts';
import { NONE, oneOf, orNull, text, wholeNumber } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { listing } from '../table.ts';

type Given = number | typeof NONE;
type Options = Acting & {
  readonly mode: Mode;
  readonly customers?: Given;
  readonly endpoints?: Given;
  readonly eventsPerDay?: Given;
  readonly openLinks?: Given;
};

/** `quota`. */
export function addQuotaCommands(program: Command): void {
  const quota = group(
    program,
    'quota',
    'how much a merchant may have at most; nothing is limited where nothing is set',
  );
  acting(
    leaf(
      quota,
      'set <merchant>',
      'sets quotas of a merchant in one mode and leaves the others; "none" takes one away',
    ),
  )
    .requiredOption('--mode <mode>', 'live or test', oneOf('live', 'test'))
    .option('--customers <n>', 'customers', countOrNone(1_000_000_000))
    .option('--endpoints <n>', 'webhook endpoints', countOrNone(50))
    .option(
      '--events-per-day <n>',
      'events a day that calls ask for; money that arrives is never refused',
      countOrNone(1_000_000_000),
    )
    .option('--open-links <n>', 'payment links that are open at a time', countOrNone(100_000))
    .action(answering(set));
  leaf(quota, 'list', 'lists quotas')
    .option('--merchant <id>', 'only of this merchant', text())
    .action(answering(list));
}

function countOrNone(max: number) {
  const number = wholeNumber(0, max);
  return (given: string): Given => (given === NONE ? NONE : number(given));
}

async function set({ args, options }: { args: readonly string[]; options: Options }) {
  const given = {
    customers: options.customers,
    endpoints: options.endpoints,
    events_per_day: options.eventsPerDay,
    open_links: options.openLinks,
  };
  const quotas = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, orNull(value)]])),
  );
  if (Object.keys(quotas).length === 0)
    throw new UsageError('Nothing to set: give --customers, --endpoints, --events-per-day or --open-links');
  const { withGateway, setQuotas } = await load();
  return shown(
    await withGateway({ by: options.by }, ({ deps }) =>
      setQuotas(deps, { merchantId: args[0] ?? '', mode: options.mode, quotas }),
    ),
  );
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const { withGateway, listQuotas } = await load();
  return shown(await withGateway({}, ({ deps }) => listQuotas(deps, { merchantId: options.merchant })));
}

async function load() {
  const [wiring, quotas] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/quotas.ts'),
  ]);
  return { ...wiring, ...quotas };
}

const NAMES: Readonly<Record<Quota, string>> = {
  customers: 'customers',
  endpoints: 'webhook endpoints',
  events_per_day: 'events a day',
  open_links: 'open payment links',
};

function shown(views: readonly QuotaView[]) {
  const quotas = views.map(({ merchantId, ...view }) => ({ merchant_id: merchantId, ...view }));
  const rows = views.map(({ merchantId, mode, quota, most }) => [merchantId, mode, NAMES[quota], most]);
  const none = 'No quota: set one with "quota set MERCHANT --mode test --customers 10000".';
  const next = 'Change one with "quota set MERCHANT --mode MODE"; "none" takes it away.';
  return {
    json: { quotas },
    ...listing({ header: ['MERCHANT', 'MODE', 'WHAT', 'AT MOST'], rows, none, next }),
  };
}
