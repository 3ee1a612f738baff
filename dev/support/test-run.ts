type TestRun = {
  /** Called one after the other when the last test is over. */
  readonly atEnd: (() => Promise<void>)[];
  /**
   * Does work that may take minutes, once, outside the time limit of the test that is the first to need it.
   */
  unlimited<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * What a run of tests lends to the parts that its tests start. A measurement or a
 * demo ends its parts itself and has no limits.
 */
export const testRun: TestRun = { atEnd: [], unlimited: (work) => work() };

const MOST_SEEN = 40;

/** The last answers and lines of the log of the test that runs, oldest first: a failed one shows them. */
export const seen: string[] = [];

/** Adds a line to what the test that runs has {@link seen}. */
export function note(line: string): void {
  seen.push(line.slice(0, 400));
  if (seen.length > MOST_SEEN) seen.shift();
}
