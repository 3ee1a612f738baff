import { expect } from 'chai';
import { eventually } from '../../dev/support/eventually.ts';
import {
  LIVE_CONFIRMATIONS,
  type LiveChain,
  type LiveChains,
  startLiveChains,
} from '../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../dev/support/live-money.ts';

const STEPS = ['deposit.detected', 'deposit.confirming', 'deposit.completed'];
/** What fixed prices of the tests make of a tenth of the coin. */
const COIN_USD = { bsc: 60, tron: 0.03 } as const;
const HASH = { bsc: /^0x[0-9a-f]{64}$/, tron: /^[0-9a-f]{64}$/ } as const;

describe('a live deposit', function () {
  this.timeout(60_000);
  let chains: LiveChains;
  let live: LiveMoney;

  before(async () => {
    chains = await startLiveChains();
    live = chains.live;
  });
  after(async () => {
    await chains?.stop();
  });

  const told = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);

  for (const network of ['bsc', 'tron'] as const) {
    const on = (): LiveChain => chains[network];
    const a10th = (): bigint => (network === 'bsc' ? 10n ** 17n : 10n ** 5n);

    it(`on ${network} goes from the block to detected, confirming and completed, each announced once and signed`, async () => {
      const { usdtUnit, address, payer, contract } = on();
      const hash = await on().pay({ currency: 'USDT', units: 25n * usdtUnit });
      expect(hash).to.match(HASH[network]);
      const block = await on().mine();
      const detected = await live.eventOf('deposit.detected', hash);
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
      });
      expect(detected).to.include({
        block_number: block,
        customer_id: live.customer.id,
        external_id: 'user-1',
        is_live: true,
        required_confirmations: LIVE_CONFIRMATIONS,
      });
      await on().mine(1);
      const confirming = await live.eventOf('deposit.confirming', hash);
      expect(confirming).to.include({ status: 'confirming', sequence: 2, id: detected['id'] });
      await on().finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ status: 'completed', sequence: 3, amount_usd: 25, id: detected['id'] });
      expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
      expect(told(hash)).to.deep.equal(STEPS);
      expect(await live.ledger('USDT', network)).to.deep.equal({
        chain: -25n * usdtUnit,
        pending: 0n,
        available: 25n * usdtUnit,
      });
    });

    it(`on ${network} is never credited before the block is final, however many confirmations it has`, async () => {
      const { coin, payer } = on();
      const hash = await on().pay({ currency: 'coin', units: a10th() });
      await on().mine(1);
      await live.eventOf('deposit.detected', hash);
      await on().mine(LIVE_CONFIRMATIONS + 1);
      await live.eventOf('deposit.confirming', hash);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect((await live.deposits(hash))[0]).to.include({ status: 'confirming' });
      await on().finish();
      const completed = await live.eventOf('deposit.completed', hash);
      expect(completed).to.include({ currency: coin, amount: '0.1', amount_usd: COIN_USD[network] });
      expect(completed).to.include({ contract_address: null, from_address: payer });
      expect(told(hash)).to.deep.equal(STEPS);
    });

    it(`on ${network} shows its stage to operators and ends its actor when it is completed`, async () => {
      const { usdtUnit, address } = on();
      const hash = await on().pay({ currency: 'USDT', units: usdtUnit });
      await on().finish();
      await live.eventOf('deposit.completed', hash);
      const handle = live.gateway.gateway.link?.client.workflow.getHandle(
        `deposit:${network}:${hash}:${address}:USDT`,
      );
      const end = await eventually('the end of the actor', async () => {
        const description = await handle?.describe();
        return description?.status.name === 'COMPLETED' && description;
      });
      expect(end.memo).to.include({ transaction_hash: hash, amount: '1 USDT' });
      expect(end.historyLength).to.be.at.most(45);
    });
  }
});
