import { type Command, InvalidArgumentError, Option } from 'commander';
import { isoSeconds } from '../../domain/events.ts';
import { KEY_SCOPES, type KeyScope, parseScopes } from '../../domain/key-scope.ts';
import type { KeyView } from '../../services/merchants/keys.ts';
import { duration, end, oneOf, text } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { facts, listing } from '../table.ts';

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
    .option(
      '--scope <scopes>',
      `what it may do: ${KEY_SCOPES.join(', ')}; several with commas (default: all)`,
      scopesIn,
    )
    .option('--expires <end>', 'when it ends by itself: a duration such as 90d, or a time', end)
    .action(answering(create));
  leaf(key, 'list', 'lists keys, newest first')
    .option('--merchant <id>', 'only of this merchant', text())
    .action(answering(list));
  acting(leaf(key, 'revoke <id>', 'ends a key at once')).action(answering(revoke));
  acting(leaf(key, 'rotate <id>', 'makes a second key and lets the old one end after a grace period'))
    .addOption(
      new Option('--grace <duration>', 'how long the old key goes on')
        .argParser(duration(MAX_GRACE_DAYS * DAY_MS, `${MAX_GRACE_DAYS}d`))
        .default(DAY_MS, '24h'),
    )
    .option('--expires <end>', 'when the new key ends (default: when the old one would have)', end)
    .action(answering(rotate));
}

type Create = Acting & {
  readonly merchant: string;
  readonly mode: 'live' | 'test';
  readonly label?: string;
  readonly scope?: readonly KeyScope[];
  readonly expires?: Date;
};

async function create({ options }: { options: Create }) {
  const { merchant: merchantId, mode, label, scope: scopes, expires: expiresAt, by } = options;
  const { withGateway, createKey } = await load();
  const made = await withGateway({ by }, ({ deps }) =>
    createKey(deps, { merchantId, mode, label, scopes, expiresAt }),
  );
  return { json: made, text: shownOnce(made) };
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const { withGateway, listKeys } = await load();
  const keys = (await withGateway({}, ({ deps }) => listKeys(deps, { merchantId: options.merchant }))).map(
    present,
  );
  const rows = keys.map((row) => [
    row.id,
    row.mode,
    `${row.prefix}…${row.last4}`,
    row.last_used_at ?? 'never',
    row.last_used_from,
    row.merchant_id,
    row.scopes.join(', '),
    row.revoked_at,
    row.expires_at,
    row.label,
  ]);
  const header = ['ID', 'MODE', 'KEY', 'LAST USED', 'FROM', 'MERCHANT', 'MAY', 'REVOKED', 'EXPIRES', 'LABEL'];
  const none = 'No key: make one with "key create --merchant ID --mode live".';
  const next = 'End one with "key revoke ID", or replace it without a gap with "key rotate ID".';
  return { json: { keys }, ...listing({ header, rows, none, next }) };
}

async function revoke({ args, options }: { args: readonly string[]; options: Acting }) {
  const { withGateway, revokeKey } = await load();
  const view = present(
    await withGateway({ by: options.by }, ({ deps }) => revokeKey(deps, { keyId: args[0] ?? '' })),
  );
  return { json: view, text: `Key ${view.id} (${view.prefix}…${view.last4}) ended at ${view.revoked_at}.` };
}

async function rotate({
  args,
  options,
}: {
  args: readonly string[];
  options: Acting & { readonly grace: number; readonly expires?: Date };
}) {
  const { withGateway, rotateKey } = await load();
  const { grace: graceMs, expires, by } = options;
  const made = await withGateway({ by }, ({ deps }) =>
    rotateKey(deps, { keyId: args[0] ?? '', graceMs, expiresAt: expires }),
  );
  const { id, key, expiresAt } = made;
  const old = `The old key ends at ${isoSeconds(new Date(Date.now() + graceMs))}, unless it ends earlier anyway.`;
  const own = expiresAt
    ? [`The new key ends at ${isoSeconds(expiresAt)}; make it with --expires for another end.`]
    : [];
  return { json: { id, key }, text: [shownOnce(made), old, ...own].join('\n') };
}

function scopesIn(given: string): readonly KeyScope[] {
  const scopes = parseScopes(given);
  if (!scopes)
    throw new InvalidArgumentError(
      `It must be one or several of ${KEY_SCOPES.join(', ')}, with commas between.`,
    );
  return scopes;
}

async function load() {
  const [wiring, keys] = await Promise.all([
    import('../process.ts'),
    import('../../services/merchants/keys.ts'),
  ]);
  return { ...wiring, ...keys };
}

function shownOnce(made: { id: string; key: string }): string {
  return `${facts({ id: made.id, key: made.key })}\nThe key is shown this once: store it now.`;
}

function present(view: KeyView) {
  const at = (date: Date | null): string | null => (date ? isoSeconds(date) : null);
  return {
    id: view.id,
    merchant_id: view.merchantId,
    mode: view.mode,
    prefix: view.prefix,
    last4: view.last4,
    label: view.label,
    scopes: view.scopes,
    last_used_at: at(view.lastUsedAt),
    last_used_from: view.lastUsedFrom,
    created_at: isoSeconds(view.createdAt),
    expires_at: at(view.expiresAt),
    revoked_at: at(view.revokedAt),
  };
}
