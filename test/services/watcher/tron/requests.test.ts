import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import type { Deps } from '../../../../src/services/deps.ts';
import { requestsIn } from '../../../../src/services/watcher/requests.ts';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';

const { signal } = new AbortController();
const NOON = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;

describe('the requests that processes share', () => {
  let api: TestApi;
  let deps: Deps;
  let dateMs = NOON;
  before(async () => {
    api = await startTestApi();
    ({ deps } = api);
  });
  after(() => api?.stop());
  const process = () => {
    const budget = createBudget({ perDay: 1_000, perSecond: 10_000, date: () => dateMs });
    budget.sharedBy(requestsIn(deps, 'tron'));
    return budget;
  };
  const use = async (budget: ReturnType<typeof process>, times: number): Promise<number> => {
    for (let nth = 0; nth < times; nth += 1) await budget.take(signal);
    return budget.today().used;
  };

  it('are summed in the database, and begin anew each day', async () => {
    const [one, other] = [process(), process()];
    expect([await use(one, 3), await use(other, 4), await use(one, 1)]).to.deep.equal([3, 7, 8]);
    expect(await use(process(), 1), 'after a restart').to.equal(9);
    dateMs = NOON + DAY_MS;
    expect(await use(other, 2)).to.equal(2);
    dateMs = NOON;
    // One whose clock is still at the day before changes nothing for the others.
    await use(one, 5);
    dateMs = NOON + DAY_MS;
    expect(await use(process(), 1)).to.equal(3);
  });

  it('are not held by a clock that was far ahead', async () => {
    dateMs = NOON + 300 * DAY_MS;
    await use(process(), 9);
    dateMs = NOON + DAY_MS;
    expect(await use(process(), 2)).to.equal(2);
    expect(await use(process(), 2)).to.equal(4);
  });
});
