import { type Command, InvalidArgumentError } from 'commander';
import { duration, oneOf, text, wholeNumber } from './arguments.ts';
import { type Acting, acting } from './operator.ts';
import { answering, group, leaf } from './run.ts';
import { table } from './table.ts';

const MAX_LISTED = 1_000;
const MAX_DELAY_MS = 10 * 60_000;
const SECRET = /^whsec_[A-Za-z0-9+/_=-]{24,200}$/;

/** `webhook`. */
export function addWebhookCommands(program: Command): void {
  const webhook = group(program, 'webhook', 'what was sent to merchants');
  leaf(webhook, 'list', 'lists deliveries, newest first')
    .option('--endpoint <id>', 'only to this endpoint', text())
    .option('--status <status>', 'only in this state', oneOf('pending', 'succeeded', 'failed'))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  acting(leaf(webhook, 'resend <delivery-id>', 'sends a finished delivery once more')).action(answering(resend));
  leaf(webhook, 'listen', 'a receiver for development: prints each webhook and whether its signature is right')
    .option('--port <port>', 'port on 127.0.0.1, 0 for a free one', wholeNumber(0, 65_535), 8_090)
    .option('--secret <secret>', "the endpoint's signing secret (whsec_…)", secret)
    .option('--status <code>', 'answer with this status', wholeNumber(200, 599), 200)
    .option('--delay <duration>', 'wait before answering', duration(MAX_DELAY_MS, '10m'), 0)
    .option('--reset', 'break the connection instead of answering')
    .action(answering(listen));
}

type Filters = { readonly endpoint?: string; readonly status?: 'pending' | 'succeeded' | 'failed'; readonly limit: number };

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listAllDeliveries }] = await Promise.all([import('./ground.ts'), import('./webhook-reads.ts')]);
  const deliveries = await withGateway({}, ({ deps }) => listAllDeliveries(deps, options));
  const rows = deliveries.map((row) => {
    const last = row.attempts.at(-1);
    return [row.id, row.event, row.status, row.attempts.length, last?.status_code ?? last?.error, row.next_attempt_at, row.created_at];
  });
  const header = ['ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'LAST ANSWER', 'NEXT', 'CREATED'];
  return { json: { deliveries }, text: table(header, rows, 'No delivery.') };
}

async function resend({ args, options }: { args: readonly string[]; options: Acting }) {
  const [{ withGateway }, { scopeOfDelivery }, { resendDelivery }] = await Promise.all([
    import('./ground.ts'),
    import('./webhook-reads.ts'),
    import('../services/resend.ts'),
  ]);
  const id = args[0] ?? '';
  const delivery = await withGateway({ by: options.by }, async ({ deps }) =>
    resendDelivery(deps, { ...(await scopeOfDelivery(deps, id)), id }),
  );
  return { json: { delivery }, text: `Delivery ${delivery.id} (${delivery.event}) is on its way again; a running worker sends it.` };
}

type Listen = {
  readonly port: number;
  readonly secret?: string;
  readonly status: number;
  readonly delay: number;
  readonly reset?: true;
  readonly json?: true;
};

async function listen({ options }: { options: Listen }) {
  const { listenForWebhooks } = await import('./listen.ts');
  const { port, secret: signing, status, delay, reset, json } = options;
  await listenForWebhooks({ port, secret: signing, status, delayMs: delay, reset: reset === true, json: json === true });
  return undefined;
}

function secret(given: string): string {
  if (!SECRET.test(given)) throw new InvalidArgumentError('It must be the whole secret as it was shown, whsec_ included.');
  return given;
}
