/**
 * The most characters in the name of a person who decides something by hand, and in
 * their reason: this is what the columns hold.
 */
export const DECISION_LIMITS = { name: 120, reason: 500 } as const;
