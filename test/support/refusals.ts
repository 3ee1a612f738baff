import { expect } from 'chai';
import { Refusal } from '../../src/services/refusal.ts';

/** The refusal that the work ends with; whatever else becomes of it fails the test. */
export async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(Refusal);
  return error as Refusal;
}
