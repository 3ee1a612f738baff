import type { Command } from 'commander';
import { type AnyEventType, EVENT_TYPES, TEST_EVENT } from '../../../domain/events.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { answering, group, leaf } from '../../run.ts';
import { facts, listing, plain } from '../../table.ts';
import { wrapped } from '../../width.ts';

const MAX_LISTED = 1_000;

/** `event`. */
export function addEventCommands(program: Command): void {
  const event = group(program, 'event', 'what merchants were told');
  leaf(event, 'list', 'lists events, newest first')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--about <id>', 'only about this deposit, customer, payment link or endpoint', text())
    .option('--type <event>', 'only of this kind', oneOf(...EVENT_TYPES, TEST_EVENT))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(event, 'show', 'one event as it was sent, with its deliveries and their answers')
    .argument('<id>', 'id of an event', text())
    .action(answering(show));
}

type Filters = {
  readonly merchant?: string;
  readonly about?: string;
  readonly type?: AnyEventType;
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listAllEvents }] = await Promise.all([
    import('../../process.ts'),
    import('./event-rows.ts'),
  ]);
  const events = await withGateway({}, ({ deps }) => listAllEvents(deps, options));
  const header = ['ID', 'EVENT', 'MODE', 'AT', 'ABOUT', 'MERCHANT'];
  const rows = events.map((row) => [
    row.id,
    row.event,
    row.is_live ? 'live' : 'test',
    row.timestamp,
    row.about,
    row.merchant_id,
  ]);
  const none = 'No event: leave filters out, or see with "merchant list" whose they would be.';
  const next = 'What was sent, and who answered what: "event show ID".';
  const limit = { given: options.limit, most: MAX_LISTED };
  return { json: { events }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readEventInFull }, { pagesOf }] = await Promise.all([
    import('../../process.ts'),
    import('./event-rows.ts'),
    import('../../links.ts'),
  ]);
  const found = await withGateway({}, ({ deps, config }) =>
    readEventInFull(deps, pagesOf(config), args[0] ?? ''),
  );
  const { body, deliveries, dashboard, ...event } = found;
  const sent = deliveries.map((delivery) =>
    [
      ...wrapped(plain(`${delivery.id}  ${delivery.status}  ${delivery.url}`)),
      ...delivery.attempts.flatMap((attempt) =>
        wrapped(plain(attempt.status_code ?? attempt.error), `  ${attempt.number}. ${attempt.started_at}  `),
      ),
    ].join('\n'),
  );
  const none = 'No endpoint had asked for it.';
  return {
    json: found,
    text: [facts(event), sent.length === 0 ? none : sent.join('\n'), wrapped(plain(body)).join('\n')].join(
      '\n\n',
    ),
    ...(dashboard === null ? {} : { copy: ['', dashboard] }),
    next: 'Send a finished delivery once more: "webhook resend DELIVERY-ID".',
  };
}
