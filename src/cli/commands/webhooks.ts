import type { Command } from 'commander';
import { UsageError } from '../../base/errors.ts';
import { ago, duration, oneOf, reading, text, wholeNumber } from '../arguments.ts';
import { COLUMNS } from '../columns.ts';
import { eventNames, webAddress } from '../follow/options.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { listed, MAX_LISTED } from '../views.ts';
import type { DeliveryFilters } from './webhook-reads.ts';

const MAX_DELAY_MS = 10 * 60_000;

/** `webhook`. */
export function addWebhookCommands(program: Command): void {
  const webhook = group(program, 'webhook', 'what was sent to merchants');
  leaf(webhook, 'list', 'lists deliveries, newest first')
    .option('--endpoint <id>', 'only to this endpoint', text())
    .option('--merchant <id>', 'only to the endpoints of this merchant', text())
    .option('--about <id>', 'only about this deposit, customer, payment link or endpoint', text())
    .option('--status <status>', 'only in this state', oneOf('pending', 'succeeded', 'failed'))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  acting(leaf(webhook, 'resend <delivery-id>', 'sends a finished delivery once more')).action(
    answering(resend),
  );
  leaf(
    webhook,
    'listen',
    'for development: forwards events to a shop, or is a receiver that prints each webhook',
  )
    .option('--forward-to <url>', 'follow the events of an API key and send each here, signed', (url) =>
      reading(() => webAddress(url)),
    )
    .option('--api <url>', 'with --forward-to: the gateway, if not GATEWAY_URL says it', text())
    .option('--key-stdin', 'with --forward-to: read the API key on stdin instead of from GATEWAY_KEY')
    .option('--events <names>', 'with --forward-to: only these, with commas between them', (names) =>
      reading(() => eventNames(names)),
    )
    .option('--since <time>', 'with --forward-to: also what happened since, such as 15m or a time', ago)
    .option('--port <port>', 'port on 127.0.0.1, 0 for a free one; 8090 if unset', wholeNumber(0, 65_535))
    .option('--secret-stdin', 'read the signing secret (whsec_…) on stdin instead of from WEBHOOK_SECRET')
    .option('--status <code>', 'answer what is right with this status', wholeNumber(200, 599))
    .option('--delay <duration>', 'wait before answering', duration(MAX_DELAY_MS, '10m'))
    .option('--reset', 'break the connection instead of answering')
    .action(answering(listen));
}

async function list({ options }: { options: DeliveryFilters }) {
  const [{ withGateway }, { listAllDeliveries }, { pagesOf }] = await Promise.all([
    import('../process.ts'),
    import('./webhook-reads.ts'),
    import('../links.ts'),
  ]);
  const deliveries = await withGateway({}, ({ deps, config }) =>
    listAllDeliveries(deps, pagesOf(config), options),
  );
  const none = 'No delivery: leave filters out, or see with "doctor" whether events wait for a worker.';
  const next = 'Send a finished one once more with "webhook resend ID".';
  return {
    json: { deliveries },
    ...listed(deliveries, { columns: COLUMNS.delivery, none, next, limit: options.limit }),
  };
}

async function resend({ args, options }: { args: readonly string[]; options: Acting }) {
  const [{ withGateway }, { scopeOfDelivery }, { resendDelivery }, { transact }] = await Promise.all([
    import('../process.ts'),
    import('./webhook-reads.ts'),
    import('../../services/webhooks/resend.ts'),
    import('../../services/transact.ts'),
  ]);
  const id = args[0] ?? '';
  const delivery = await withGateway({ by: options.by }, async ({ deps }) => {
    const scope = await scopeOfDelivery(deps, id);
    return await transact(deps, (tx) => resendDelivery(tx, deps, { ...scope, id }));
  });
  return {
    json: { delivery },
    text: `Delivery ${delivery.id} (${delivery.event}) is on its way again; a running worker sends it.`,
  };
}

type Listen = {
  readonly forwardTo?: URL;
  readonly api?: string;
  readonly keyStdin?: true;
  readonly events?: readonly string[];
  readonly since?: Date;
  readonly port?: number;
  readonly secretStdin?: true;
  readonly status?: number;
  readonly delay?: number;
  readonly reset?: true;
  readonly json?: true;
};

const DEFAULT_PORT = 8_090;
const RECEIVING = ['port', 'status', 'delay', 'reset'] as const;
const FORWARDING = ['api', 'keyStdin', 'events', 'since'] as const;

async function listen({ options }: { options: Listen }) {
  const { forwardTo } = options;
  const alien = (forwardTo ? RECEIVING : FORWARDING).find((name) => options[name] !== undefined);
  if (alien !== undefined) {
    const flag = `--${alien.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new UsageError(`${flag} ${forwardTo ? 'has no meaning with' : 'needs'} --forward-to`);
  }
  return forwardTo ? await follow(options, forwardTo) : await receive(options);
}

async function follow({ forwardTo: _, ...options }: Listen, to: URL) {
  const { followAs } = await import('../follow/given.ts');
  await followAs({ ...options, to });
  return undefined;
}

async function receive(options: Listen) {
  const { port = DEFAULT_PORT, secretStdin, status = 200, delay = 0, reset, json } = options;
  const [{ readSigningSecret }, { listenForWebhooks }] = await Promise.all([
    import('../follow/given.ts'),
    import('../listen.ts'),
  ]);
  const secret = await readSigningSecret(secretStdin);
  await listenForWebhooks({
    port,
    secret,
    status,
    delayMs: delay,
    reset: reset === true,
    json: json === true,
  });
  return undefined;
}
