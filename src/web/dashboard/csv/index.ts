import type { z } from 'zod';
import { customerQuery } from '../../../contract/customer.ts';
import { depositQuery } from '../../../contract/deposit.ts';
import { paymentLinkQuery } from '../../../contract/payment-link.ts';
import type { Deps } from '../../../services/deps.ts';
import { type ExportOf, exportCsv } from '../../../services/export/export.ts';
import { Refusal } from '../../../services/refusal.ts';
import type { Scope } from '../../../services/scope.ts';
import { eventQuery } from '../events/list.ts';
import { queryOf } from '../list.ts';
import { payoutQuery } from '../payouts/list.ts';
import type { Download, Pages } from '../visit.ts';

/** Each list with its filter as a file of rows, the newest first. */
export const CSV: Pages = {
  downloads: [
    file('deposits', depositQuery, (query, scope) => ({
      list: 'deposits',
      input: {
        ...scope,
        status: query.status,
        network: query.network,
        currency: query.currency,
        customerId: query.customer_id,
        transactionHash: query.transaction_hash,
        ...between(query),
      },
    })),
    file('customers', customerQuery, (query, scope) => ({
      list: 'customers',
      input: {
        ...scope,
        search: query.search,
        address: query.address,
        email: query.email,
        externalId: query.external_id,
        ...between(query),
      },
    })),
    file('links', paymentLinkQuery, (query, scope) => ({
      list: 'links',
      input: {
        ...scope,
        status: query.status,
        customerId: query.customer_id,
        search: query.search,
        ...between(query),
      },
    })),
    file('payouts', payoutQuery, (query, scope) => ({
      list: 'payouts',
      input: { ...scope, state: query.state, network: query.network, ...between(query) },
    })),
    file('events', eventQuery, (query, scope) => ({
      list: 'events',
      input: { ...scope, type: query.type, subjectId: query.subject_id, ...between(query) },
    })),
  ],
};

/** A file that has begun rather waits for its turn than ends in the middle. */
const LATER_MS = 60_000;

/** A filter that is not right is refused, as the list refuses it: nobody asked for a file of all rows. */
function file<Query>(
  name: ExportOf['list'],
  query: z.ZodType<Query>,
  what: (query: Query, scope: Scope) => ExportOf,
): Download {
  return {
    path: `/${name}.csv`,
    name: `${name}-{mode}.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    async *pieces({ door, scope, query: given }, signal) {
      const { value, details } = door.check(query, queryOf(given).members);
      const [wrong] = details;
      if (wrong) throw new Refusal('INVALID', `${wrong.path} ${wrong.message}`.trim(), wrong.path);
      let waitMs: number | undefined;
      const turn = <T>(work: (deps: Deps) => Promise<T>): Promise<T> => {
        const read = door.readList(scope.merchantId, work, waitMs);
        waitMs = LATER_MS;
        return read;
      };
      yield* exportCsv(turn, what(value as Query, scope), signal);
    },
  };
}

type Between = {
  readonly created_from?: Date | undefined;
  readonly created_to?: Date | undefined;
};

function between({ created_from: createdFrom, created_to: createdTo }: Between) {
  return { createdFrom, createdTo };
}
