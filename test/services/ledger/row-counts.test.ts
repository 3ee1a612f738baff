import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { createCustomer, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { listDeposits } from '../../../src/services/deposits/reads.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { foldCounts } from '../../../src/services/ledger/totals.ts';
import { listCustomers } from '../../../src/services/merchants/customer-reads.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { testDeps } from '../../support/gateway.ts';

const PARALLEL = 8;

describe('the totals of lists', () => {
  let database: FreshDatabase;
  let deps: Deps;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, [], { poolSize: 16 });
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  const newScope = async (mode: 'live' | 'test') => {
    const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    return { merchantId, mode };
  };
  type Scope = Awaited<ReturnType<typeof newScope>>;
  const create = (scope: Scope, externalId: string = randomUUID()) =>
    createCustomer(deps, { ...scope, externalId, email: null, name: null, metadata: {} });
  const simulate = ({ merchantId }: Scope, customerId: string) =>
    simulateDeposit(deps, {
      merchantId,
      customerId,
      network: 'bsc',
      currency: 'USDT',
      amountUnits: 1n,
      outcome: 'detected',
      events: 'final',
    });
  const customers = async (scope: Scope) =>
    (await listCustomers(deps, { ...scope, page: { limit: 1 } })).total;
  const deposits = async (scope: Scope) => (await listDeposits(deps, { ...scope, page: { limit: 1 } })).total;

  it('are exact while rows are added and counts are folded at the same time', async () => {
    const scope = await newScope('test');
    const first = await create(scope);
    let running = true;
    const folding = (async () => {
      while (running) await foldCounts(deps);
    })();
    const work = Array.from({ length: PARALLEL }, async () => {
      for (let round = 0; round < 5; round += 1) {
        await Promise.all([create(scope), simulate(scope, first.id)]);
        expect(await customers(scope), 'what this one added is counted at once').to.be.at.least(round + 2);
      }
    });
    await Promise.all(work);
    running = false;
    await folding;
    expect([await customers(scope), await deposits(scope)]).to.deep.equal([PARALLEL * 5 + 1, PARALLEL * 5]);
    await foldCounts(deps);
    expect([await customers(scope), await deposits(scope)]).to.deep.equal([PARALLEL * 5 + 1, PARALLEL * 5]);
    expect(await deps.orm.em.fork().execute('select * from row_count_changes')).to.deep.equal([]);
  });
});
