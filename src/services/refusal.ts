/** Why a use case said no to its caller. Anything else that it throws is a defect or an outage. */
export type RefusalCode =
  | 'INVALID'
  | 'NOT_FOUND'
  | 'CUSTOMER_EXISTS'
  | 'AMOUNT_TOO_SMALL'
  | 'TOO_MUCH_OPEN'
  | 'QUOTA_REACHED'
  | 'DAILY_QUOTA_REACHED';

/** A known no, with nothing changed. The message is one plain sentence for the caller and holds no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  /** The field that is at fault, in the caller's spelling. */
  readonly field: string | undefined;

  constructor(code: RefusalCode, sentence: string, field?: string) {
    super(sentence);
    this.code = code;
    this.field = field;
  }
}

/** An amount below the smallest that the operator allows. */
export class AmountTooSmall extends Refusal {
  readonly minimumCents: bigint;

  constructor(minimumCents: bigint, sentence: string, field: string) {
    super('AMOUNT_TOO_SMALL', sentence, field);
    this.minimumCents = minimumCents;
  }
}

/** The answer for an id that does not exist, belongs to another merchant or to the other mode: never told apart. */
export function notFound(what: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no such ${what}.`);
}
