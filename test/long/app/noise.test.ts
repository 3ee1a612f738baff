import { expect } from 'chai';
import { startTestChain, type TestChain } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { ownPostgres, ownTemporal } from '../../../dev/support/parts.ts';
import { migrate } from '../../../src/app/migrate.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';

const AWAY_MS = 22_000;
type Line = { level: string; time: string; component?: string; msg: string; err?: unknown };

/** A worker as it is shipped, and each of the parts that it needs taken away from it. */
describe('what a worker says of an outage', function () {
  this.timeout(240_000);
  let postgres: Awaited<ReturnType<typeof ownPostgres>>;
  let temporal: Awaited<ReturnType<typeof ownTemporal>>;
  let chain: TestChain;
  let rpc: FaultProxy;
  let worker: GatewayChild;
  let mining: NodeJS.Timeout;

  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const lines = (): Line[] =>
    worker
      .log()
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as Line);
  const loud = (from: number): Line[] =>
    lines()
      .slice(from)
      .filter(({ level }) => level !== 'info' && level !== 'debug');

  /** An outage within a minute of what was said of the last one says nothing before that is over. */
  const aMinuteAfter = async (words: RegExp): Promise<void> => {
    const said = lines().findLast(({ msg }) => words.test(msg));
    const quietFor = said ? Date.now() - Date.parse(said.time) : Number.POSITIVE_INFINITY;
    await sleep(Math.max(5_000, 61_000 - quietFor));
  };

  /** Two lines at most beside what is said of an endpoint: the beginning and the end; nothing has a stack. */
  const judge = async (name: RegExp, cut: () => Promise<void>, mend: () => Promise<unknown>, besides = 0) => {
    const from = lines().length;
    await cut();
    await sleep(AWAY_MS);
    const during = loud(from);
    await mend();
    await eventually(
      `the end of the outage`,
      () =>
        lines()
          .slice(from)
          .some(({ msg }) => / answers? again after \d+ s$/.test(msg) && name.test(msg)),
      30_000,
    );
    await sleep(3_000);
    const told = `\n${lines()
      .slice(from)
      .map((line) => JSON.stringify(line))
      .join('\n')}`;
    expect(
      during.filter(({ msg }) => /^waiting for/.test(msg) && name.test(msg)),
      told,
    ).to.have.length(1);
    expect(loud(from).length, told).to.be.at.most(1 + besides);
    expect(
      loud(from).filter(({ err }) => err !== undefined),
      told,
    ).to.deep.equal([]);
    expect(
      lines()
        .slice(from)
        .filter(({ msg }) => / again after /.test(msg)),
      told,
    ).to.have.length(1);
  };

  before(async () => {
    [postgres, temporal, chain] = await Promise.all([
      ownPostgres(),
      ownTemporal(),
      startTestChain({ slotsInAnEpoch: 2 }),
    ]);
    rpc = await startFaultProxy(chain.url);
    mining = setInterval(() => void chain.mine().catch(() => undefined), 1_000);
    const orm = await openOrm({
      url: postgres.now.url,
      poolSize: 2,
      applicationName: 'test',
      statementTimeoutMs: 0,
    });
    await migrate(orm).finally(() => orm.close(true));
  });
  after(async () => {
    clearInterval(mining);
    await worker?.child.kill();
    await rpc?.stop();
    await chain?.stop();
    await temporal?.stop();
    await postgres?.stop();
  });

  it('at its start: one line that names Temporal and its address, until it is there', async () => {
    const { port } = temporal.now;
    await temporal.stop();
    const starting = startGatewayChild(
      {
        DATABASE_URL: postgres.now.url,
        TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        BSC_RPC_URLS: rpc.url,
        BSC_USDT_CONTRACT: chain.usdt.address,
        BSC_CHAIN_ID: '56',
      },
      'worker',
    );
    await sleep(12_000);
    await temporal.start();
    worker = await starting;
    await eventually(
      'the end of the outage',
      () => lines().some(({ msg }) => /^Temporal at .* answers again after/.test(msg)),
      30_000,
    );
    const said = loud(0).filter(({ component }) => component !== 'config');
    const told = said.map((line) => JSON.stringify(line)).join('\n');
    const waiting = said.filter(({ msg }) => msg.startsWith(`waiting for Temporal at 127.0.0.1:${port}: `));
    expect(waiting, told).to.have.length(1);
    expect(
      said.filter(({ err }) => err !== undefined),
      told,
    ).to.deep.equal([]);
    await sleep(5_000);
  });

  it('names in each line the part once, and warns of nothing that is as it is meant to be', () => {
    const log = worker.log();
    const twice = log.split('\n').filter((line) => line.split('"component":').length > 2);
    expect(twice).to.deep.equal([]);
    expect(log).not.to.match(/no workflows registered/i);
  });

  it('of PostgreSQL', async () => {
    await judge(
      /PostgreSQL at 127/,
      () => postgres.stop(),
      () => postgres.start(),
    );
  });

  it('of the RPC endpoints, beside what becomes of each endpoint', async () => {
    await sleep(5_000);
    await judge(
      /RPC endpoints of bsc/,
      async () => {
        rpc.fault = () => 'reset';
      },
      async () => {
        rpc.fault = undefined;
      },
      2,
    );
  });

  it('of Temporal', async () => {
    await aMinuteAfter(/waiting for Temporal/);
    await judge(
      /Temporal at 127/,
      () => temporal.stop(),
      () => temporal.start(),
    );
  });
});
