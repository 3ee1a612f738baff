// What tests of a watched chain ask of its database, and what they have it do, on either chain.
import { type Contract, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { rescan } from '../../../src/services/watcher/rescan.ts';
import type { WatchedChain } from '../../../src/services/watcher/watched-chain.ts';
import { type Row, startTestWatcher, type TestWatcher, type TestWatcherOptions } from './test-watcher.ts';

type Asked = Pick<TestWatcher, 'rows'>;
type Watching = Asked & { readonly deps: Deps; readonly watchedChain: WatchedChain };

const { signal } = new AbortController();

/** Whatever is there when it is used: for tests whose parts are started later. */
export const standIn = <T extends object>(now: () => T | undefined): T =>
  new Proxy({} as T, { get: (_, name) => now()?.[name as keyof T] });

/**
 * A watcher of BNB Chain for the tests of the block in which it is called, and a contract with money: started
 * and caught up before the first of them, healed and restarted before each, stopped after the last.
 */
export function bscStage(options?: TestWatcherOptions): { live: TestWatcher; payer: Contract } {
  let live: TestWatcher | undefined;
  let payer: Contract | undefined;
  before(async () => {
    live = await startTestWatcher(options);
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await live.finish();
  });
  beforeEach(() => {
    if (!live) return;
    for (const proxy of [live.proxy, ...live.others]) proxy.fault = undefined;
    live.restart();
  });
  after(() => live?.stop());
  return { live: standIn(() => live), payer: standIn(() => payer) };
}

/** The row that says how far the chain was read. */
export const cursorOf = async ({ rows }: Asked): Promise<Row> =>
  (await rows('select * from chain_cursors'))[0] ?? {};

/** Up to which height it was read twice. */
export const verifiedOf = async (live: Asked): Promise<number> =>
  Number((await cursorOf(live))['verified_number']);

/** The deposit of a transaction; nothing where there is none. */
export const depositOf = async ({ rows }: Asked, txHash: string): Promise<Row> =>
  (await rows('select * from deposits where transaction_hash = ?', [txHash]))[0] ?? {};

/** What the ledger says of an address, by account; nothing where that is zero. */
export async function ledgerOf({ rows }: Asked, address: string): Promise<Record<string, bigint>> {
  const sums = await rows(
    `select e.account, sum(e.amount_units)::text as sum from ledger_entries e
     join ledger_transactions t on t.id = e.transaction_id join deposits d on d.id = t.deposit_id
     where d.address_key = ? group by e.account having sum(e.amount_units) <> 0`,
    [address.replace(/^0x/, '')],
  );
  return Object.fromEntries(sums.map(({ account, sum }) => [String(account), BigInt(String(sum))]));
}

/** Reads blocks again, as an operator's command does. */
export const readAgain = ({ deps, watchedChain }: Watching, from: number, to = from) =>
  rescan(deps, watchedChain, { from, to, signal, progress: () => undefined });

/** The amounts that a claim recorded, or why it was refused. */
export const claimed = ({ deps, watchedChain }: Watching, txHash: string): Promise<bigint[] | string> =>
  claimTransaction(deps, watchedChain, { txHash, signal }).then(
    ({ deposits }) => deposits.map(({ amountUnits }) => amountUnits),
    (error: Error) => error.message,
  );

/** Takes every step of a deposit that the chain permits: its state at the end, or why it waits. */
export async function advancedTo(deps: Deps, depositId: unknown): Promise<string> {
  for (;;) {
    const step = await advanceDeposit(deps, { depositId: String(depositId), alarmed: false });
    if (step.kind === 'wait') return step.reason;
    if (step.state === 'completed' || step.state === 'failed') return step.state;
  }
}
