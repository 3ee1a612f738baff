import { DECISION_LIMITS } from '../src/domain/decision.ts';

/** An operator's decision to fail a deposit: who, and why. */
export type FailCommand = { readonly by: string; readonly reason: string };

/**
 * Throws the reason why a deposit of which this much is known
 * cannot be failed by such a command, whatever was sent as one.
 */
export function refuseFail(
  known: { readonly state: string; readonly simulated: boolean },
  command: unknown,
): void {
  const { state, simulated } = known;
  if (simulated)
    throw new Error('a simulated deposit stays as it is; simulate another one with the outcome you need');
  if (state !== 'detected' && state !== 'confirming')
    throw new Error(`the deposit is ${state}; only an open one can be failed here`);
  const { by, reason } =
    typeof command === 'object' && command !== null ? (command as Record<string, unknown>) : {};
  if (!isText(by, DECISION_LIMITS.name))
    throw new Error(`"by" must name who decided, in at most ${DECISION_LIMITS.name} characters`);
  if (!isText(reason, DECISION_LIMITS.reason))
    throw new Error(`"reason" must say why, in at most ${DECISION_LIMITS.reason} characters`);
}

/** The database takes no NUL: it would refuse the decision for ever, and the actor would try for ever. */
function isText(raw: unknown, limit: number): boolean {
  return typeof raw === 'string' && raw.trim() !== '' && raw.length <= limit && !raw.includes('\0');
}
