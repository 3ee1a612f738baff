// What tests of a watched Tron do again and again.
import type { TronEndpoint } from '../../../../dev/tron/http/endpoint.ts';
import type { Payment } from '../../../../dev/tron/node.ts';
import type { Gateway } from '../../../../src/app/compose.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { advanceDeposit } from '../../../../src/services/deposits/advance.ts';
import { priced } from '../../reconciliation/support.ts';
import { standIn } from '../asked.ts';
import type { Row } from '../test-watcher.ts';
import { startTronWatcher, type TronWatcher, type TronWatcherOptions } from './tron-watcher.ts';

/**
 * A watcher for the tests of the block in which it is called: started and caught up before the first of them,
 * healed and restarted before each, stopped after the last.
 */
export function tronStage(options?: TronWatcherOptions): TronWatcher {
  let live: TronWatcher | undefined;
  before(async () => {
    live = await startTronWatcher(options);
    await live.catchUp();
  });
  beforeEach(() => {
    if (!live) return;
    heal(live);
    live.restart();
  });
  after(() => live?.stop());
  return standIn(() => live);
}

/** An address that nobody watches. */
export const STRANGER = keyOfHex('5e'.repeat(20));

/** Amount and asset of deposits, and whether their second read is done; withdrawn ones are left out. */
export const states = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ block_hash: hash }) => hash !== null)
    .map(
      (row) => `${row['amount_units']} ${row['currency']}${row['verified_at'] === null ? '' : ' verified'}`,
    );

/** What was set aside that came to an address: amount and reason. */
export const asideAt = async ({ rows }: TronWatcher, address: AddressKey): Promise<string[]> =>
  (
    await rows('select * from unrecognised_transfers where address_key = ? order by amount_units', [address])
  ).map(({ amount_units: units, reason }) => `${units} ${reason}`);

/** A payment to a new customer in a block of its own. */
export async function paid(
  live: TronWatcher,
  payment: Pick<Payment, 'currency' | 'units'>,
): Promise<{ readonly address: AddressKey; readonly txHash: string; readonly number: number }> {
  const address = await live.newAddress();
  const txHash = await live.node.pay({ ...payment, to: address });
  return { address, txHash, number: await live.node.mine() };
}

/** Moves the deposits of an address on as far as the chain permits, and tells where they are. */
export async function advanced(live: TronWatcher, address: AddressKey): Promise<unknown[]> {
  for (const { id } of await live.deposits(address))
    for (let steps = 0; steps < 3; steps++)
      await advanceDeposit(priced(live.deps), { depositId: String(id), alarmed: false });
  return (await live.deposits(address)).map(({ status }) => status);
}

/** Ends the fault of every address of the node. */
export function heal({ endpoint, others }: TronWatcher): void {
  for (const one of [endpoint, ...others]) one.fault = undefined;
}

/** The second address of the node. Throws where there is none. */
export function secondOf({ others: [other] }: TronWatcher): TronEndpoint {
  if (!other) throw new Error('the watcher has one endpoint');
  return other;
}

/** What readiness looks at, with Tron as the only chain that is watched. */
export function watching({ deps }: TronWatcher): Gateway {
  const payments = { ...deps.settings.payments, watchedNetworks: ['tron' as const] };
  return {
    deps: { ...deps, settings: { ...deps.settings, payments } },
    link: undefined,
  } as unknown as Gateway;
}

type Answers = (path: string, body: Readonly<Record<string, unknown>>) => unknown;

/** What the node answers now, for ever. */
export async function remembered({ node }: TronWatcher): Promise<Answers> {
  const head = node.head().header.number;
  const solid = node.solidHeight();
  const known = new Map<string, unknown>();
  const nameOf = (path: string, body: object): string => `${path} ${JSON.stringify(body)}`;
  const keep = async (path: string, body: Record<string, unknown> = {}): Promise<void> => {
    known.set(nameOf(path, body), await node.ask(path, body));
  };
  for (const view of ['wallet', 'walletsolidity']) {
    await keep(`${view}/getnowblock`);
    for (const detail of [true, false]) await keep(`${view}/getblock`, { detail });
    for (let num = 0; num <= (view === 'wallet' ? head : solid); num += 1) {
      await keep(`${view}/getblockbynum`, { num });
      await keep(`${view}/gettransactioninfobyblocknum`, { num });
      await keep(`${view}/getblock`, { id_or_num: String(num), detail: false });
    }
  }
  return (path, body) => known.get(nameOf(path, body)) ?? {};
}
