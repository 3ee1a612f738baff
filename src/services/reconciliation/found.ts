// What lies on a batch of addresses, with the height at which that is compared with the ledger.
import { pause } from '../../base/async/pause.ts';
import type { AddressKey } from '../../chains/address-key.ts';
import type { PassPace } from '../../chains/pace.ts';
import type { Balance, ChainReader, CurrentBalances } from '../../chains/reader.ts';
import type { ChainCursor, DepositAddress } from '../../db/entities/index.ts';
import { rows, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { cursorOf } from '../watcher/cursor.ts';
import { assetKey, comparedAssets, expectedUnits, NOTHING_EXPECTED, unitsOf } from './expected-balances.ts';

/** Addresses whose balances are those at the end of one block, in the same order. */
export type Found = {
  readonly blockNumber: number;
  readonly addresses: readonly DepositAddress[];
  readonly found: readonly Balance[];
};

/** A difference is believed when it is seen again after this time: nodes behind one address may lag. */
const LOOK_AGAIN_MS = 2 * 60_000;
const MAX_LOOKS = 5;
/** From this look on each address that is still open is read by itself. */
const ALONE_FROM_LOOK = 2;
const VERIFIED_WITHIN_MS = 5 * 60_000;
const VERIFIED_EVERY_MS = 500;

/**
 * Whether the chain can be compared now: its balances are known for the height that was read twice, or it
 * tells those of this moment, which are compared once that height is reached.
 */
export function isComparable({ balances, currentBalances, pace }: ChainReader, cursor: ChainCursor): boolean {
  const behind = cursor.finalizedNumber - cursor.verifiedNumber;
  return (balances !== undefined || currentBalances !== undefined) && behind <= pace.balanceBlocks;
}

/**
 * Reads the balances of a batch. Undefined where the chain has no requests to spare for it now. Throws the
 * reader's errors, and an error where an endpoint does not tell them or never tells the same twice.
 */
export async function foundBalances(
  deps: Deps,
  reader: ChainReader,
  addresses: readonly DepositAddress[],
  at: { readonly cursor: ChainCursor; readonly pace: PassPace; readonly signal: AbortSignal },
): Promise<readonly Found[] | undefined> {
  const { network, balances } = reader;
  if (!balances) return await currentlyFound(deps, reader, addresses, at);
  const blockNumber = at.cursor.verifiedNumber;
  const found = await balances(keysOf(addresses), blockNumber, at.signal);
  if (!found)
    throw new Error(
      `no endpoint of ${network} tells balances at block ${blockNumber}, a moment after it became final`,
    );
  return [{ blockNumber, addresses, found }];
}

type Look = Found & { readonly differences: ReadonlyMap<AddressKey, string> };

/**
 * The balances of this moment, read until each address agrees with the ledger, or differs by as much as it
 * did some minutes before. An address whose ledger changed while it was read is read again, and left out of
 * this pass where that happens at every look.
 */
async function currentlyFound(
  deps: Deps,
  reader: ChainReader,
  addresses: readonly DepositAddress[],
  { pace, signal }: { readonly pace: PassPace; readonly signal: AbortSignal },
): Promise<readonly Found[] | undefined> {
  const settled: Found[] = [];
  let open = addresses;
  let before: ReadonlyMap<AddressKey, string> = new Map();
  for (let looks = 0; open.length > 0; looks += 1) {
    if (looks === MAX_LOOKS) {
      leaveOutMoving(deps, reader, open, before);
      break;
    }
    if (looks > 0) await pause(pace.lookAgainMs ?? LOOK_AGAIN_MS, signal);
    // One alone is read within a moment, in which hardly anybody is paid.
    const groups = looks < ALONE_FROM_LOOK ? [open] : open.map((one) => [one]);
    const seen = await lookAt(deps, reader, groups, signal);
    if (!seen) return undefined;
    const differences = new Map(seen.flatMap((look) => [...look.differences]));
    const isSettled = ({ addressKey }: { readonly addressKey: AddressKey }): boolean => {
      const difference = differences.get(addressKey);
      return difference === '' || (difference !== undefined && difference === before.get(addressKey));
    };
    settled.push(...seen.map((look) => partOf(look, isSettled)));
    open = open.filter((one) => !isSettled(one));
    before = differences;
  }
  return settled.filter((part) => part.addresses.length > 0);
}

/**
 * Whoever pays an address, or sends it spam, in every block must not end the comparison of all others: it is
 * left out of this pass, and the log says so. Throws where one differs by something else at each look.
 */
function leaveOutMoving(
  deps: Deps,
  { network }: ChainReader,
  open: readonly DepositAddress[],
  differences: Look['differences'],
): void {
  const differing = open.find(({ addressKey }) => differences.has(addressKey));
  if (differing)
    throw new Error(
      `the balance of ${differing.address} on ${network} differs from the ledger by something else at each of ${MAX_LOOKS} looks`,
    );
  deps.log.warn(
    { network, address: open[0]?.address, addresses: open.length },
    'addresses are paid so often that their balances could not be compared in this pass',
  );
}

const partOf = (
  { blockNumber, addresses, found }: Found,
  is: (one: { readonly addressKey: AddressKey }) => boolean,
): Found => ({ blockNumber, addresses: addresses.filter(is), found: found.filter(is) });

const keysOf = (addresses: readonly DepositAddress[]): AddressKey[] =>
  addresses.map(({ addressKey }) => addressKey);

/**
 * One look at each of these groups, compared once the ledger knows every block up to the last. Undefined
 * where the chain has no requests to spare for one of them.
 */
async function lookAt(
  deps: Deps,
  reader: ChainReader,
  groups: readonly (readonly DepositAddress[])[],
  signal: AbortSignal,
): Promise<Look[] | undefined> {
  const read: Seen[] = [];
  for (const addresses of groups) {
    const current = await reader.currentBalances?.(keysOf(addresses), signal);
    if (!current) return undefined;
    read.push({ addresses, current });
  }
  await untilVerified(deps, reader, Math.max(...read.map(({ current }) => current.to)), signal);
  return await Promise.all(read.map((seen) => comparedWith(deps, reader.network, seen)));
}

type Seen = { readonly addresses: readonly DepositAddress[]; readonly current: CurrentBalances };

/**
 * `differences` holds an address that did not change meanwhile, with by how much it differs in each asset: an
 * empty text where it agrees.
 */
async function comparedWith(deps: Deps, network: Network, { addresses, current }: Seen): Promise<Look> {
  const { from, to: blockNumber, rows: found } = current;
  const addressKeys = keysOf(addresses);
  const em = deps.orm.em.fork();
  const expected = await expectedUnits(em, deps, { network, addressKeys, blockNumber });
  const moved = await movedBetween(deps, network, addressKeys, { from, to: blockNumber });
  const differences = new Map<AddressKey, string>();
  for (const balance of found) {
    const { addressKey } = balance;
    if (moved.has(addressKey)) continue;
    const parts = comparedAssets(network).flatMap((currency) => {
      const { boundUnits } = expected.get(assetKey(addressKey, currency)) ?? NOTHING_EXPECTED;
      const difference = unitsOf(balance, network, currency) - boundUnits;
      return difference === 0n ? [] : [`${currency} ${difference}`];
    });
    differences.set(addressKey, parts.join());
  }
  return { blockNumber, addresses, found, differences };
}

/** The ledger says what lay on an address at a height only when every block up to it was read twice. */
async function untilVerified(
  deps: Deps,
  reader: ChainReader,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + VERIFIED_WITHIN_MS;
  while ((await cursorOf(deps, reader)).verifiedNumber < number) {
    if (performance.now() > until)
      throw new Error(`block ${number} of ${reader.network} was named as final and is not read twice yet`);
    await pause(VERIFIED_EVERY_MS, signal);
  }
}

/** The addresses whose ledger says different amounts at two heights. */
async function movedBetween(
  deps: Deps,
  network: Network,
  addressKeys: readonly AddressKey[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ReadonlySet<AddressKey>> {
  if (from === to) return new Set();
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ addressKey: AddressKey }>`
      select address_key from deposits where network = ${network} and address_key = any(${addressKeys})
        and mode = 'live' and block_number > ${from} and block_number <= ${to}
      union select address_key from unrecognised_transfers where network = ${network}
        and address_key = any(${addressKeys}) and block_number > ${from} and block_number <= ${to}
      union select from_key from sent_transactions where network = ${network}
        and from_key = any(${addressKeys}) and block_number > ${from} and block_number <= ${to}
      union select to_key from sent_transactions where network = ${network}
        and to_key = any(${addressKeys}) and block_number > ${from} and block_number <= ${to}`,
  );
  return new Set(found.map(({ addressKey }) => addressKey));
}
