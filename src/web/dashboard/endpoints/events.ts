import { EVENT_TYPES, type EventType } from '../../../domain/events.ts';
import { type Html, html } from '../../html.ts';
import { checkboxes } from '../../parts/field.ts';
import type { Values } from '../list.ts';
import type { Typed } from '../visit.ts';

const ALL = '*';
const NAMES = [ALL, ...EVENT_TYPES] as const;

const MEANINGS: Readonly<Record<EventType, string>> = {
  'deposit.detected': 'money was seen, and does not count yet',
  'deposit.confirming': 'it is in a block, and waits for confirmations',
  'deposit.completed': 'it counts: credit your customer',
  'deposit.settled': 'it was paid out to you',
  'deposit.failed': 'it does not count',
  'customer.created': 'a customer was made',
  'payment.completed': 'a payment link is paid',
};

/** What is sent to an endpoint, in words. */
export function eventNames(events: readonly string[]): string {
  return events.includes(ALL) ? 'All' : events.join(', ');
}

/** One box for each event, and one for all of them. */
export function eventBoxes({ values, errors }: Typed): Html {
  return checkboxes(
    { name: 'events', label: 'Events', hint: 'What is sent to it.', error: errors['events'] },
    NAMES.map((name) => ({
      value: name,
      label:
        name === ALL
          ? 'All of them, also those that come later'
          : html`<code>${name}</code>: ${MEANINGS[name]}`,
      checked: values[`events.${name}`] === 'on',
    })),
  );
}

/** The events whose boxes are checked; all of them is one name. */
export function checkedEvents(values: Values): string[] {
  const checked = NAMES.filter((name) => values[`events.${name}`] === 'on');
  return checked.includes(ALL) ? [ALL] : checked;
}

/** The boxes of these events as a form would post them. */
export function boxesOf(events: readonly string[]): Values {
  return Object.fromEntries(events.map((name) => [`events.${name}`, 'on']));
}
