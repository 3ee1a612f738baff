import type { Command } from 'commander';
import type { Mode } from '../../../domain/assets.ts';
import { oneOf, text, wholeNumber } from '../../arguments.ts';
import { type Acting, acting } from '../../operator.ts';
import { answering, group, leaf } from '../../run.ts';
import { facts, listing } from '../../table.ts';

const MAX_LISTED = 1_000;
const ID = 'id of an endpoint ("endpoint list")';

/** `endpoint`. */
export function addEndpointCommands(program: Command): void {
  const endpoint = group(program, 'endpoint', 'where merchants receive webhooks');
  leaf(endpoint, 'list', 'lists webhook endpoints, newest first')
    .option('--merchant <id>', 'only of this merchant', text())
    .option('--mode <mode>', 'only of this mode', oneOf('live', 'test'))
    .option('--disabled', 'only those to which nothing is sent')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50)
    .action(answering(list));
  leaf(endpoint, 'show', 'one endpoint: how it does, and what to do')
    .argument('<id>', ID, text())
    .action(answering(show));
  acting(
    leaf(endpoint, 'enable', 'lets webhooks go there again; what failed meanwhile is not sent by itself'),
  )
    .argument('<id>', ID, text())
    .action(answering((call: Changing) => change(call, true)));
  acting(
    leaf(endpoint, 'disable', 'sends nothing there until it is enabled; events fail at once and stay listed'),
  )
    .argument('<id>', ID, text())
    .action(answering((call: Changing) => change(call, false)));
}

type Filters = {
  readonly merchant?: string;
  readonly mode?: Mode;
  readonly disabled?: true;
  readonly limit: number;
};

async function list({ options }: { options: Filters }) {
  const [{ withGateway }, { listAllEndpoints }] = await Promise.all([
    import('../../process.ts'),
    import('./endpoint-rows.ts'),
  ]);
  const endpoints = await withGateway({}, ({ deps }) => listAllEndpoints(deps, options));
  const header = [
    'ID',
    'STATE',
    'MODE',
    'FAILED',
    'LAST',
    'MERCHANT',
    'LAST DELIVERY',
    'URL',
    'EVENTS',
    'WHY',
  ];
  const rows = endpoints.map((row) => [
    row.id,
    row.enabled ? 'enabled' : 'disabled',
    row.is_live ? 'live' : 'test',
    row.consecutive_failures,
    row.last_status_code,
    row.merchant_id,
    row.last_delivery_at,
    row.url,
    row.events.join(' '),
    row.disabled_reason,
  ]);
  const none = 'No endpoint: leave filters out, or see "merchant list".';
  const next = 'How one does: "endpoint show ID". What was sent: "webhook list --endpoint ID".';
  const limit = { given: options.limit, most: MAX_LISTED };
  return { json: { endpoints }, ...listing({ header, rows, none, next, limit }) };
}

async function show({ args }: { args: readonly string[] }) {
  const [{ withGateway }, { readEndpoint }] = await Promise.all([
    import('../../process.ts'),
    import('./endpoint-rows.ts'),
  ]);
  const found = await withGateway({}, ({ deps }) => readEndpoint(deps, args[0] ?? ''));
  const { why, action, deliveries, ...endpoint } = found;
  const parts = [
    facts({ why, 'to do': action }),
    facts({ ...endpoint, events: endpoint.events.join(' '), deliveries }),
  ];
  return {
    json: found,
    text: parts.join('\n\n'),
    next: `What was sent: "webhook list --endpoint ${endpoint.id}".`,
  };
}

type Changing = { readonly args: readonly string[]; readonly options: Acting };

async function change({ args, options }: Changing, enabled: boolean) {
  const [{ withGateway }, { scopeOfEndpoint }, { updateEndpoint }, { transact }] = await Promise.all([
    import('../../process.ts'),
    import('./endpoint-rows.ts'),
    import('../../../services/webhooks/endpoints.ts'),
    import('../../../services/transact.ts'),
  ]);
  const id = args[0] ?? '';
  const endpoint = await withGateway({ by: options.by }, async ({ deps }) => {
    const scope = await scopeOfEndpoint(deps, id);
    return await transact(deps, (tx) => updateEndpoint(tx, deps, { ...scope, id, enabled }));
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
