// What the journal has signed for an address of ours, for a database that has forgotten it.
import { OperatorError } from '../base/errors.ts';
import type { AddressKey } from '../chains/address-key.ts';
import { type TransferKind, type Transfers, WrongTerms } from '../chains/transfer.ts';
import { assetOf, type Network } from '../domain/assets.ts';
import { movesMoney } from '../domain/payouts/purpose.ts';
import { JournalBroken, readJournal } from './journal.ts';
import type { JournalIndex } from './journal-index.ts';
import type { SignedLine } from './journal-lines.ts';

type Asked = {
  /** The journal, or a copy of it. */
  readonly file: string;
  readonly network: Network;
  readonly hash: string;
  readonly transfers: Transfers;
};

/**
 * Everything that was signed for the payout which a transaction belongs to, with its bytes; with it what the
 * address was given for it (coins, and what was lent and taken back), for this payout or for one that nothing
 * was signed of. Undefined where the
 * journal does not know the hash. Throws {@link JournalBroken}, also for bytes that differ from their line.
 */
export async function readSignedFor({ file, network, hash, transfers }: Asked) {
  const index = await readJournal(file);
  const line = index.ofHash(hash);
  if (line?.network !== network) return undefined;
  const addressKey = line.purpose === 'payout' ? line.from : line.to;
  const payouts = index.ofPayout('payout', line.payout_id);
  const given = givenTo(index, network, addressKey, line.payout_id);
  return {
    journal: { id: index.id, hashOf: (n: number) => index.hashOf(n) },
    network,
    addressKey,
    payouts: payouts.map((one) => whole(file, transfers, one)),
    given: given.map((one) => whole(file, transfers, one)),
  };
}

function givenTo(index: JournalIndex, network: Network, to: AddressKey, payoutId: string) {
  return index
    .given(network, to)
    .filter((one) => one.payout_id === payoutId || index.ofPayout('payout', one.payout_id).length === 0);
}

/** A line with its bytes, which say the same: who signed them, to whom, how much, in which place. */
function whole(file: string, transfers: Transfers, line: SignedLine) {
  const raw = Buffer.from(line.raw, 'hex');
  const said = saidBy(transfers, raw);
  const { kind } = assetOf(line.network, line.currency);
  const { transfer } = said ?? {};
  const same =
    said?.hash === line.hash &&
    transfer?.from === line.from &&
    transfer.to === line.to &&
    transfer.kind === kindOf(line) &&
    transfer.units === line.amount &&
    transfer.nonce === line.nonce;
  if (!same)
    throw new JournalBroken(
      `Line ${line.n} of ${file} and the bytes in it say different things, or are of another chain or token than is configured here`,
      'Compare the chain id and the token with those of the signer; else restore the journal from its backup',
    );
  return {
    place: line.n,
    purpose: line.purpose,
    payoutId: line.payout_id,
    attempt: line.attempt,
    merchantId: line.merchant_id,
    depositIds: line.deposits,
    from: line.from,
    to: line.to,
    currency: line.currency,
    amountUnits: line.amount,
    nonce: line.nonce,
    expiresAt: line.expires_at === null ? null : new Date(line.expires_at),
    signedAt: new Date(line.at),
    hash: line.hash,
    raw,
    terms: said.given,
    mostKept: line.purpose === 'payout' && kind === 'native' ? mostKeptBy(transfers, line, said.given) : 0n,
  };
}

const kindOf = ({ purpose, network, currency }: SignedLine): TransferKind =>
  movesMoney(purpose) ? assetOf(network, currency).kind : purpose;

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
