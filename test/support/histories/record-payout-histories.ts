// Records the histories of what pays out an address, and of a deposit that waits for it:
// `npm run histories payouts`.

import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { normaliseAddress } from '../../../src/chains/addresses.ts';
import { updateMerchant } from '../../../src/services/merchants/merchants.ts';
import { retryPayout } from '../../../src/services/payouts/decisions.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { startLiveSigner } from '../live-signer.ts';

/** Nobody's: the signer pays no wallet of its own phrase. */
const DESTINATION = normaliseAddress('bsc', `0x${'d1'.repeat(20)}`) ?? '';
const COIN_UNITS = 5n * 10n ** 17n;
const BLOCK_EVERY_MS = 500;

/** Stores the history of an actor under a type and a name once it has ended. */
type Store = (live: LiveMoney, type: string, scenario: string, workflowId: string) => Promise<void>;

/** A coin that was paid and completed; the chain goes on by itself. Returns its deposit's id and address. */
async function paid(live: LiveMoney): Promise<{ hash: string; address: string }> {
  const { address } = await live.newCustomer();
  const hash = await live.chain.send({ to: address, valueUnits: COIN_UNITS });
  await live.eventOf('deposit.completed', hash);
  return { hash, address };
}

async function waitsForOperator(live: LiveMoney, address: string): Promise<void> {
  const handle = live.gateway.gateway.link?.client.workflow.getHandle(`settlement:bsc:${address.slice(2)}`);
  await eventually(
    'the alarm',
    async () => {
      const run = await handle?.describe().catch(() => undefined);
      return run?.searchAttributes['NeedsOperator']?.[0] === true;
    },
    60_000,
  );
}

async function started({ gateway }: LiveMoney, workflowId: string): Promise<void> {
  await eventually(
    `${workflowId} runs`,
    async () => {
      const handle = gateway.gateway.link?.client.workflow.getHandle(workflowId);
      return (await handle?.describe().catch(() => undefined)) !== undefined;
    },
    60_000,
  );
}

/** A person tries it again, pauses and lets go on, and somebody types what nobody has decided. */
async function decideAbout({ gateway, merchantId }: LiveMoney, address: string): Promise<void> {
  const deps = { ...gateway.deps, actor: { kind: 'operator', name: 'Ann', from: null } as const };
  const send = async (update: string, reason: string): Promise<unknown> =>
    await gateway.gateway.link?.client.workflow
      .getHandle(`settlement:bsc:${address.slice(2)}`)
      .executeUpdate(update, { args: [{ by: 'Ann', reason }] })
      .catch((error: unknown) => error);
  await send('resume', 'nobody decided it');
  await retryPayout(deps, { id: normaliseAddress('bsc', address) ?? '', reason: 'again' });
  await send('retry', 'again');
  for (const paused of [true, false]) {
    await setPaused(deps, { merchantId, paused, reason: 'a drill' });
    await send(paused ? 'pause' : 'resume', 'a drill');
  }
}

/** Runs every scenario on servers of its own. */
export async function recordPayoutHistories(store: Store): Promise<void> {
  const live = await startLiveMoney({ settings: { stuckAfterMs: 5_000 } });
  const ticks = () => setInterval(() => void live.chain.mine().catch(() => undefined), BLOCK_EVERY_MS);
  let clock = ticks();
  let signer: Awaited<ReturnType<typeof startLiveSigner>> | undefined;
  try {
    await updateMerchant(live.gateway.deps, {
      merchantId: live.merchantId,
      withdraw: { bsc: DESTINATION },
    });
    // Nobody signs at first, until a person is called.
    const late = await paid(live);
    await waitsForOperator(live, late.address);
    const decided = await paid(live);
    await waitsForOperator(live, decided.address);
    await decideAbout(live, decided.address);
    signer = await startLiveSigner(live);
    const soon = await paid(live);
    for (const { hash } of [late, decided, soon]) await live.eventOf('deposit.settled', hash, 120_000);
    const key = ({ address }: typeof late): string => address.slice(2);
    await store(live, 'settlement', 'settled', `settlement:bsc:${key(soon)}`);
    await store(live, 'settlement', 'needs-operator-then-settled', `settlement:bsc:${key(late)}`);
    await store(live, 'settlement', 'decided-then-settled', `settlement:bsc:${key(decided)}`);
    // No block comes once its transaction is sent, for longer than a wallet waits.
    const slow = await paid(live);
    clearInterval(clock);
    await started(live, `wallet:bsc:${key(slow)}`);
    clock = ticks();
    await live.eventOf('deposit.settled', slow.hash, 120_000);
    await store(live, 'wallet', 'sent-again-then-mined', `wallet:bsc:${key(slow)}`);
    const [row] = await live.deposits(soon.hash);
    await store(live, 'deposit', 'settled', `deposit:bsc:${soon.hash}:${String(row?.['address'])}:BNB`);
  } finally {
    clearInterval(clock);
    await signer?.stop();
    await live.stop();
  }
}
