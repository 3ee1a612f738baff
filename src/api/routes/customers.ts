import { idParams, listOf } from '../../contract/common.ts';
import {
  addressPageLink,
  customer,
  customerQuery,
  existsAnswer,
  existsQuery,
  newCustomer,
} from '../../contract/customer.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import { getAddressPageLink, moveAddressPage } from '../../services/address-pages/links.ts';
import { findCustomerBy, getCustomer, listCustomers } from '../../services/merchants/customer-reads.ts';
import { createCustomer } from '../../services/merchants/customers.ts';
import type { Scope } from '../../services/scope.ts';
import { ApiError } from '../errors.ts';
import { listBody } from '../page.ts';
import { created, OVER_QUOTA, ok, route } from '../route.ts';

const tag = 'Customers';

export const CUSTOMER_ROUTES = [
  // Before /customers/:id, which would take "exists" for an id.
  route({
    method: 'get',
    path: '/customers/exists',
    operationId: 'checkCustomerExists',
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
    operationId: 'createCustomer',
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
    operationId: 'listCustomers',
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
    operationId: 'getCustomer',
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
  route({
    method: 'get',
    path: '/customers/:id/address-page',
    operationId: 'getAddressPage',
    auth: 'merchant',
    scope: 'read',
    tag,
    statuses: [200],
    summary: 'The page with a customer’s addresses',
    description:
      'The address of a page for this customer: permanent addresses, codes, and the deposits so far, live. Whoever has the address sees the page, so show it to this customer alone. It stays the same until it is replaced or the customer is erased. Where there is none that can be told, a 404 says so, and `POST` makes one.',
    params: idParams,
    response: addressPageLink,
    read: async (deps, { caller, params, publicUrl }) =>
      ok(await getAddressPageLink(deps, { ...scopeOf(caller), id: params.id, publicUrl })),
  }),
  route({
    method: 'post',
    path: '/customers/:id/address-page',
    operationId: 'replaceAddressPage',
    auth: 'merchant',
    scope: 'payments',
    alsoScope: 'read',
    recorded: true,
    tag,
    statuses: [201],
    errors: ['NOT_FOUND'],
    summary: 'Replace the address of a customer’s page',
    description:
      'For a page whose address has got into the wrong hands: from now on there is nothing under it. Makes a page for a customer who has none. The deposit addresses stay as they are.',
    params: idParams,
    response: addressPageLink,
    apply: async (tx, deps, { caller, params, publicUrl }) =>
      created(await moveAddressPage(tx, deps, { ...scopeOf(caller), id: params.id, publicUrl })),
  }),
];

const scopeOf = ({ merchantId, mode }: Scope): Scope => ({ merchantId, mode });

function lookupOf(query: { external_id?: string | undefined; email?: string | undefined }) {
  if (query.external_id) return { match: 'external_id', value: query.external_id } as const;
  if (query.email) return { match: 'email', value: query.email } as const;
  throw new ApiError('VALIDATION_ERROR', 'At least one of external_id and email is required.');
}
