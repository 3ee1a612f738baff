import { Refused } from '../base/errors.ts';

/** Why a use case said no to its caller. Anything else that it throws is a defect or an outage. */
export type RefusalCode =
  | 'INVALID'
  | 'NOT_FOUND'
  | 'CUSTOMER_EXISTS'
  | 'LINK_CLOSED'
  | 'AMOUNT_TOO_SMALL'
  | 'STEP_UP_REQUIRED'
  | 'TOO_MUCH_OPEN'
  | 'QUOTA_REACHED'
  | 'DAILY_QUOTA_REACHED';

/** The refusal that a caller of the API is told. */
export class Refusal extends Refused {
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

/** Several fields that are at fault at once; the sentence of each is one of its own. */
export class Refusals extends Refusal {
  readonly each: readonly Refusal[];

  constructor(each: readonly [Refusal, ...Refusal[]]) {
    const [first] = each;
    super(first.code, each.map(({ message }) => message).join(' '), first.field);
    this.each = each;
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

/**
 * The refusal for an id that does not exist, belongs to another
 * merchant or to the other mode: these are never told apart.
 */
export function notFound(what: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no such ${what}.`);
}

/**
 * The refusal of a change that only somebody who has just shown password
 * and code may make: this sign-in has not, or it has ended.
 */
export function stepUpRequired(): Refusal {
  return new Refusal(
    'STEP_UP_REQUIRED',
    'This needs your password again, and your code if you have one. Confirm who you are, then repeat it.',
  );
}
