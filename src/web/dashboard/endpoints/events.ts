import { EVENT_TYPES, type EventType, isSubscribed, NAMED_EVENTS } from '../../../domain/events.ts';
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
  'payment.partially_paid': 'a payment link is paid in part, and nothing more is on its way',
  'payment.late': 'money came for a payment link that had ended',
  'payment.expired': 'the time of a payment link is over',
  'payment.cancelled': 'a payment link was cancelled',
};

/** What is sent to an endpoint, in words. */
export function eventNames(events: readonly string[]): string {
  if (!events.includes(ALL)) return events.join(', ');
  return ['All common ones', ...alone(events)].join(', ');
}

/** The names that "*" does not stand for. */
function alone(events: readonly string[]): string[] {
  return events.filter((name) => name !== ALL && !isSubscribed([ALL], name));
}

/** One box for each event, and one for the common ones. */
export function eventBoxes({ values, errors }: Typed): Html {
  return checkboxes(
    { name: 'events', label: 'Events', hint: 'What is sent to it.', error: errors['events'] },
    NAMES.map((name) => ({
      value: name,
      label:
        name === ALL
          ? html`All common ones: each of these, but for ${NAMED_EVENTS.length} that are sent only where they are named`
          : html`<code>${name}</code>: ${MEANINGS[name]}${isSubscribed([ALL], name) ? '' : ' (only where it is named)'}`,
      checked: values[`events.${name}`] === 'on',
    })),
  );
}

/** The events whose boxes are checked; the common ones are one name. */
export function checkedEvents(values: Values): string[] {
  const checked = NAMES.filter((name) => values[`events.${name}`] === 'on');
  return checked.includes(ALL) ? [ALL, ...alone(checked)] : checked;
}

/** The boxes of these events as a form would post them. */
export function boxesOf(events: readonly string[]): Values {
  return Object.fromEntries(events.map((name) => [`events.${name}`, 'on']));
}
