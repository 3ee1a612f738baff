import type { Command } from 'commander';
import { UsageError } from '../../base/errors.ts';
import { duration, oneOf, text, wholeNumber } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { readSecret } from '../stdin.ts';
import { listing } from '../table.ts';

const MAX_LISTED = 1_000;
const MAX_DELAY_MS = 10 * 60_000;
const ASKED = {
  name: 'signing secret',
  maxBytes: 1_024,
  nextAction: 'Give it on one line, as it was shown',
} as const;
const SECRET = /^whsec_[A-Za-z0-9+/_=-]{24,200}$/;

/** `webhook`. */
export function addWebhookCommands(program: Command): void {
  const webhook = group(program, 'webhook', 'what was sent to merchants');
  leaf(webhook, 'list', 'lists deliveries, newest first')
    .option('--endpoint <id>', 'only to this endpoint', text())
    .option('--status <status>', 'only in this state', oneOf('pending', 'succeeded', 'failed'))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  acting(leaf(webhook, 'resend <delivery-id>', 'sends a finished delivery once more')).action(
    answering(resend),
  );
  leaf(
    webhook,
    'listen',
    'a receiver for development: prints each webhook and whether its signature is right',
  )
    .option('--port <port>', 'port on 127.0.0.1, 0 for a free one', wholeNumber(0, 65_535), 8_090)
    .option(
      '--secret-stdin',
      "read the endpoint's signing secret (whsec_…) on stdin instead of from WEBHOOK_SECRET",
    )
    .option('--status <code>', 'answer with this status', wholeNumber(200, 599), 200)
    .option('--delay <duration>', 'wait before answering', duration(MAX_DELAY_MS, '10m'), 0)
    .option('--reset', 'break the connection instead of answering')
    .action(answering(listen));
}

type Filters = {
  readonly endpoint?: string;
  readonly status?: 'pending' | 'succeeded' | 'failed';
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listAllDeliveries }] = await Promise.all([
    import('../process.ts'),
    import('./webhook-reads.ts'),
  ]);
  const deliveries = await withGateway({}, ({ deps }) => listAllDeliveries(deps, options));
  const rows = deliveries.map((row) => {
    const last = row.attempts.at(-1);
    return [
      row.id,
      row.event,
      row.status,
      row.attempts.length,
      row.created_at,
      row.next_attempt_at,
      last?.status_code ?? last?.error,
    ];
  });
  const header = ['ID', 'EVENT', 'STATUS', 'TRIED', 'CREATED', 'NEXT', 'LAST ANSWER'];
  const none = 'No delivery: leave filters out, or see with "doctor" whether events wait for a worker.';
  const next = 'Send a finished one once more with "webhook resend ID".';
  return {
    json: { deliveries },
    ...listing({ header, rows, none, next, limit: { given: options.limit, most: MAX_LISTED } }),
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
  readonly port: number;
  readonly secretStdin?: true;
  readonly status: number;
  readonly delay: number;
  readonly reset?: true;
  readonly json?: true;
};

async function listen({ options }: { options: Listen }) {
  const { port, secretStdin, status, delay, reset, json } = options;
  const secret = secretIn(secretStdin ? await readSecret(ASKED) : process.env['WEBHOOK_SECRET']);
  if (secretStdin && secret === undefined) throw new UsageError('There is no secret on stdin');
  const { listenForWebhooks } = await import('../listen.ts');
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

/**
 * The secret never comes as an argument: arguments are visible in the process list and in
 * the shell's history. An empty one counts as none.
 */
function secretIn(given: string | undefined): string | undefined {
  const secret = given?.trim() || undefined;
  if (secret !== undefined && !SECRET.test(secret))
    throw new UsageError('The signing secret must be the whole one as it was shown, whsec_ included');
  return secret;
}
