import type { z } from 'zod';
import type { PageMembers } from '../../../contract/common.ts';
import { customerQuery } from '../../../contract/customer.ts';
import { depositQuery } from '../../../contract/deposit.ts';
import { eventQuery } from '../../../contract/event.ts';
import { type FiltersOf, filtersOf } from '../../../contract/list-query.ts';
import { paymentLinkQuery } from '../../../contract/payment-link.ts';
import { recordAction } from '../../../services/audit/record.ts';
import type { Deps } from '../../../services/deps.ts';
import { type ExportOf, exportCsv } from '../../../services/export/export.ts';
import { Refusal } from '../../../services/refusal.ts';
import type { Scope } from '../../../services/scope.ts';
import { queryOf } from '../list.ts';
import { payoutQuery } from '../payouts/list.ts';
import type { Download, Pages } from '../visit.ts';

/** Each list with its filter as a file of rows, the newest first. */
export const CSV: Pages = {
  downloads: [
    file('deposits', depositQuery, (input) => ({ list: 'deposits', input })),
    file('customers', customerQuery, (input) => ({ list: 'customers', input })),
    file('links', paymentLinkQuery, (input) => ({ list: 'links', input })),
    file('payouts', payoutQuery, (input) => ({ list: 'payouts', input })),
    file('events', eventQuery, (input) => ({ list: 'events', input })),
  ],
};

/** A file that has begun rather waits for its turn than ends in the middle. */
const LATER_MS = 60_000;

/** A filter that is not right is refused, as the list refuses it: nobody asked for a file of all rows. */
function file<Query extends PageMembers>(
  name: ExportOf['list'],
  query: z.ZodType<Query>,
  rowsOf: (input: Scope & FiltersOf<Query>) => ExportOf,
): Download {
  return {
    path: `/${name}.csv`,
    name: `${name}-{mode}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    async *pieces({ door, deps, scope, query: given }, signal) {
      const { value, details } = door.check(query, queryOf(given).members);
      const [wrong] = details;
      if (wrong) throw new Refusal('INVALID', `${wrong.path} ${wrong.message}`.trim(), wrong.path);
      let waitMs: number | undefined;
      const turn = <T>(work: (deps: Deps) => Promise<T>): Promise<T> => {
        const read = door.readList(scope.merchantId, work, waitMs);
        waitMs = LATER_MS;
        return read;
      };
      let isNoted = false;
      for await (const piece of exportCsv(turn, rowsOf({ ...scope, ...filtersOf(value as Query) }), signal)) {
        // Before the first rows leave: a file that could not be made is none.
        if (!isNoted)
          await recordAction(deps.orm.em.fork(), deps, { action: 'list.export', ...scope, subject: name });
        isNoted = true;
        yield piece;
      }
    },
  };
}
