import type { Command } from 'commander';
import { EVENT_TYPES, TEST_EVENT } from '../../../domain/events.ts';
import { LINK_STATUSES } from '../../../domain/payment-link.ts';
import type { Deps } from '../../../services/deps.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { COLUMNS, EVENTS } from '../../columns.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, group, leaf } from '../../run.ts';
import { type Column, listed, MAX_LISTED, type View } from '../../views.ts';
import { foundText, pagesIn } from './find.ts';
import type { Filters, LISTS } from './reads.ts';
import type { ShownKind } from './shows.ts';

const SHOW_EVENT = 'What was sent, and who answered what: "event show ID".';

/** `customer list` and `customer show`. */
export function addCustomerReads(customer: Command): void {
  list(customer, 'customers', {
    columns: COLUMNS.customer,
    none: 'No customer: leave filters out, or see with "merchant list" whose they would be.',
    next: 'All about one: "customer show ID".',
  })
    .option('--mode <mode>', 'only of this mode', oneOf('live', 'test'))
    .option('--email <email>', 'only with this email, in any case', text())
    .option('--external-id <id>', 'only with this id of the merchant', text())
    .option('--address <address>', 'only with this address, in any spelling', text());
  show(customer, 'customer', 'one customer with addresses and the newest deposits', {
    argument: 'id of a customer, or the email or external id of one',
    lists: { deposits: COLUMNS.deposit },
    next: 'All about one: "deposit show ID". A payment that is missing: "find HASH".',
  });
}

/** `payment`. */
export function addPaymentCommands(program: Command): void {
  const payment = group(program, 'payment', 'payment links of merchants');
  list(payment, 'payments', {
    columns: COLUMNS.payment_link,
    none: 'No payment link: leave filters out, or see with "merchant list" whose they would be.',
    next: 'All about one: "payment show ID".',
  })
    .option('--customer <id>', 'only of this customer', text())
    .option('--status <status>', 'only in this status', oneOf(...LINK_STATUSES))
    .option('--external-id <id>', "only with the merchant's own id of it", text());
  show(
    payment,
    'payment_link',
    'one payment link: what it waits for, what came, and what the merchant was told',
    {
      argument: 'id, token or external id of a payment link, or the address of its page',
      lists: { deposits: COLUMNS.deposit, events: EVENTS },
      next: 'What became of an event: "event show ID". Of a deposit: "deposit show ID".',
    },
  );
}

/** `endpoint`. */
export function addEndpointCommands(program: Command): void {
  const endpoint = group(program, 'endpoint', 'where merchants receive webhooks');
  list(endpoint, 'endpoints', {
    columns: COLUMNS.endpoint,
    none: 'No endpoint: leave filters out, or see "merchant list".',
    next: 'How one does: "endpoint show ID". What was sent: "webhook list --endpoint ID".',
  })
    .option('--mode <mode>', 'only of this mode', oneOf('live', 'test'))
    .option('--disabled', 'only those to which nothing is sent');
  const argument = 'id of an endpoint ("endpoint list")';
  show(endpoint, 'endpoint', 'one endpoint: how it does, and what to do', {
    argument,
    lists: {},
    next: 'What was sent: "webhook list --endpoint ID".',
  });
  acting(
    leaf(endpoint, 'enable', 'lets webhooks go there again; what failed meanwhile is not sent by itself'),
  )
    .argument('<id>', argument, text())
    .action(answering((call: Changing) => change(call, true)));
  acting(
    leaf(endpoint, 'disable', 'sends nothing there until it is enabled; events fail at once and stay listed'),
  )
    .argument('<id>', argument, text())
    .action(answering((call: Changing) => change(call, false)));
}

/** `event`. */
export function addEventCommands(program: Command): void {
  const event = group(program, 'event', 'what merchants were told');
  list(event, 'events', {
    columns: COLUMNS.event,
    none: 'No event: leave filters out, or see with "merchant list" whose they would be.',
    next: SHOW_EVENT,
  })
    .option('--about <id>', 'only about this deposit, customer, payment link or endpoint', text())
    .option('--type <event>', 'only of this kind', oneOf(...EVENT_TYPES, TEST_EVENT));
  show(event, 'event', 'one event as it was sent, with its deliveries and their answers', {
    argument: 'id of an event',
    lists: {},
    next: 'Send a finished delivery once more: "webhook resend DELIVERY-ID".',
  });
}

type ListTexts = { readonly columns: readonly Column[]; readonly none: string; readonly next: string };

function list(parent: Command, name: keyof typeof LISTS, texts: ListTexts): Command {
  const run = async ({ options }: { options: Filters }) => {
    const [{ withGateway }, { LISTS }] = await Promise.all([
      import('../../process.ts'),
      import('./reads.ts'),
    ]);
    const read: (deps: Deps, filters: Filters) => Promise<readonly View[]> = LISTS[name];
    const views = await withGateway({}, ({ deps }) => read(deps, options));
    return { json: { [name]: views }, ...listed(views, { ...texts, limit: options.limit }) };
  };
  return leaf(parent, 'list', `lists ${name === 'payments' ? 'payment links' : name}, newest first`)
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(run));
}

type ShowTexts = {
  readonly argument: string;
  readonly lists: Readonly<Record<string, readonly Column[]>>;
  readonly next: string;
};

function show(parent: Command, kind: ShownKind, about: string, { argument, lists, next }: ShowTexts): void {
  const read = async ({ args }: { args: readonly string[] }) => {
    const [{ withGateway }, { showOne }, { pagesOf }] = await Promise.all([
      import('../../process.ts'),
      import('./shows.ts'),
      import('../../links.ts'),
    ]);
    const one = await withGateway({}, ({ deps, config }) =>
      showOne(deps, pagesOf(config), kind, args[0] ?? ''),
    );
    return { json: one, text: foundText(one, lists), copy: pagesIn(one), next };
  };
  leaf(parent, 'show', about).argument('<id>', argument, text()).action(answering(read));
}

type Changing = { readonly args: readonly string[]; readonly options: Acting };

async function change({ args, options }: Changing, enabled: boolean) {
  const [{ withGateway }, { requireEndpoint }, { updateEndpoint }, { transact }] = await Promise.all([
    import('../../process.ts'),
    import('./reads.ts'),
    import('../../../services/webhooks/endpoints.ts'),
    import('../../../services/transact.ts'),
  ]);
  const endpoint = await withGateway({ by: options.by }, async ({ deps }) => {
    const { id, merchantId, mode } = await requireEndpoint(deps.orm.em.fork(), args[0] ?? '');
    return await transact(deps, (tx) => updateEndpoint(tx, deps, { merchantId, mode, id, enabled }));
  });
  const next = enabled
    ? 'What failed meanwhile: "webhook list --endpoint ID --status failed", and "webhook resend ID" for each.'
    : 'Events that it asked for fail at once from now on, and stay listed: "endpoint enable ID" ends that.';
  return {
    json: { endpoint },
    text: `Endpoint ${endpoint.id} is ${endpoint.enabled ? 'enabled' : 'disabled'}.`,
    next,
  };
}
