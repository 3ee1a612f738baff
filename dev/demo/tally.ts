// What a receiver has to have taken in the end, and what of it is not so.
import type { Seen } from './receiver.ts';

const OF_A_DEPOSIT = ['deposit.detected', 'deposit.confirming', 'deposit.completed', 'deposit.settled'];

/** What tells one event from all others that the demo makes. */
const nameOf = (event: string, hash: string | undefined): string =>
  hash === undefined ? event : `${event} of ${hash}`;

/** Each event that a customer and these payments make, once. */
export function expectedEvents(payments: readonly { readonly hash: string }[]): readonly string[] {
  return [
    nameOf('customer.created', undefined),
    ...payments.flatMap(({ hash }) => OF_A_DEPOSIT.map((event) => nameOf(event, hash))),
  ];
}

/** How many of the expected events were taken. */
export function countTaken(seen: Iterable<Seen>, expected: readonly string[]): number {
  const taken = new Set(
    [...seen].filter(({ accepted }) => accepted > 0).map(({ event, hash }) => nameOf(event, hash)),
  );
  return expected.filter((name) => taken.has(name)).length;
}

/** A sentence for each event that is missing, was taken twice, is not expected, or was signed wrongly. */
export function faultsIn(seen: Iterable<Seen>, expected: readonly string[]): string[] {
  const entries = [...seen].map((entry) => ({ ...entry, name: nameOf(entry.event, entry.hash) }));
  const timesTaken = (wanted: string): number =>
    entries.reduce((sum, { name, accepted }) => (name === wanted ? sum + accepted : sum), 0);
  return [
    ...expected
      .map((name) => ({ name, times: timesTaken(name) }))
      .filter(({ times }) => times !== 1)
      .map(({ name, times }) => `${name} was taken ${times} times`),
    ...entries.filter(({ name }) => !expected.includes(name)).map(({ name }) => `${name} was not expected`),
    ...entries.filter(({ verified }) => !verified).map(({ name }) => `${name} came with a wrong signature`),
  ];
}
