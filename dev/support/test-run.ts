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
