// What the journal has signed for an address of ours, for a database that has forgotten it.
import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../base/errors.ts';
import { type Transfers, WrongTerms } from '../chains/transfer.ts';
import { assetOf, type Network } from '../domain/assets.ts';
import { movesMoney } from '../domain/payouts/purpose.ts';
import { JournalBroken, readJournal } from './journal.ts';
import type { SignedLine } from './journal-lines.ts';

/**
 * Everything that was signed for the payout which a transaction belongs to, with its bytes; with it what the
 * address was given for it (coins, and what was lent and taken back), for this payout or for one that nothing
 * was signed of. `file` is the journal, or a copy of it; undefined where it does not know the hash. Throws
 * {@link JournalBroken}, also for bytes that differ from their line.
 */
export async function readSignedFor(asked: {
  readonly file: string;
  readonly network: Network;
  readonly hash: string;
  readonly transfers: Transfers;
}) {
  const { file, network, hash, transfers } = asked;
  const journal = await readJournal(file);
  const line = journal.ofHash(hash);
  if (line?.network !== network) return undefined;
  const addressKey = line.purpose === 'payout' ? line.from : line.to;
  const given = journal
    .given(network, addressKey)
    .filter(({ payout_id: id }) => id === line.payout_id || journal.ofPayout('payout', id).length === 0);
  const whole = (one: SignedLine) => withBytes(file, transfers, one);
  const payouts = journal.ofPayout('payout', line.payout_id).map(whole);
  return { journal, network, addressKey, payouts, given: given.map(whole) };
}

/** A line with its bytes, which say the same: who signed them, to whom, how much, in which place. */
function withBytes(file: string, transfers: Transfers, line: SignedLine) {
  const { from, to, hash, nonce, amount, purpose, currency } = line;
  const raw = Buffer.from(line.raw, 'hex');
  const said = saidBy(transfers, raw);
  const asset = assetOf(line.network, currency).kind;
  const transfer = { from, to, kind: movesMoney(purpose) ? asset : purpose, units: amount, nonce };
  if (said?.hash !== hash || !isDeepStrictEqual(said.transfer, transfer))
    throw new JournalBroken(
      `Line ${line.n} of ${file} and the bytes in it say different things, or are of another chain or token than is configured here`,
      'Compare the chain id and the token with those of the signer; else restore the journal from its backup',
    );
  return {
    place: line.n,
    purpose,
    payoutId: line.payout_id,
    attempt: line.attempt,
    merchantId: line.merchant_id,
    depositIds: line.deposits,
    from,
    to,
    currency,
    amountUnits: amount,
    nonce,
    expiresAt: line.expires_at === null ? null : new Date(line.expires_at),
    signedAt: new Date(line.at),
    hash,
    raw,
    terms: said.given,
    mostKept: purpose === 'payout' && asset === 'native' ? mostKeptBy(transfers, line, said.given) : 0n,
  };
}

function mostKeptBy(transfers: Transfers, { hash, at }: SignedLine, given: unknown): bigint {
  try {
    return transfers.terms(given, 'native', new Date(at)).mostUnits;
  } catch (error) {
    if (!(error instanceof WrongTerms)) throw error;
    throw new OperatorError(
      `${hash} was signed on terms that are above what is configured here (${error.message})`,
      'Run this with the limits that the signer had then',
      { cause: error },
    );
  }
}

function saidBy(transfers: Transfers, raw: Buffer): ReturnType<Transfers['read']> | undefined {
  try {
    return transfers.read(raw);
  } catch {
    return undefined;
  }
}
