// A fault, and the ways to put one into records in which all is well.
import type { ReceiverName } from '../../plan/plan.ts';
import type { World } from '../parts.ts';

/** What a gateway could do wrong, and the rule that has to notice it. */
export type Fault = readonly [name: string, rule: string, spoil: (records: World) => void];

/** Changes some members of a record. */
export const set = <T extends object>(target: T, change: Partial<T>): void =>
  void Object.assign(target, change);

/** The record at this place of a list; throws where there is none. */
export const at = <T>(list: readonly T[] | undefined, index: number): T => {
  const found = list?.at(index);
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
};

/** What a receiver took, in order. */
export const of = (records: World, receiver: ReceiverName) => [
  ...(records.seen.get(receiver)?.values() ?? []),
];

/** The first event of this name that a receiver took. */
export const find = (records: World, receiver: ReceiverName, event: string) =>
  at(
    of(records, receiver).filter((one) => one.event === event),
    0,
  );

/** As if the gateway had never had this event for the receiver. */
export const forget = (records: World, receiver: ReceiverName, eventId: string) => {
  records.seen.get(receiver)?.delete(eventId);
  records.deliveries = records.deliveries.filter((row) => row.id !== `${receiver} ${eventId}`);
};

/** The first delivery to a receiver. */
export const delivery = (records: World, receiver: ReceiverName) =>
  at(
    records.deliveries.filter((row) => row.id.startsWith(receiver)),
    0,
  );
