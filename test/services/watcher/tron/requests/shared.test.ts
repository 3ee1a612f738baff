import { expect } from 'chai';
import { SECRETS_KEY } from '../../../../../dev/support/live-gateway.ts';
import { type FreshDatabase, migratedDatabase } from '../../../../../dev/support/parts.ts';
import { testXpubs } from '../../../../../dev/support/test-wallet.ts';
import { startTronNode, type TronNode } from '../../../../../dev/tron/node.ts';
import { composeGateway, type Gateway } from '../../../../../src/app/compose.ts';
import { createLogger } from '../../../../../src/base/log.ts';
import { BudgetSpent } from '../../../../../src/chains/rpc/errors.ts';
import { TRON_ADDRESSES } from '../../../../../src/chains/tron/addresses.ts';
import { createBudget } from '../../../../../src/chains/tron/budget.ts';
import { loadConfig } from '../../../../../src/config/index.ts';
import type { Deps } from '../../../../../src/services/deps.ts';
import { requestsIn } from '../../../../../src/services/watcher/requests.ts';
import { startTestApi, type TestApi } from '../../../../support/gateway.ts';

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
});

describe('processes that use one key', () => {
  const PER_DAY = 60;
  let node: TronNode;
  let database: FreshDatabase;
  const opened: Gateway[] = [];
  before(async () => {
    node = await startTronNode();
    database = await migratedDatabase();
  });
  after(async () => {
    for (const gateway of opened) await gateway.close();
    await database?.drop();
    await node?.stop();
  });

  /** Wired as every process is, a command, an API or a worker; none of them watches the chain. */
  async function open(name: string): Promise<() => Promise<unknown>> {
    const config = loadConfig(
      {
        TRON_API_URLS: node.url,
        TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
        TRON_REQUESTS_PER_DAY: String(PER_DAY),
        TRON_REQUESTS_PER_SECOND: '10000',
      },
      { role: 'tool' },
    );
    const environment = {
      databaseUrl: database.url,
      temporal: undefined,
      xpubs: testXpubs(),
      secretsKey: SECRETS_KEY,
    };
    const log = createLogger({ level: 'fatal' });
    const gateway = await composeGateway({ config, environment, log, name, poolSize: 2 });
    opened.push(gateway);
    const reader = gateway.chains.get('tron')?.reader;
    return async () => await reader?.head(signal).catch((error: unknown) => error);
  }

  it('send no more in a day than the key has, all together, whatever each of them is for', async () => {
    const [one, other] = [await open('one'), await open('other')];
    for (let asked = 0; asked < 24; asked += 1) await Promise.all([one(), other()]);
    // A third one that starts knows nothing but what the database tells it.
    const third = await open('third');
    let last: unknown;
    for (let asked = 0; asked < 2 * PER_DAY && !(last instanceof BudgetSpent); asked += 1)
      last = await third();
    for (const ask of [one, other, third]) expect(await ask()).to.be.instanceOf(BudgetSpent);
    expect(node.requests.length).to.equal(PER_DAY);
  });
});
