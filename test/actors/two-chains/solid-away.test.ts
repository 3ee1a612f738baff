import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveChains, startLiveChains, tronEnv } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { ANSWERS, empty, when } from '../../../dev/tron/faults.ts';
import type { TronFault } from '../../../dev/tron/http/endpoint.ts';
import { call } from '../../support/gateway.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { type ExpectedDeposit, expectWhole, isQuiet } from '../../support/whole.ts';

const BLOCK_EVERY_MS = 300;
const NAMED_WITHIN_MS = 40_000;

/** What `walletsolidity` answers while `wallet` answers as ever, and what operators read of it. */
const AWAY = {
  '503': [() => ANSWERS.unavailable, /http 503/],
  '404': [() => ({ status: 404, body: '<h2>HTTP ERROR 404</h2>' }), /http 404 .*TRON_SOLIDITY_URLS/],
  '{}': [empty, /no endpoint of tron has a solidified block yet/],
} as const satisfies Readonly<Record<string, readonly [fault: TronFault, reason: RegExp]>>;

/** The view of what nothing can replace any more, which decides what is credited, is away by itself. */
describe('a gateway whose node of Tron does not serve the final view', function () {
  this.timeout(240_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let child: GatewayChild | undefined;
  const paid: ExpectedDeposit[] = [];

  before(async () => {
    chains = await startLiveChains({
      // What the test takes away would be logged as errors.
      env: { LOG_LEVEL: 'fatal' },
      tron: { blockTimeMs: BLOCK_EVERY_MS },
      apiUrl: (node) => {
        away(AWAY['404'][0], node);
        return node.url;
      },
    });
    live = chains.live;
    // Only the child works; the gateway of this process is kept for its services.
    await live.gateway.stopWorker();
  });
  afterEach(() => heal());
  after(async () => {
    await child?.child.kill();
    await chains?.stop();
  });

  const away = (fault: TronFault, node = chains.node): void => {
    node.fault = when(({ view }) => view === 'walletsolidity', fault);
  };
  const heal = (): void => {
    chains.node.fault = undefined;
  };
  async function start(): Promise<void> {
    await child?.child.kill();
    const env = { DATABASE_URL: live.databaseUrl, TEMPORAL_ADDRESS: live.temporal.now.address };
    child = await startGatewayChild({ ...env, DUST_FLOOR: 'none', ...tronEnv(chains.node) });
  }
  const ready = () => call(`${child?.ops}/health/ready`);
  const isReady = () => eventually('readiness', async () => (await ready()).status === 200, NAMED_WITHIN_MS);
  async function named(reason: RegExp): Promise<void> {
    await eventually(
      `readiness with ${reason}`,
      async () => {
        const { status, body } = await ready();
        return status === 503 && reason.test((body['reasons'] as string[]).join());
      },
      NAMED_WITHIN_MS,
    );
  }
  async function pay(): Promise<string> {
    const amountUnits = BigInt(paid.length + 1) * 1_000_000n;
    const transactionHash = await chains.tron.pay({ currency: 'USDT', units: amountUnits });
    paid.push({ transactionHash, amountUnits });
    return transactionHash;
  }
  const credited = async () => (await live.ledger('USDT', 'tron'))['available'] ?? 0n;
  async function expectAllOnce(): Promise<void> {
    await eventually('the end of every deposit', () => isQuiet(live.gateway.deps, paid), 90_000);
    await expectWhole(live.gateway.deps, live.receiver.requests, paid);
  }
  /** So many blocks that everything before would be final where somebody said so. */
  const blocksGoBy = async (): Promise<void> => {
    const solid = chains.node.solidHeight();
    await eventually('blocks', () => chains.node.solidHeight() >= solid + 20);
  };

  it('starts over an empty database, says why nothing is read, and begins by itself', async () => {
    await start();
    await named(/tron was never read/);
    expect(child?.log()).to.match(/http 404 .*TRON_SOLIDITY_URLS/);
    await pay();
    await blocksGoBy();
    expect(await live.deposits()).to.deep.equal([]);
    heal();
    await expectAllOnce();
    await isReady();
  });

  for (const [answer, [fault, reason]] of Object.entries(AWAY))
    it(`credits nothing while it runs and after a start, says so, and completes everything afterwards: ${answer}`, async () => {
      const said = new RegExp(`tron was not read for .*${reason.source}`);
      await isReady();
      const before = await credited();
      away(fault);
      await pay();
      await named(said);
      await blocksGoBy();
      expect(await credited(), 'credited while nobody says what is final').to.equal(before);

      await start();
      await named(said);
      await pay();
      await blocksGoBy();
      expect(await credited(), 'credited after a start').to.equal(before);

      heal();
      await expectAllOnce();
      await isReady();
    });
});
