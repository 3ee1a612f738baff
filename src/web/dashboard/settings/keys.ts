import { isoSeconds } from '../../../domain/events.ts';
import { type KeyView, listOwnKeys } from '../../../services/merchants/keys.ts';
import { foreign, type Html, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { emptyState } from '../../parts/empty.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/time.ts';
import { crumb, heading } from '../heading.ts';
import type { ReadPage, Visit } from '../visit.ts';

/** The keys of the page's mode: those that are valid first, then those that ended. */
export const KEYS_PAGE: ReadPage = {
  path: '/settings/keys',
  withoutSubscription: true,
  show: async (visit) => {
    const { deps, scope, mode, to } = visit;
    const { keys, more } = await listOwnKeys(deps, scope);
    const title = `API keys of ${mode} mode`;
    const make = html`<a class="button" href="${to('/settings/keys/new')}">New key</a>`;
    const list = html`${card(table('Valid keys first, then those that have ended', columns(visit), keys))}
${more ? html`<p class="muted">Older keys that have ended are not shown.</p>` : null}`;
    const none = emptyState('No keys yet', 'Your server needs one to call the API.', {
      href: to('/settings/keys/new'),
      label: 'Make the first one',
    });
    return {
      title,
      body: html`${crumb(to('/settings'), 'Settings')}${heading(title, make)}
${keys.length === 0 ? none : list}`,
    };
  },
};

/** One key of the page's merchant and mode. Throws the door's NOT_FOUND for every other id. */
export async function keyOf({ deps, scope, params, door }: Visit): Promise<KeyView> {
  const { keys } = await listOwnKeys(deps, scope);
  const key = keys.find(({ id }) => id === params['id']);
  if (!key) throw door.refusal('NOT_FOUND');
  return key;
}

/** What a key is called: its label where it has one, and what can be seen of it. */
export function keyName({ label, prefix, last4 }: KeyView): Html {
  const text = html`<span class="mono">${prefix}…${last4}</span>`;
  return label === null ? text : html`${foreign(label)} (${text})`;
}

function columns({ to, deps }: Visit): readonly Column<KeyView>[] {
  const now = deps.now();
  const isValid = ({ revokedAt, expiresAt }: KeyView) => !revokedAt && (!expiresAt || expiresAt > now);
  return [
    { head: 'Key', cell: keyName },
    { head: 'May', cell: ({ scopes }) => scopes.map((scope) => SCOPE_WORDS[scope]).join(', ') },
    { head: 'Made', cell: ({ createdAt }) => time(isoSeconds(createdAt)) },
    { head: 'Ends', cell: (key) => (isValid(key) ? endOf(key) : badge('plain', 'Ended')) },
    { head: 'Last used', cell: lastUse },
    {
      head: 'Change',
      cell: (key) =>
        isValid(key)
          ? html`<a href="${to(`/settings/keys/${key.id}/rotate`)}" aria-label="Replace ${key.prefix}…${key.last4}">Replace</a>
<a href="${to(`/settings/keys/${key.id}/revoke`)}" aria-label="End ${key.prefix}…${key.last4}">End</a>`
          : '–',
    },
  ];
}

function endOf({ expiresAt }: KeyView): Html | string {
  return expiresAt ? time(isoSeconds(expiresAt)) : 'Never';
}

function lastUse({ lastUsedAt, lastUsedFrom }: KeyView): Html | string {
  if (!lastUsedAt) return 'Never';
  return html`${time(isoSeconds(lastUsedAt))}${lastUsedFrom === null ? null : html` from ${lastUsedFrom}`}`;
}

/** What each scope lets a key do. */
export const SCOPE_WORDS = {
  read: 'read',
  payments: 'make customers and payment links',
  webhooks: 'change webhook endpoints and send again',
  all: 'everything',
} as const;
