import { type DepositFilters, listDeposits } from '../deposits/reads.ts';
import type { Deps } from '../deps.ts';
import { CSV_MARK, type CsvCell, csvOf } from '../lists/csv.ts';
import type { PageOf } from '../lists/page.ts';
import type { PageRequest } from '../lists/query.ts';
import { walkList } from '../lists/walk.ts';
import { type CustomerFilters, listCustomers } from '../merchants/customer-reads.ts';
import { listPaymentLinks, type PaymentLinkFilters } from '../payment-links/reads.ts';
import { listMerchantPayouts, type PayoutListFilters } from '../payouts/views.ts';
import type { Scope } from '../scope.ts';
import { type EventFilters, listEvents } from '../webhooks/shown/event-reads.ts';
import { type Columns, CUSTOMERS, DEPOSITS, EVENTS, LINKS, PAYOUTS } from './columns.ts';

/** A list with its filter. */
export type ExportOf =
  | { readonly list: 'deposits'; readonly input: Scope & DepositFilters }
  | { readonly list: 'customers'; readonly input: Scope & CustomerFilters }
  | { readonly list: 'links'; readonly input: Scope & PaymentLinkFilters }
  | { readonly list: 'payouts'; readonly input: Scope & PayoutListFilters }
  | { readonly list: 'events'; readonly input: Scope & EventFilters };

/** One turn at the connections for lists. */
type Turn = <T>(work: (deps: Deps) => Promise<T>) => Promise<T>;

/** No more rows than this are exported at once. */
export const EXPORTED_ROWS = 100_000;
const PAGE_ROWS = 500;

/**
 * The filtered list as CSV with a line of names, in pieces of some hundred rows. Each page is read in a turn
 * of its own. Where the list is longer than an export may be, the last line says so. Once the signal was
 * given it ends. Throws what the list throws, a `Refusal` for a filter before the first piece.
 */
export function exportCsv(
  turn: Turn,
  wanted: ExportOf,
  signal: AbortSignal,
  most: number = EXPORTED_ROWS,
): AsyncGenerator<string> {
  const pages = <Input, T extends { readonly id: string }>(
    list: (deps: Deps, input: Input & { readonly page: PageRequest }) => Promise<PageOf<T>>,
    input: Input,
    columns: Columns<T>,
  ): AsyncGenerator<string> => {
    const read = (page: PageRequest) => turn((deps) => list(deps, { ...input, page }));
    return csvPieces({ read, columns, signal, most });
  };
  switch (wanted.list) {
    case 'deposits':
      return pages(listDeposits, wanted.input, DEPOSITS);
    case 'customers':
      return pages(listCustomers, wanted.input, CUSTOMERS);
    case 'links':
      return pages(listPaymentLinks, wanted.input, LINKS);
    case 'payouts':
      return pages(listMerchantPayouts, wanted.input, PAYOUTS);
    case 'events':
      return pages(listEvents, wanted.input, EVENTS);
  }
}

async function* csvPieces<T extends { readonly id: string }>(work: {
  readonly read: (page: PageRequest) => Promise<PageOf<T>>;
  readonly columns: Columns<T>;
  readonly signal: AbortSignal;
  readonly most: number;
}): AsyncGenerator<string> {
  const { read, columns, signal, most } = work;
  const names = Object.keys(columns);
  const cells = Object.values(columns);
  const walk = walkList({ read, idOf: ({ id }) => id, signal, most, pageSize: PAGE_ROWS });
  let before = CSV_MARK + csvOf([names]);
  for (;;) {
    const { value, done } = await walk.next();
    if (signal.aborted) return;
    if (done) {
      yield value.isCut ? before + csvOf([cutLine(value.rows, names.length)]) : before;
      return;
    }
    yield before + csvOf(value.map((row) => cells.map((cell) => cell(row))));
    before = '';
  }
}

function cutLine(rows: number, width: number): CsvCell[] {
  const said = `This list was cut after ${rows} rows, and there may be more. Choose a narrower filter.`;
  return [said, ...Array.from({ length: width - 1 }, () => null)];
}
