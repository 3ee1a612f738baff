/**
 * The longest name of whoever decides something by hand, and the
 * longest reason, in characters: what the columns hold that keep them.
 */
export const DECISION_LIMITS = { name: 120, reason: 500 } as const;
