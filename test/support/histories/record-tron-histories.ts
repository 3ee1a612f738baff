// Records the histories of deposits on Tron: `npm run histories tron`.

import { type LiveChains, startLiveChains } from '../../../dev/support/live-chains.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';

/** Stores the history of a deposit's actor under a name once it has ended. */
type Store = (live: LiveMoney, scenario: string, transactionHash: string) => Promise<void>;

async function completed({ live, tron }: LiveChains, store: Store): Promise<void> {
  const hash = await tron.pay({ currency: 'USDT', units: 25n * tron.usdtUnit });
  for (const event of ['deposit.detected', 'deposit.confirming']) {
    await tron.mine(1);
    await live.eventOf(event, hash);
  }
  await tron.finish();
  await live.eventOf('deposit.completed', hash);
  await store(live, 'tron-completed', hash);
}

async function failedByReorg({ live, tron }: LiveChains, store: Store): Promise<void> {
  const hash = await tron.pay({ currency: 'coin', units: 1_500_000n });
  await tron.mine(1);
  await live.eventOf('deposit.detected', hash);
  await tron.replace(1);
  await tron.finish();
  await live.eventOf('deposit.failed', hash);
  await store(live, 'tron-failed-by-reorg', hash);
}

/** Runs every scenario on servers of its own. */
export async function recordTronHistories(store: Store): Promise<void> {
  const chains = await startLiveChains();
  await completed(chains, store);
  await failedByReorg(chains, store);
  await chains.stop();
}
