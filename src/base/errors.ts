import { isOwnLimit } from './outage-of.ts';

/**
 * The operator asked for something that cannot be done now. The message is a sentence that ends
 * with the next action; it is printed without a stack, and the process leaves with exit code 1.
 */
export class OperatorError extends Error {
  readonly exitCode: number = 1;
  readonly nextAction: string;

  /**
   * `problem` says what is wrong, `nextAction` what to do
   * about it; both are printed, neither may hold a secret.
   */
  constructor(problem: string, nextAction: string, options?: { cause?: unknown }) {
    super(`${endSentence(problem)} ${endSentence(nextAction)}`, options);
    this.name = 'OperatorError';
    this.nextAction = nextAction;
  }
}

/**
 * A sealed value does not open: wrong SECRETS_KEY, moved
 * to another row, or changed. Says nothing of the content.
 */
export class SecretBoxError extends OperatorError {
  constructor(problem: string) {
    super(
      problem,
      'Start with the SECRETS_KEY that was in use when it was written (beside a new one as SECRETS_KEY_PREVIOUS), or have the merchant rotate the secret',
    );
    this.name = 'SecretBoxError';
  }
}

/**
 * A use case refuses for a known reason, and nothing has changed. The message is one plain
 * sentence for the caller and holds no secret.
 */
export class Refused extends Error {}

/** The command line itself is wrong (unknown option, missing argument): exit code 2. */
export class UsageError extends Error {
  readonly exitCode: number = 2;

  constructor(message: string) {
    super(endSentence(message));
    this.name = 'UsageError';
  }
}

/** Another holder has what is wanted: a later try may find it free. */
export class InUse extends OperatorError {}

/** The exit code for anything thrown: the error's own, else 1. */
export function exitCodeOf(error: unknown): number {
  return error instanceof OperatorError || error instanceof UsageError ? error.exitCode : 1;
}

function endSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/**
 * Logs why a request is answered with "not now": a fault with all that is known of it; a refusal by our own
 * limits as a warning, of which the log makes one line when they begin, one a minute, and one at their end.
 */
export function logFailure(
  log: Record<'error' | 'warn', (fields: object, text: string) => void>,
  fields: { readonly err: unknown; readonly code?: string; readonly requestId?: string },
  text: string,
): void {
  if (isOwnLimit(fields.err)) log.warn({ refused: fields.err }, 'a request was refused');
  else log.error(fields, text);
}
