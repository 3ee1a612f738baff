import { defaultPayloadConverter } from '@temporalio/common';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../../dev/support/fault-proxy.ts';
import { type LiveChains, startLiveChains } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';

/**
 * What each chain is asked in a second, what may go out at once after a quiet time, and how many blocks take
 * some heartbeats at that rate: one of Tron that holds nothing is read with twenty others.
 */
const PACES = {
  tron: { perSecond: 40, burst: 0, blocks: 400 },
  bsc: { perSecond: 100, burst: 50, blocks: 900 },
} as const;
const STRANGER = keyOfHex('5e'.repeat(20));

describe('an outage of minutes', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let live: LiveMoney;
  let proxy: FaultProxy;
  const asked = { bsc: [] as number[], tron: [] as number[] };

  before(async () => {
    proxy = await startFaultProxy('http://127.0.0.1:1');
    chains = await startLiveChains({
      env: {
        BSC_RPC_REQUESTS_PER_SECOND: String(PACES.bsc.perSecond),
        TRON_REQUESTS_PER_SECOND: String(PACES.tron.perSecond),
      },
      rpcUrls: (chain) => {
        proxy.target = chain.url;
        return proxy.url;
      },
    });
    live = chains.live;
    const note = (network: 'bsc' | 'tron') => () => {
      asked[network].push(performance.now());
      return undefined;
    };
    proxy.fault = note('bsc');
    chains.node.fault = note('tron');
    // Blocks that are made by hand are older than the customer: the first one is chosen before they hold
    // anything.
    for (const network of ['bsc', 'tron']) await scannedTo(network, 0);
  });
  after(async () => {
    await chains?.stop();
    await proxy?.stop();
  });

  const scannedTo = async (network: string, block: number) =>
    await eventually(
      `block ${block} of ${network} scanned`,
      async () => {
        const rows = await live.gateway.deps.orm.em
          .fork()
          .execute('select 1 from chain_cursors where network = ? and scanned_number >= ?', [network, block]);
        return rows.length > 0;
      },
      60_000,
    );
  /** Blocks that nobody here has to do with, and that hold something all the same. */
  const others = {
    bsc: async (blocks: number) => void (await live.chain.mine(blocks)),
    tron: async (blocks: number) => {
      for (let made = 0; made < blocks; made += 1) {
        await chains.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
        await chains.node.mine(1, 1_000);
      }
    },
  };

  for (const network of ['tron', 'bsc'] as const)
    it(`is caught up with on ${network} while the heartbeat shows blocks, rate and time left, and no more is asked than the operator allows`, async () => {
      const { perSecond, burst, blocks } = PACES[network];
      const chain = chains[network];
      const pay = (coins: bigint) => chain.pay({ currency: 'USDT', units: coins * chain.usdtUnit });
      await live.gateway.stopWorker();
      const early = await pay(2n);
      await chain.mine();
      await others[network](blocks);
      const late = await pay(3n);
      const head = await chain.mine(10);
      asked[network].length = 0;
      await live.gateway.startWorker();
      const watcher = live.gateway.gateway.link?.client.workflow.getHandle(`chain:${network}`);
      const seen = await eventually(
        'a heartbeat of the catch-up',
        async () => {
          const [activity] = (await watcher?.describe())?.raw.pendingActivities ?? [];
          const [details] = activity?.heartbeatDetails?.payloads ?? [];
          const text = details ? defaultPayloadConverter.fromPayload<string>(details) : '';
          // Before its first block is read, nothing can be said of a rate.
          return text.includes(`head ${head}, `) && text.endsWith(' left') && text;
        },
        30_000,
      );
      const shape =
        /^scanned (\d+), head (\d+), final \d+, (?:read twice up to \d+|nothing read twice yet); (\d+) blocks since the start, (\d+) to go at (\d+\.\d) blocks\/s, about \d+ (s|min) left$/;
      const [, scanned, shownHead, done, left, rate] = shape.exec(seen) ?? [];
      expect(seen).to.match(shape);
      expect(Number(shownHead)).to.equal(head);
      expect(Number(left)).to.equal(head - Number(scanned));
      expect(Number(done)).to.be.above(0);
      expect(Number(rate)).to.be.within(1, perSecond * 1.5);
      await live.eventOf('deposit.completed', early, 60_000);
      await live.eventOf('deposit.detected', late, 60_000);
      await scannedTo(network, head);
      const most = Math.max(
        ...asked[network].map(
          (at) => asked[network].filter((other) => other >= at && other < at + 1_000).length,
        ),
      );
      // One second of the budget, what may go out at once, and what the network moved together.
      expect(most).to.be.at.most(perSecond + burst + 5);
    });
});
