import { idParams, listOf } from '../../contract/common.ts';
import { deposit, depositQuery } from '../../contract/deposit.ts';
import { filtersOf, pageOf } from '../../contract/list-query.ts';
import { isUuid } from '../../domain/ids.ts';
import { getDeposit, listDeposits, readDeposit } from '../../services/deposits/reads.ts';
import { priceSimulation, simulateDeposit } from '../../services/deposits/simulate.ts';
import { notFound } from '../../services/refusal.ts';
import { listBody } from '../page.ts';
import { created, ok, route } from '../route.ts';
import { simulation } from '../simulation.ts';

/** A simulation asks for the price first. */
const PRICE_WAIT_MS = 2_000;

export const DEPOSIT_ROUTES = [
  route({
    method: 'get',
    path: '/deposits',
    operationId: 'listDeposits',
    auth: 'merchant',
    scope: 'read',
    tag: 'Deposits',
    statuses: [200],
    summary: 'List deposits',
    query: depositQuery,
    response: listOf(deposit),
    read: async (deps, { caller, query }) => {
      const { merchantId, mode } = caller;
      const asked = { merchantId, mode, ...filtersOf(query), page: pageOf(query) };
      return ok(listBody(await listDeposits(deps, asked)));
    },
  }),
  route({
    method: 'get',
    path: '/deposits/:id',
    operationId: 'getDeposit',
    auth: 'merchant',
    scope: 'read',
    tag: 'Deposits',
    statuses: [200],
    summary: 'Read a deposit',
    params: idParams,
    response: deposit,
    read: async (deps, { caller, params }) =>
      ok(await getDeposit(deps, { merchantId: caller.merchantId, mode: caller.mode, id: params.id })),
  }),
  route({
    method: 'post',
    path: '/test/simulate-deposit',
    operationId: 'simulateDeposit',
    auth: 'merchant',
    scope: 'payments',
    only: 'test',
    isTest: true,
    tag: 'Test mode',
    statuses: [201, 200],
    errors: ['TEST_MODE_ONLY', 'NOT_FOUND', 'DAILY_QUOTA_REACHED'],
    extraMs: PRICE_WAIT_MS,
    summary: 'Simulate a deposit',
    description:
      'Makes a test deposit that is already in its state. A transaction hash that was used before answers 200 with the same deposit. Five a second, 50 at once.',
    body: simulation,
    response: deposit,
    prepare: async (deps, { body }) => {
      if (!isUuid(body.customerId)) throw notFound('test customer');
      return await priceSimulation(deps, body);
    },
    apply: async (tx, deps, { caller: { merchantId, mode }, body, prepared: price }) => {
      const made = await simulateDeposit(tx, deps, { merchantId, ...body, price });
      if (!made) throw notFound('test customer');
      const view = await readDeposit(tx.em, { merchantId, mode, id: made.deposit.id });
      return made.created ? created(view) : ok(view);
    },
  }),
];
