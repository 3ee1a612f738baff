/** The name of a failure, a pattern of the error's code and sentence, and why it is no fault. */
export type Excuse = readonly [failure: string, pattern: string, why: string];

/** Refusals that the contract asks for and that JSON Schema has no words for. Nothing else is left out. */
export const EXCUSES: readonly Excuse[] = [];
