import { balance, merchantBalance, merchantBalanceQuery } from '../../contract/balance.ts';
import { listOf } from '../../contract/common.ts';
import { pageOf } from '../../contract/list-query.ts';
import { getBalance, listMerchantBalances } from '../../services/ledger/balances.ts';
import { listBody } from '../page.ts';
import { ok, route } from '../route.ts';

export const BALANCE_ROUTES = [
  route({
    method: 'get',
    path: '/balance',
    operationId: 'getBalance',
    auth: 'merchant',
    scope: 'read',
    tag: 'Balances',
    statuses: [200],
    summary: 'Read the balance',
    description:
      'Totals in US dollars and what they are made of, by currency. All of it is the state of one moment.',
    response: balance,
    read: async (deps, { caller }) =>
      ok(await getBalance(deps, { merchantId: caller.merchantId, mode: caller.mode })),
  }),
  route({
    method: 'get',
    path: '/merchant-balances',
    operationId: 'listMerchantBalances',
    auth: 'merchant',
    scope: 'read',
    tag: 'Balances',
    statuses: [200],
    summary: 'List balances by asset',
    description:
      'One row for each asset (a currency on a network), always in the same order, also where it is zero.',
    query: merchantBalanceQuery,
    response: listOf(merchantBalance),
    read: async (deps, { caller, query }) =>
      ok(
        listBody(
          await listMerchantBalances(deps, {
            merchantId: caller.merchantId,
            mode: caller.mode,
            page: pageOf(query),
          }),
        ),
      ),
  }),
];
