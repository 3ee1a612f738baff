// What proves that a transaction paid a merchant: blocks at the endpoints, and the seals of rows.
import type { AddressKey } from '../../../chains/address-key.ts';
import { addressKeyOf } from '../../../chains/addresses.ts';
import type { ScannedBlock } from '../../../chains/reader.ts';
import { DepositAddress, OperatorAction, SentTransaction } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import { type AskedDestination, type Direction, readSeal } from '../../../domain/payouts/direction.ts';
import type { SentPurpose } from '../../../domain/payouts/purpose.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps } from '../../deps.ts';
import { loadWatched } from '../../watcher/watched-addresses.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { NamedPlace } from '../decisions.ts';
import { NotConcluded } from './room.ts';

/** Two endpoints prove it, or the only one that there is, at two times that lie this far apart. */
const AGREEING = 2;
const APART_MS = 60 * 60_000;
/** A first sight that is older than this counts no more. */
const SEEN_WITHIN_MS = 7 * 24 * 60 * 60_000;

type Bound = SentTransaction & { readonly blockNumber: number; readonly blockHash: string };

/**
 * A transaction of one of our addresses as blocks that were read twice show it. Throws {@link NotConcluded}
 * where none does, or it failed.
 */
export async function boundTransaction(em: Em, place: NamedPlace, hash: string): Promise<Bound> {
  const { network, addressKey: fromKey, address } = place;
  const row = await em.findOne(SentTransaction, { network, fromKey, hash });
  const { blockNumber, blockHash, verifiedAt, ok } = row ?? {};
  if (!row || blockNumber == null || blockHash == null)
    throw new NotConcluded(
      `no block that was read has a transaction ${hash} of ${address} on ${network}: compare the hash with an explorer, then let its block be read again with "rescan", or wait until it is read`,
    );
  if (verifiedAt == null)
    throw new NotConcluded(
      `block ${blockNumber}, which holds ${hash}, was read once only: wait until it is final ("doctor" says how far the second read is), then run this again`,
    );
  if (!ok)
    throw new NotConcluded(
      `block ${blockNumber} shows that ${hash} failed: it paid nothing. What waits goes on by itself, and at once with "payout retry"`,
    );
  return Object.assign(row, { blockNumber, blockHash });
}

/**
 * Asks every endpoint for the block of a transaction, by that block's hash. Undefined where enough of them
 * show that it moved just what the row says; where there is only one, its first sight is written down, and
 * the time is returned from which on a second one counts. Throws {@link NotConcluded} where they do not.
 */
export async function shownBy(
  deps: Deps,
  { reader, watched }: WatchedChain,
  row: Bound,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const { network, hash, blockNumber: number, blockHash } = row;
  const final = await reader.finalized(signal);
  if (final.number < number)
    throw new NotConcluded(`block ${number}, which holds ${hash}, is not final: run this again when it is`);
  await loadWatched(deps, watched);
  const readings = (await reader.readings?.({ number, hash: blockHash }, watched.index, signal)) ?? [];
  const agreeing = readings.filter(({ block }) => isShown(row, block)).map(({ host }) => host);
  const wanted = Math.min(AGREEING, reader.endpoints);
  if (agreeing.length < wanted)
    throw new NotConcluded(
      `block ${number} was read with ${hash} in it, and ${agreeing.length} of ${reader.endpoints} RPC endpoints show that it moved the same (${wanted} have to): see that they answer ("doctor"), let the block be read again ("rescan --network ${network} --from ${number} --to ${number}"), and run this again`,
    );
  return wanted < AGREEING ? await secondSightAt(deps, row) : undefined;
}

function isShown(row: Bound, { sent = [] }: ScannedBlock): boolean {
  const { network, hash, fromKey, ok, moves } = row;
  const said = sent.find((one) => one.txHash === hash && addressKeyOf(network, one.from) === fromKey);
  const inWords = (some: readonly { to: string; currency: string; units: unknown }[]): string =>
    JSON.stringify(some.map((one) => `${addressKeyOf(network, one.to)} ${one.currency} ${one.units}`).sort());
  return said !== undefined && said.ok === ok && inWords(said.moves) === inWords(moves ?? []);
}

async function secondSightAt(deps: Deps, { network, hash, blockHash }: Bound): Promise<Date | undefined> {
  const now = deps.now().getTime();
  const subject = `${network}:${hash}`;
  return await deps.orm.em.fork().transactional(async (em) => {
    const seen = await em.findOne(
      OperatorAction,
      { action: 'payout.seen', subject, at: { $gt: new Date(now - SEEN_WITHIN_MS) } },
      { orderBy: { at: 'asc' } },
    );
    const at = seen?.after?.['block'] === blockHash ? seen.at.getTime() : undefined;
    if (at !== undefined && now - at >= APART_MS) return undefined;
    if (at === undefined)
      await recordAction(em, deps, { action: 'payout.seen', subject, after: { block: blockHash } });
    return new Date((at ?? now) + APART_MS);
  });
}

