import { DECISION_LIMITS } from '../src/domain/decision.ts';

/** What an operator decided about payouts: who, and why where they said it. */
export type PayoutCommand = { readonly by: string; readonly reason: string | null };

/** Throws where what was sent as a decision has not the form of one. */
export function refuseCommand(command: unknown): void {
  const { by, reason } =
    typeof command === 'object' && command !== null ? (command as Record<string, unknown>) : {};
  if (!isText(by, DECISION_LIMITS.name))
    throw new Error(`"by" must name who decided, in at most ${DECISION_LIMITS.name} characters`);
  if (reason !== null && reason !== undefined && !isText(reason, DECISION_LIMITS.reason))
    throw new Error(`"reason" must say why, in at most ${DECISION_LIMITS.reason} characters, or be null`);
}

/** No row has a NUL. */
function isText(raw: unknown, limit: number): boolean {
  return typeof raw === 'string' && raw.trim() !== '' && raw.length <= limit && !raw.includes('\0');
}
