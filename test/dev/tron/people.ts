// Who is on the network that the double makes like the recorded one, and how they sign.

import { sha256 } from '../../../dev/tron/ids.ts';
import { type KeyPair, keyPair, sign } from '../../../dev/tron/signing.ts';
import { rawOfJson } from '../../../dev/tron/transactions.ts';
import { type Answer, ask, prefixed } from './asking.ts';

/** They have an account and some TRX from the beginning. */
export const SETTLED = {
  alice: keyPair('alice'),
  bob: keyPair('bob'),
  carol: keyPair('carol'),
  dave: keyPair('dave'),
  mia: keyPair('mia'),
  olaf: keyPair('olaf'),
} as const;
/** Nobody has paid them anything at the beginning. */
export const NEWCOMERS = {
  erin: keyPair('erin'),
  frank: keyPair('frank'),
  grace: keyPair('grace'),
  heidi: keyPair('heidi'),
  ivan: keyPair('ivan'),
  judy: keyPair('judy'),
} as const;

/** A transfer of TRX as JSON, as a node builds it; `change` changes `raw_data` before it is signed. */
export async function signedTransfer(
  base: string,
  { from, to, sun }: { from: KeyPair; to: KeyPair; sun: number },
  change: (raw: Answer) => object = (raw) => raw,
): Promise<Answer> {
  const built = await ask(base, 'wallet/createtransaction', {
    owner_address: prefixed(from.address),
    to_address: prefixed(to.address),
    amount: sun,
  });
  return signedAgain({ ...built, raw_data: change(built.raw_data) }, [from]);
}

/** The same transaction with its id and signatures made anew from `raw_data`. */
function signedAgain(transaction: Answer, signers: readonly KeyPair[]): Answer {
  const raw = rawOfJson(transaction.raw_data, false);
  const txID = sha256(raw).toString('hex');
  return {
    ...transaction,
    txID,
    raw_data_hex: raw.toString('hex'),
    signature: signers.map(({ privateKey }) => sign(txID, privateKey)),
  };
}