/**
 * Which of these receivers is a destination that was sealed for the merchant whose money lies at a place:
 * now, by a change that a user asked for, or, for the transaction itself, by what the signer's journal has.
 * Undefined where none is. Throws {@link NotConcluded} where nobody who holds the key says whose place it is.
 */
export async function sealedAmong(
  em: Em,
  deps: Pick<Deps, 'secretBox'>,
  { place, hash, signed }: { place: NamedPlace; hash: string; signed?: SignedFor | undefined },
  receivers: readonly AddressKey[],
): Promise<AddressKey | undefined> {
  const { network, addressKey, merchantId } = place;
  const { previous } = deps.secretBox;
  const keys = previous ? [deps.secretBox, previous] : [deps.secretBox];
  const isSealed = (direction: Direction | AskedDestination, seal: Uint8Array | null | undefined): boolean =>
    readSeal(keys, direction, seal) !== undefined;
  const owner = await em.findOneOrFail(DepositAddress, { network, addressKey });
  const customer = await firstRow(
    em,
    sql<{ walletIndex: number }>`select wallet_index from customers where id = ${owner.customerId}`,
  );
  const { customerId, mode, seal } = owner;
  const whose = {
    network,
    addressKey,
    merchantId,
    customerId,
    mode,
    walletIndex: customer?.walletIndex ?? -1,
  };
  if (!isSealed({ kind: 'address', ...whose }, seal))
    throw new NotConcluded(
      `nobody who holds SECRETS_KEY has sealed whose address ${place.address} is: run this with the gateway's SECRETS_KEY, and compare the row with a backup`,
    );
  const line = signed?.payouts.find((one) => one.hash === hash && one.merchantId === merchantId);
  if (line && receivers.includes(line.to)) return line.to;
  const present = await rows(
    em,
    sql<{ address: string; seal: Buffer | null }>`select address, seal from withdraw_addresses
      where merchant_id = ${merchantId} and network = ${network} and address is not null`,
  );
  const asked = await rows(
    em,
    sql<Omit<AskedDestination, 'kind' | 'countsAt'> & { address: string; countsAt: string; seal: Buffer }>`
      select id, network, merchant_id, address, contract_allowed, asked_by, asked_from, counts_at, seal
      from withdraw_changes where merchant_id = ${merchantId} and network = ${network}
        and outcome = 'counted' and address is not null`,
  );
  const proven = [
    ...present.filter((one) =>
      isSealed({ kind: 'destination', network, merchantId, address: one.address }, one.seal),
    ),
    ...asked.filter(({ seal: by, ...one }) =>
      isSealed({ kind: 'asked', ...one, countsAt: new Date(one.countsAt) }, by),
    ),
  ];
  return proven.map(({ address }) => addressKeyOf(network, address)).find((key) => receivers.includes(key));
}

/** A transaction that the journal has signed; its bytes were read and say the same. */
export type SignedBytes = {
  /** Which line of the journal it is, from 1 on. */
  readonly place: number;
  readonly purpose: SentPurpose;
  readonly payoutId: string;
  readonly attempt: number;
  readonly merchantId: string;
  /** What it pays out; none where it is for something else. */
  readonly depositIds: readonly string[];
  readonly from: AddressKey;
  readonly to: AddressKey;
  readonly currency: Currency;
  readonly amountUnits: bigint;
  readonly nonce: number | null;
  readonly expiresAt: Date | null;
  readonly signedAt: Date;
  readonly hash: string;
  readonly raw: Uint8Array;
  readonly terms: Readonly<Record<string, string | number>>;
  /** What it may keep back of its deposits for its fee, in base units: only a payout of coins does. */
  readonly mostKept: bigint;
};

/**
 * All that was signed for one payout of an address of ours, and what the address was given for it: coins, and
 * what was lent and taken back.
 */
export type SignedFor = {
  readonly journal: { readonly id: string; hashOf(line: number): string | undefined };
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly payouts: readonly SignedBytes[];
  readonly given: readonly SignedBytes[];
};

/**
 * Proves that these lines are of the journal with which the signer has taken this database over: it has noted
 * the hash of a line of that journal, and each line holds the hash of the one before. Throws
 * {@link NotConcluded} for another journal, an older copy, and lines that the signer has not vouched for.
 */
export async function requireVouched(em: Em, { journal, payouts, given }: SignedFor): Promise<void> {
  const noted = await firstRow(
    em,
    sql<{ journal: string | null; line: number | null; lineHash: string | null }>`
      select journal, line, line_hash from signer_state where name = 'signer'`,
  );
  const last = Math.max(...[...payouts, ...given].map(({ place }) => place));
  if (noted?.line == null || noted.line < last)
    throw new NotConcluded(
      'the signer has not taken this database over yet, so nothing says that the journal is its own: start it ("start --role signer"), wait until "doctor" says that it is there, and run this again',
    );
  if (noted.journal === journal.id && journal.hashOf(noted.line) === noted.lineHash) return;
  throw new NotConcluded(
    'this is not the journal of the signer that has taken this database over, or an older copy of it: name the newest one with --journal',
  );
}
