// What the signer's journal says it has signed, as far as a database that has forgotten it takes it up.
import { Refused } from '../../../base/errors.ts';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import type { SentPurpose } from '../../../domain/payouts/purpose.ts';

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
  readonly keptBack: { readonly least: bigint; readonly most: bigint } | null;
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

/** Why something is not taken up. Nothing was changed; the message ends with the next action. */
export class NotAdopted extends Refused {
  override readonly name = 'NotAdopted';
}

/**
 * Proves that these lines are of the journal with which the signer has taken this database over: it has noted
 * the hash of a line of that journal, and each line holds the hash of the one before. Throws
 * {@link NotAdopted} for another journal, an older copy, and lines that the signer has not vouched for.
 */
export async function requireVouched(em: Em, { journal, payouts, given }: SignedFor): Promise<void> {
  const noted = await firstRow(
    em,
    sql<{ journal: string | null; line: number | null; lineHash: string | null }>`
      select journal, line, line_hash from signer_state where name = 'signer'`,
  );
  const last = Math.max(...[...payouts, ...given].map(({ place }) => place));
  if (noted?.line == null || noted.line < last)
    throw new NotAdopted(
      'the signer has not taken this database over yet, so nothing says that the journal is its own: start it ("start --role signer"), wait until "doctor" says that it is there, and run this again',
    );
  if (noted.journal === journal.id && journal.hashOf(noted.line) === noted.lineHash) return;
  throw new NotAdopted(
    'this is not the journal of the signer that has taken this database over, or an older copy of it: name the newest one with --journal',
  );
}

/** Those of these that the database does not know as ours. */
export async function forgottenOf(
  em: Em,
  network: Network,
  lines: readonly SignedBytes[],
): Promise<readonly SignedBytes[]> {
  const found = await rows(
    em,
    sql<{ hash: string }>`select hash from sent_transactions where network = ${network}
      and hash = any(${lines.map(({ hash }) => hash)}) and purpose is not null`,
  );
  const known = new Set(found.map(({ hash }) => hash));
  return lines.filter(({ hash }) => !known.has(hash));
}
