import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../dev/support/live-chains.ts';
import { QUICK } from '../../dev/support/live-gateway.ts';
import type { LiveMoney } from '../../dev/support/live-money.ts';
import { waitingFor } from './support/deposits.ts';

const STEPS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];
const CONFIRMATIONS = 4;
/** What fixed prices of the tests make of a tenth of the coin. */
const A_10TH = { bsc: { units: 10n ** 17n, usd: 60 }, tron: { units: 10n ** 5n, usd: 0.03 } } as const;
const HASH = { bsc: /^0x[0-9a-f]{64}$/, tron: /^[0-9a-f]{64}$/ } as const;

/** One gateway that watches both chains; each case happens on both at the same time. */
describe('money on both chains', function () {
  this.timeout(90_000);
  let chains: LiveChains;
  let live: LiveMoney;

  before(async () => {
    const confirmations = String(CONFIRMATIONS);
    chains = await startLiveChains({
      settings: QUICK,
      env: { BSC_CONFIRMATIONS: confirmations, TRON_CONFIRMATIONS: confirmations },
    });
    live = chains.live;
  });
  after(async () => {
    await chains?.stop();
  });

  const onBoth = (work: (chain: LiveChain) => Promise<void>): Promise<unknown> =>
    Promise.all(
      [chains.bsc, chains.tron].map((chain) =>
        work(chain).catch((error: Error) => {
          error.message = `on ${chain.network}: ${error.message}`;
          throw error;
        }),
      ),
    );
  const told = (hash: string): string[] =>
    live.events().flatMap(({ event, data }) => (data['transaction_hash'] === hash ? event : []));
  const rowOf = async (hash: string) => (await live.deposits(hash))[0];
  const actorOf = ({ network, address, coin }: LiveChain, hash: string, currency: string = coin) => {
    const client = live.gateway.gateway.link?.client ?? expect.fail('no client');
    return client.workflow.getHandle(`deposit:${network}:${hash}:${address}:${currency}`);
  };
  const pay = (chain: LiveChain, coins: bigint) =>
    chain.pay({ currency: 'USDT', units: coins * chain.usdtUnit });
  const ledger = ({ network }: LiveChain) => live.ledger('USDT', network);
  const scannedTo = ({ network }: LiveChain, block: number) =>
    eventually(`block ${block} of ${network} scanned`, async () => {
      const scanned = 'select 1 from chain_cursors where network = ? and scanned_number >= ?';
      return (await live.gateway.deps.orm.em.fork().execute(scanned, [network, block])).length > 0;
    });
  const withoutBlock = (hash: string) =>
    eventually('the deposit without a block', async () => (await rowOf(hash))?.['block_hash'] === null);

  it('goes from the block to detected, confirming and completed, each told once and signed, and its actor ends', () =>
    onBoth(async (chain) => {
      const { network, usdtUnit, address, payer, contract } = chain;
      const hash = await pay(chain, 25n);
      expect(hash).to.match(HASH[network]);
      const block = await chain.mine();
      const detected = await live.eventOf('deposit.detected', hash);
      const { id } = detected;
      expect(detected).to.include({
        amount: '25',
        amount_raw: `${25n * usdtUnit}`,
        currency: 'USDT',
        network,
        address,
        from_address: payer,
        contract_address: contract,
        status: 'detected',
        sequence: 1,
        confirmations: 0,
        block_number: block,
        customer_id: live.customer.id,
        external_id: 'user-1',
        is_live: true,
        required_confirmations: CONFIRMATIONS,
      });
      await chain.mine(1);
      expect(await live.eventOf('deposit.confirming', hash)).to.include({
        status: 'confirming',
        sequence: 2,
        id,
      });
      await chain.finish();
      expect(await live.eventOf('deposit.completed', hash)).to.include({
        status: 'completed',
        sequence: 3,
        amount_usd: 25,
        id,
      });
      const end = await eventually('the end of the actor', async () => {
        const found = await actorOf(chain, hash, 'USDT').describe();
        return found.status.name === 'COMPLETED' && found;
      });
      expect(end.memo).to.include({ transaction_hash: hash, amount: '25 USDT' });
      expect(end.raw.workflowExecutionInfo?.priority?.fairnessKey).to.include(live.merchantId);
      expect(end.historyLength).to.be.at.most(45);
      expect(told(hash)).to.deep.equal(STEPS);
      expect(live.receiver.requests.filter(({ verified }) => !verified)).to.deep.equal([]);
      expect(await ledger(chain)).to.deep.equal({
        chain: -25n * usdtUnit,
        pending: 0n,
        available: 25n * usdtUnit,
      });
    }));

  it('is never credited before its block is final, however many confirmations it has', () =>
    onBoth(async (chain) => {
      const { coin, payer, network } = chain;
      const hash = await chain.pay({ currency: 'coin', units: A_10TH[network].units });
      await chain.mine(1);
      await live.eventOf('deposit.detected', hash);
      await chain.mine(CONFIRMATIONS + 1);
      await live.eventOf('deposit.confirming', hash);
      const reason = async () => (await waitingFor(actorOf(chain, hash))).reason;
      await eventually(
        'a look that finds every confirmation',
        async () => /is not final yet/.test(await reason()),
        45_000,
        reason,
      );
      expect(await rowOf(hash)).to.include({ status: 'confirming' });
      await chain.finish();
      expect(await live.eventOf('deposit.completed', hash)).to.include({
        currency: coin,
        amount: '0.1',
        amount_usd: A_10TH[network].usd,
        contract_address: null,
        from_address: payer,
      });
      expect(told(hash)).to.deep.equal(STEPS);
    }));

  it('is withdrawn once finality has passed where its block was replaced, and credited once when it is mined again', () =>
    onBoth(async (chain) => {
      const before = await ledger(chain);
      const hash = await pay(chain, 7n);
      await chain.mine(1);
      await scannedTo(chain, await chain.mine(2));
      await live.eventOf('deposit.confirming', hash);
      await chain.replace(3);
      await withoutBlock(hash);
      expect(await rowOf(hash)).to.include({ status: 'confirming' });
      await chain.finish();
      expect(await live.eventOf('deposit.failed', hash)).to.include({
        status: 'failed',
        failure_code: 'REORGED',
        block_hash: null,
      });
      expect(told(hash)).to.not.include('deposit.completed');
      expect(await ledger(chain)).to.deep.equal(before);
      await chain.again(hash);
      await chain.finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ amount: '7', status: 'completed', failure_code: null });
      expect(Number(completed['sequence'])).to.be.greaterThan(3);
      expect((await live.deposits(hash)).map((row) => row['generation'])).to.deep.equal([2]);
      const available = (before['available'] ?? 0n) + 7n * chain.usdtUnit;
      expect(await ledger(chain)).to.include({ available, pending: 0n });
    }));

  it('is bound to the block that its transaction moved to, and completed once', () =>
    onBoth(async (chain) => {
      const hash = await pay(chain, 5n);
      const first = await chain.mine(1);
      await scannedTo(chain, await chain.mine(2));
      await live.eventOf('deposit.detected', hash);
      await chain.replace(3, hash);
      await chain.mine(1);
      await chain.finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ amount: '5', block_number: first + 2 });
      expect(told(hash)).to.have.members(STEPS);
      expect(await live.deposits(hash)).to.have.length(1);
    }));

  it('is lost with a node of Tron that is restarted, and credited when it is sent again', async () => {
    const { tron, node } = chains;
    // The token is deeper than what a restart loses.
    await tron.finish();
    const available = (await ledger(tron))['available'] ?? 0n;
    const hash = await pay(tron, 17n);
    await tron.mine(1);
    await live.eventOf('deposit.detected', hash);
    await node.restart();
    await tron.mine(1);
    await withoutBlock(hash);
    await tron.again(hash);
    await tron.finish();
    // The head stands where it stood before, or lower: what is final is asked for later than usual.
    await tron.finish();
    expect(await live.eventOf('deposit.completed', hash)).to.include({ amount: '17', failure_code: null });
    expect(told(hash)).to.have.members(STEPS);
    expect((await ledger(tron))['available']).to.equal(available + 17n * tron.usdtUnit);
  });
});
