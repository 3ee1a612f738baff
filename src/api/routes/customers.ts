import { idParams, listOf } from '../../contract/common.ts';
import { customer, customerQuery, existsAnswer, existsQuery, newCustomer } from '../../contract/customer.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import { findCustomerBy, getCustomer, listCustomers } from '../../services/merchants/customer-reads.ts';
import { createCustomer } from '../../services/merchants/customers.ts';
import { ApiError } from '../errors.ts';
import { listBody } from '../page.ts';
import { created, OVER_QUOTA, ok, route } from '../route.ts';

const tag = 'Customers';

export const CUSTOMER_ROUTES = [
  // Before /customers/:id, which would take "exists" for an id.
  route({
    method: 'get',
    path: '/customers/exists',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'Whether a customer exists',
    description:
      'Makes a sign-up idempotent. A customer that is not there is a 200 as well: look at `exists`.',
    query: existsQuery,
    response: existsAnswer,
    read: async (deps, { caller, query }) => {
      const { match, value } = lookupOf(query);
      const found = await findCustomerBy(deps, {
        merchantId: caller.merchantId,
        mode: caller.mode,
        match,
        value,
      });
      return ok({ exists: found !== undefined, match, customer: found ?? null });
    },
  }),
  route({
    method: 'post',
    path: '/customers',
    auth: 'merchant',
    scope: 'payments',
    tag,
    statuses: [201],
    errors: ['CUSTOMER_EXISTS', ...OVER_QUOTA],
    summary: 'Create a customer',
    description:
      'Gives the customer one permanent deposit address for each network and sends `customer.created`.',
    body: newCustomer,
    response: customer,
    apply: async (tx, deps, { caller, body }) => {
      const { merchantId, mode } = caller;
      const names = {
        externalId: body.external_id ?? null,
        email: body.email ?? null,
        name: body.name ?? null,
      };
      return created(
        await createCustomer(tx, deps, { merchantId, mode, ...names, metadata: body.metadata ?? {} }),
      );
    },
  }),
  route({
    method: 'get',
    path: '/customers',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'List customers',
    query: customerQuery,
    response: listOf(customer),
    read: async (deps, { caller, query }) => {
      const { merchantId, mode } = caller;
      const asked = { merchantId, mode, ...filtersOf(query), page: pageOf(query) };
      return ok(listBody(await listCustomers(deps, asked)));
    },
  }),
  route({
    method: 'get',
    path: '/customers/:id',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'Read a customer',
    params: idParams,
    response: customer,
    read: async (deps, { caller, params }) =>
      ok(await getCustomer(deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
];

function lookupOf(query: { external_id?: string | undefined; email?: string | undefined }) {
  if (query.external_id) return { match: 'external_id', value: query.external_id } as const;
  if (query.email) return { match: 'email', value: query.email } as const;
  throw new ApiError('VALIDATION_ERROR', 'At least one of external_id and email is required.');
}
