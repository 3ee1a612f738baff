// What the signer's journal says it has signed, for a database that may have forgotten it.
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { SentPurpose } from '../../../domain/payouts/purpose.ts';
import { NotConcluded } from './refusal.ts';

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
