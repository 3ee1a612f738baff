// Why something is not signed, in the words that an operator reads in its row.

/** What stands before the sentence in `sent_transactions.refused`. */
export type RefusalCode =
  /** Its terms are missing, wrong or above a limit. */
  | 'terms'
  /** Its payout or its deposits are not as they have to be. */
  | 'payout'
  /** The withdraw address is missing, another one by now, or one that nothing may go to. */
  | 'destination'
  /** The withdraw address is too new; it goes by itself. */
  | 'new_destination'
  /** A limit of an hour or a day is reached; it goes by itself. */
  | 'limit'
  /** An operator has paused payouts; it goes by itself once they go on. */
  | 'paused'
  /** What it follows is not decided yet; it goes by itself. */
  | 'earlier'
  /** The journal knows more than the database. */
  | 'backup'
  /** What it depends on is sealed under a SECRETS_KEY that the signer does not have. */
  | 'key'
  /** The wallet that has to sign cannot. */
  | 'wallet';

/** Something is not signed, and nothing was changed by that. The message ends with the next action. */
export class NotSigned extends Error {
  override readonly name = 'NotSigned';
  readonly code: RefusalCode;
  /** Of what is more than a limit ever allows, how much would be signed now, in base units. */
  readonly room: bigint | undefined;

  constructor(code: RefusalCode, sentence: string, room?: bigint) {
    super(sentence);
    this.code = code;
    this.room = room;
  }
}

/** Which of its own things keeps the signer from signing anything at all. */
export type SealedCode = 'wallet' | 'journal' | 'key' | 'tampered' | 'database';

/** Nothing at all is signed until an operator has done what the message says. */
export class Sealed extends Error {
  override readonly name = 'Sealed';
  readonly code: SealedCode;

  constructor(code: SealedCode, sentence: string, options?: { cause?: unknown }) {
    super(sentence, options);
    this.code = code;
  }
}
