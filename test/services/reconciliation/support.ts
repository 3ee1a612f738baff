import type { Contract } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import type { Deps } from '../../../src/services/deps.ts';
import type { Row, TestWatcher } from '../watcher/test-watcher.ts';

const COIN = 10n ** 18n;
const KEPT_BLOCKS = 4;

/** An RPC endpoint that has no balances of the past: only the newest blocks can be asked for. */
export function forgetful(live: () => TestWatcher): Fault {
  return async (call) => {
    const asked = call.method === 'eth_getBalance' || call.method === 'eth_call' ? call.params[1] : undefined;
    if (typeof asked !== 'string' || !asked.startsWith('0x')) return undefined;
    const head = Number(await live().chain.anvil.rpc('eth_blockNumber'));
    if (Number(asked) >= head - KEPT_BLOCKS) return undefined;
    const message = 'missing trie node 0xabc (path ) state 0xdef is not available';
    return { json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message } } };
  };
}

/** An RPC endpoint whose traces show half of each amount. */
export const halvingTraces: Fault = async (call, forward) => {
  if (!/trace/.test(call.method)) return undefined;
  const shown = JSON.stringify(await forward()).replace(
    /"value":"0x([0-9a-f]+)"/g,
    (_, hex) => `"value":"0x${(BigInt(`0x${hex}`) / 2n).toString(16)}"`,
  );
  return { json: JSON.parse(shown) };
};

/** A contract with coins of its own, which pays in ways that no transfer shows. */
export async function fundedPayer({ chain }: TestWatcher): Promise<Contract> {
  const payer = await chain.deploy(testContracts().Payer);
  await chain.send({ to: payer.address, valueUnits: 100n * COIN });
  await chain.mine();
  return payer;
}

/** With a price of BNB, for which a deposit waits before it is completed. */
export function priced(deps: Deps): Deps {
  const price = { usd8: 600n * 10n ** 8n, source: 'test', at: new Date(), stale: false };
  return { ...deps, prices: { price: () => Promise.resolve(price) } };
}

/** What is noted of a balance that does not agree with the ledger. */
export async function differencesAt(live: TestWatcher, address: string): Promise<Row[]> {
  return await live.rows('select * from balance_differences where address_key = ?', [address.slice(2)]);
}

/** What was set aside that came to an address. */
export async function asideAt(live: TestWatcher, address: string): Promise<Row[]> {
  return await live.rows('select * from unrecognised_transfers where address_key = ?', [address.slice(2)]);
}

/** Takes away all that is known of a transaction's deposits, as if no read had ever shown them. */
export async function forgetDeposit(live: Pick<TestWatcher, 'rows'>, txHash: string): Promise<void> {
  const deposits = '(select id from deposits where transaction_hash = ?)';
  const postings = `(select id from ledger_transactions where deposit_id in ${deposits})`;
  const guarded = ['ledger_entries', 'ledger_transactions', 'deposit_transitions', 'events'];
  await live.rows(`alter table deposits disable trigger deposits_guard`);
  for (const table of guarded) await live.rows(`alter table ${table} disable trigger user`);
  await live.rows(`delete from ledger_entries where transaction_id in ${postings}`, [txHash]);
  await live.rows(`delete from ledger_transactions where deposit_id in ${deposits}`, [txHash]);
  await live.rows(`delete from deposit_transitions where deposit_id in ${deposits}`, [txHash]);
  await live.rows(`delete from events where subject_id in ${deposits}`, [txHash]);
  await live.rows('delete from deposits where transaction_hash = ?', [txHash]);
  for (const table of ['deposits', ...guarded]) await live.rows(`alter table ${table} enable trigger all`);
}
