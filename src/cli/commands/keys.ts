import { UsageError } from '../../base/errors.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { KeyScope } from '../../domain/key-scope.ts';
import { allowNetwork, disallowNetwork, listAllowedNetworks } from '../../services/access/allowlist.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../services/merchants/keys.ts';
import { facts, listed, type ViewColumn, viewOf } from '../print.ts';
import { withGateway } from '../process.ts';
import type { Acting, CommandCall } from '../run.ts';

/** API keys, and from where they may be used. */
export const KEYS = { create, list, revoke, rotate, allowIp };

type Create = Acting & {
  readonly merchant: string;
  readonly mode: 'live' | 'test';
  readonly label?: string;
  readonly scope?: readonly KeyScope[];
  readonly expires?: Date;
};

async function create({ options }: CommandCall<Create>) {
  const { merchant: merchantId, mode, label, scope: scopes, expires: expiresAt, by } = options;
  const made = await withGateway({ by }, ({ deps }) =>
    createKey(deps, { merchantId, mode, label, scopes, expiresAt }),
  );
  return { json: made, text: shownOnce(made) };
}

async function list({ options }: CommandCall<{ readonly merchant?: string }>) {
  const found = await withGateway({}, ({ deps }) => listKeys(deps, { merchantId: options.merchant }));
  const keys = found.map(viewOf);
  const none = 'No key: make one with "key create --merchant ID --mode live".';
  const next = 'End one with "key revoke ID", or replace it without a gap with "key rotate ID".';
  return { json: { keys }, ...listed(keys, { columns: COLUMNS, none, next }) };
}

const COLUMNS: readonly ViewColumn[] = [
  'id',
  'mode',
  ['KEY', ({ prefix, last4 }) => `${prefix}…${last4}`],
  ['LAST USED', ({ last_used_at: at }) => at ?? 'never'],
  ['FROM', 'last_used_from'],
  'merchant_id',
  ['MAY', 'scopes'],
  'revoked_at',
  'expires_at',
  'label',
];

async function revoke({ args: [keyId = ''], options: { by } }: CommandCall<Acting>) {
  const key = await withGateway({ by }, ({ deps }) => revokeKey(deps, { keyId }));
  const json = viewOf(key);
  return { json, text: `Key ${key.id} (${key.prefix}…${key.last4}) ended at ${json['revoked_at']}.` };
}

type Rotate = Acting & { readonly grace: number; readonly expires?: Date };

async function rotate({ args: [keyId = ''], options }: CommandCall<Rotate>) {
  const { grace: graceMs, expires, by } = options;
  const { id, key, expiresAt } = await withGateway({ by }, ({ deps }) =>
    rotateKey(deps, { keyId, graceMs, expiresAt: expires }),
  );
  const old = `The old key ends at ${isoSeconds(new Date(Date.now() + graceMs))}, unless it ends earlier anyway.`;
  const own = expiresAt
    ? [`The new key ends at ${isoSeconds(expiresAt)}; make it with --expires for another end.`]
    : [];
  return { json: { id, key }, text: [shownOnce({ id, key }), old, ...own].join('\n') };
}

function shownOnce({ id, key }: { readonly id: string; readonly key: string }): string {
  return `${facts({ id, key })}\nThe key is shown this once: store it now.`;
}

const CHANGES = { add: allowNetwork, remove: disallowNetwork, list: listAllowedNetworks } as const;

async function allowIp({ args, options }: CommandCall<Acting & { readonly merchant: string }>) {
  const [what = 'list', network] = args as [keyof typeof CHANGES, string?];
  if ((what === 'list') !== (network === undefined))
    throw new UsageError(
      network === undefined ? `allow-ip ${what} needs a network` : 'list takes no network',
    );
  const { merchantId, networks } = await withGateway({ by: options.by }, ({ deps }) =>
    CHANGES[what](deps, { merchantId: options.merchant, network: network ?? '' }),
  );
  const none =
    'Empty: live keys work from every address. Close the others: "allow-ip add NETWORK --merchant ID".';
  const next = 'Live keys work from nowhere else. Take one off with "allow-ip remove NETWORK --merchant ID".';
  const views = networks.map((one) => ({ live_keys_work_from: one }));
  return { json: { merchant_id: merchantId, networks }, ...listed(views, { none, next }) };
}
