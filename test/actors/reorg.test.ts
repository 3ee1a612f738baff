import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveChain, type LiveChains, startLiveChains } from '../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../dev/support/live-money.ts';

/** Blocks that are replaced before they are final, on either chain. */
describe('a chain that replaces blocks', function () {
  this.timeout(90_000);
  let chains: LiveChains;
  let live: LiveMoney;

  before(async () => {
    chains = await startLiveChains({ env: { BSC_CONFIRMATIONS: '4', TRON_CONFIRMATIONS: '4' } });
    live = chains.live;
  });
  after(async () => {
    await chains?.stop();
  });

  const rowOf = async (hash: string) => (await live.deposits(hash))[0];
  const eventsOf = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);

  for (const network of ['bsc', 'tron'] as const) {
    const on = (): LiveChain => chains[network];
    const pay = (coins: bigint) => on().pay({ currency: 'USDT', units: coins * on().usdtUnit });
    const ledger = () => live.ledger('USDT', network);
    const scannedTo = (block: number) =>
      eventually(`block ${block} scanned`, async () => {
        const [cursor] = await live.gateway.deps.orm.em
          .fork()
          .execute<{ scanned_number: string }[]>(
            'select scanned_number from chain_cursors where network = ?',
            [network],
          );
        return Number(cursor?.scanned_number) >= block;
      });

    it(`on ${network} withdraws a deposit whose transaction is in no block any more, once finality has passed`, async () => {
      const before = await ledger();
      const hash = await pay(3n);
      await on().mine(1);
      await scannedTo(await on().mine(2));
      await live.eventOf('deposit.confirming', hash);
      await on().replace(3);
      await eventually(
        'the deposit without a block',
        async () => (await rowOf(hash))?.['block_hash'] === null,
      );
      expect(await rowOf(hash)).to.include({ status: 'confirming' });
      await on().finish();
      const failed = await live.eventOf('deposit.failed', hash);
      expect(failed).to.include({ status: 'failed', failure_code: 'REORGED', block_hash: null });
      expect(eventsOf(hash)).to.not.include('deposit.completed');
      const after = await ledger();
      expect(after['pending']).to.equal(before['pending'] ?? 0n);
      expect(after['chain']).to.equal(before['chain'] ?? 0n);
    });

    it(`on ${network} binds a deposit to the block its transaction moved to, and completes it once`, async () => {
      const hash = await pay(5n);
      const first = await on().mine(1);
      await scannedTo(await on().mine(2));
      await live.eventOf('deposit.detected', hash);
      await on().replace(3, hash);
      await on().mine(1);
      await eventually('the new block', async () => {
        const row = await rowOf(hash);
        return row?.['block_hash'] !== null && Number(row?.['block_number']) === first + 2;
      });
      await on().finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ amount: '5', block_number: first + 2 });
      expect(eventsOf(hash).filter((name) => name === 'deposit.completed')).to.have.length(1);
      expect(eventsOf(hash)).to.not.include('deposit.failed');
      expect(await live.deposits(hash)).to.have.length(1);
    });

    it(`on ${network} begins a new generation when the transaction is mined again after it had failed`, async () => {
      const available = (await ledger())['available'] ?? 0n;
      const hash = await pay(7n);
      await on().mine(1);
      await live.eventOf('deposit.detected', hash);
      await scannedTo(await on().mine(2));
      await on().replace(3);
      await on().finish();
      await live.eventOf('deposit.failed', hash);
      await on().again(hash);
      await on().finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ amount: '7', status: 'completed', failure_code: null });
      expect(Number(completed['sequence'])).to.be.greaterThan(3);
      expect(await rowOf(hash)).to.include({ generation: 2 });
      expect(await live.deposits(hash)).to.have.length(1);
      expect((await ledger())['available']).to.equal(available + 7n * on().usdtUnit);
      expect((await ledger())['pending']).to.equal(0n);
    });

    it(`on ${network} is followed across a restart of the worker in the middle of it`, async () => {
      const available = (await ledger())['available'] ?? 0n;
      const gone = await pay(11n);
      await on().mine(1);
      await live.eventOf('deposit.detected', gone);
      await live.gateway.stopWorker();
      await on().replace(1);
      const stays = await pay(13n);
      await on().finish();
      await live.gateway.startWorker();
      await live.eventOf('deposit.failed', gone, 40_000);
      await live.eventOf('deposit.completed', stays, 40_000);
      expect((await ledger())['available']).to.equal(available + 13n * on().usdtUnit);
    });
  }

  it('loses a payment with a node of Tron that is restarted, and credits it when it is sent again', async () => {
    const { tron, node } = chains;
    // The token is deeper than what a restart loses.
    await tron.finish();
    const available = (await live.ledger('USDT', 'tron'))['available'] ?? 0n;
    const hash = await tron.pay({ currency: 'USDT', units: 17n * tron.usdtUnit });
    await tron.mine(1);
    await live.eventOf('deposit.detected', hash);
    await node.restart();
    await tron.mine(1);
    await eventually('the deposit without a block', async () => (await rowOf(hash))?.['block_hash'] === null);
    await tron.again(hash);
    await tron.finish();
    // The head stands where it stood before, or lower: what is final is asked for later than usual.
    await tron.finish();
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({ amount: '17', failure_code: null });
    expect(eventsOf(hash)).to.have.members(['deposit.detected', 'deposit.confirming', 'deposit.completed']);
    expect((await live.ledger('USDT', 'tron'))['available']).to.equal(available + 17n * tron.usdtUnit);
  });
});
