import type { Transfer, Transfers, TransferTerms } from '../../chains/transfer.ts';
import { WrongTerms } from '../../chains/transfer.ts';
import type { SealKey } from '../../domain/payouts/direction.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { OpenWallet } from '../wallet-file.ts';
import type { Facts } from './facts.ts';
import type { SignLimits } from './limits.ts';
import { NotSigned } from './refusal.ts';

/** What the seals are judged by. */
export type SealJudge = { readonly keys: readonly SealKey[]; readonly now: Date };

/** What a decision stands on beside the facts. */
export type Bench = SealJudge & {
  readonly index: JournalIndex;
  readonly wallet: Pick<OpenWallet, 'publicParts' | 'depositAddress'>;
  readonly transfers: Transfers;
  readonly limits: SignLimits;
  readonly newDestinationAfterMs: number;
  readonly resumeAfterMs: number;
};

/** What is signed, and with which key. */
export type Order = {
  readonly transfer: Transfer;
  readonly terms: TransferTerms;
  readonly sender: { readonly account: 'live' | 'gas'; readonly index: number };
  readonly depositIds: readonly string[];
};

/** The terms that were asked for, as the chain reads them. Throws {@link NotSigned} where it does not. */
export function termsOf({ transfers, now }: Bench, { asked }: Facts, kind: Transfer['kind']): TransferTerms {
  try {
    return transfers.terms(asked.terms, kind, now);
  } catch (error) {
    throw error instanceof WrongTerms ? new NotSigned('terms', error.message) : error;
  }
}
