// Why something is not signed, in the words that an operator reads in its row.
import { REFUSALS, type RefusalCode } from '../../domain/payouts/waits.ts';

/** Something is not signed, and nothing was changed by that. The message ends with the next action. */
export class NotSigned extends Error {
  override readonly name = 'NotSigned';
  /** What stands before the sentence in `sent_transactions.refused`. */
  readonly code: RefusalCode;
  /** Of what is more than a limit ever allows, how much would be signed now, in base units. */
  readonly room: bigint | undefined;

  constructor(code: RefusalCode, sentence: string, room?: bigint) {
    super(sentence);
    this.code = code;
    this.room = room;
  }
}

type Refusing = (sentence: TemplateStringsArray, ...values: readonly unknown[]) => NotSigned;
const refusing = (code: string): Refusing => {
  return (sentence, ...values) =>
    new NotSigned(code as RefusalCode, String.raw({ raw: sentence }, ...values));
};

/** A refusal by its code, as in `` notSigned.terms`it would lend nothing: it is given up by itself` ``. */
export const notSigned = Object.fromEntries(
  Object.keys(REFUSALS).map((code) => [code, refusing(code)]),
) as Readonly<Record<RefusalCode, Refusing>>;

/** For a row that asks for what is never signed: whoever asked for it does not wait on. */
export const givenUp = (sentence: string): NotSigned =>
  notSigned.payout`${sentence}: it is given up by itself`;

/** For what the journal has signed, and the database has forgotten or calls foreign. */
export const forgotten = ({ hash }: { readonly hash: string }, { payoutId }: { readonly payoutId: string }) =>
  notSigned.backup`${hash} was signed here, and the database does not know it as ours: was a backup restored? Nothing is paid twice; take it up with "payout conclude ${payoutId} --tx ${hash} --journal FILE"`;

/** Which of its own things keeps the signer from signing anything at all. */
export type SealedCode = 'wallet' | 'journal' | 'key' | 'tampered';

/** Nothing at all is signed until an operator has done what the message says. */
export class Sealed extends Error {
  override readonly name = 'Sealed';
  readonly code: SealedCode;

  constructor(code: SealedCode, sentence: string, options?: { cause?: unknown }) {
    super(sentence, options);
    this.code = code;
  }
}
