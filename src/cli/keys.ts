import type { Command } from 'commander';
import { isoSeconds } from '../domain/events.ts';
import type { KeyView } from '../services/keys.ts';
import { duration, oneOf, text } from './arguments.ts';
import { type Acting, acting } from './operator.ts';
import { answering, group, leaf } from './run.ts';
import { facts, table } from './table.ts';

const DAY_MS = 86_400_000;
const MAX_GRACE_DAYS = 365;
const MAX_LABEL = 200;

/** `key`. */
export function addKeyCommands(program: Command): void {
  const key = group(program, 'key', 'API keys of merchants');
  acting(leaf(key, 'create', 'makes a key, which is shown this once'))
    .requiredOption('--merchant <id>', 'merchant id', text())
    .requiredOption('--mode <mode>', 'live or test', oneOf('live', 'test'))
    .option('--label <text>', 'what it is for', text(MAX_LABEL))
    .action(answering(create));
  leaf(key, 'list', 'lists keys, newest first').option('--merchant <id>', 'only of this merchant', text()).action(answering(list));
  acting(leaf(key, 'revoke <id>', 'ends a key at once')).action(answering(revoke));
  acting(leaf(key, 'rotate <id>', 'makes a second key and lets the old one end after a grace period'))
    .option('--grace <duration>', 'how long the old key goes on', duration(MAX_GRACE_DAYS * DAY_MS, `${MAX_GRACE_DAYS}d`), DAY_MS)
    .action(answering(rotate));
}

type Create = Acting & { readonly merchant: string; readonly mode: 'live' | 'test'; readonly label?: string };

async function create({ options }: { options: Create }) {
  const { withGateway, createKey } = await load();
  const made = await withGateway({ by: options.by }, ({ deps }) =>
    createKey(deps, { merchantId: options.merchant, mode: options.mode, label: options.label }),
  );
  return { json: made, text: shownOnce(made) };
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const { withGateway, listKeys } = await load();
  const keys = (await withGateway({}, ({ deps }) => listKeys(deps, { merchantId: options.merchant }))).map(present);
  const rows = keys.map((row) => [
    row.id,
    row.merchant_id,
    row.mode,
    `${row.prefix}…${row.last4}`,
    row.label,
    row.expires_at,
    row.revoked_at,
  ]);
  const header = ['ID', 'MERCHANT', 'MODE', 'KEY', 'LABEL', 'EXPIRES', 'REVOKED'];
  return { json: { keys }, text: table(header, rows, 'No key: make one with "key create --merchant ID --mode live".') };
}

async function revoke({ args, options }: { args: readonly string[]; options: Acting }) {
  const { withGateway, revokeKey } = await load();
  const view = present(await withGateway({ by: options.by }, ({ deps }) => revokeKey(deps, { keyId: args[0] ?? '' })));
  return { json: view, text: `Key ${view.id} (${view.prefix}…${view.last4}) ended at ${view.revoked_at}.` };
}

async function rotate({ args, options }: { args: readonly string[]; options: Acting & { readonly grace: number } }) {
  const { withGateway, rotateKey } = await load();
  const made = await withGateway({ by: options.by }, ({ deps }) => rotateKey(deps, { keyId: args[0] ?? '', graceMs: options.grace }));
  const end = `The old key ends at ${isoSeconds(new Date(Date.now() + options.grace))}, unless it ends earlier anyway.`;
  return { json: made, text: `${shownOnce(made)}\n${end}` };
}

async function load() {
  const [ground, keys] = await Promise.all([import('./ground.ts'), import('../services/keys.ts')]);
  return { ...ground, ...keys };
}

function shownOnce(made: { id: string; key: string }): string {
  return `${facts({ id: made.id, key: made.key })}\nThe key is shown this once: store it now.`;
}

function present(view: KeyView) {
  const at = (date: Date | null): string | null => (date ? isoSeconds(date) : null);
  return {
    ...{ id: view.id, merchant_id: view.merchantId, mode: view.mode, prefix: view.prefix, last4: view.last4, label: view.label },
    ...{ created_at: isoSeconds(view.createdAt), expires_at: at(view.expiresAt), revoked_at: at(view.revokedAt) },
  };
}
