import { isoSeconds } from '../../../domain/events.ts';
import { KEY_SCOPES, type KeyScope } from '../../../domain/key-scope.ts';
import {
  createKey,
  type KeyView,
  listOwnKeys,
  revokeKey,
  rotateKey,
} from '../../../services/merchants/keys.ts';
import { foreign, type Html, type HtmlValue, html } from '../../html.ts';
import { badge } from '../../parts/badge.ts';
import { card } from '../../parts/card.ts';
import { dateTime, time } from '../../parts/time.ts';
import { detail } from '../detail.ts';
import { boxes, select, text } from '../fields.ts';
import { form } from '../form.ts';
import { emptyOf, type LinkTo, nothing, type Rows, tableOf, when } from '../pieces.ts';
import type { Reading, Values, Visit } from '../visit.ts';
import { SETTINGS } from './settings.ts';

const KEYS: LinkTo = ['/settings/keys', 'API keys'];

/** What each scope lets a key do. */
const SCOPE_WORDS = {
  read: 'read',
  payments: 'make customers and payment links',
  webhooks: 'change webhook endpoints and send again',
  all: 'everything',
} as const;

const LIST = detail({
  path: KEYS[0],
  back: SETTINGS,
  load: ({ deps, scope }) => listOwnKeys(deps, scope),
  title: (_keys, { mode }) => `API keys of ${mode} mode`,
  actions: () => [{ path: '/settings/keys/new', label: 'New key' }],
  sections: ({ keys, more }, visit) =>
    keys.length === 0
      ? [
          emptyOf(visit, {
            title: 'No keys yet',
            text: 'Your server needs one to call the API.',
            way: ['/settings/keys/new', 'Make the first one'],
          }),
        ]
      : [
          card(tableOf(visit, 'Valid keys first, then those that have ended', KEY_ROWS, keys)),
          more ? nothing('Older keys that have ended are not shown.') : null,
        ],
});

const at = (date: Date): Html => time(isoSeconds(date));

const isValid = ({ revokedAt, expiresAt }: KeyView, { deps }: Visit): boolean =>
  !revokedAt && (!expiresAt || expiresAt > deps.now());

const KEY_ROWS: Rows<KeyView> = {
  columns: [
    { head: 'Key', cell: keyName },
    { head: 'May', cell: ({ scopes }) => scopes.map((scope) => SCOPE_WORDS[scope]).join(', ') },
    { head: 'Made', cell: ({ createdAt }) => at(createdAt) },
    {
      head: 'Ends',
      cell: (key, visit) =>
        isValid(key, visit) ? when(key.expiresAt, at, 'Never') : badge('plain', 'Ended'),
    },
    {
      head: 'Last used',
      cell: ({ lastUsedAt, lastUsedFrom }) =>
        when(
          lastUsedAt,
          (used) => html`${at(used)}${when(lastUsedFrom, (from) => ` from ${from}`)}`,
          'Never',
        ),
    },
    { head: 'Change', cell: (key, visit) => (isValid(key, visit) ? changes(key, visit) : '–') },
  ],
};

/** What a key is called: its label where it has one, and what can be seen of it. */
function keyName({ label, prefix, last4 }: KeyView): HtmlValue {
  const seen = html`<span class="mono">${prefix}…${last4}</span>`;
  return when(label, (name) => html`${foreign(name)} (${seen})`, seen);
}

function changes({ id, prefix, last4 }: KeyView, { to }: Visit): Html {
  const way = (verb: string, label: string) =>
    html`<a href="${to(`/settings/keys/${id}/${verb}`)}" aria-label="${label} ${prefix}…${last4}">${label}</a>`;
  return html`${way('rotate', 'Replace')}\n${way('revoke', 'End')}`;
}

type Terms = {
  readonly label: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: Date | undefined;
};

const NEW_KEY = form<Terms>({
  path: '/settings/keys/new',
  guard: 'live',
  initial: () => ({ 'scopes.all': 'on' }),
  shows: ({ mode }) => ({
    title: `New key of ${mode} mode`,
    back: KEYS,
    fields: [
      text('label', 'Label', ' maxlength="200"', 'For your own eyes, such as “shop server”'),
      boxes(
        'scopes',
        'What it may do',
        KEY_SCOPES.map((value) => ({ value, label: choiceOf(value) })),
      ),
      text('expires', 'Last day', ' type="date"', {
        hint: 'It ends with this day in UTC. Left empty, it never ends by itself.',
      }),
    ],
    button: 'Make the key',
  }),
  read: (_visit, values) => termsOf(values),
  apply: async (tx, _deps, { visit: { deps, scope, mode }, input }) => {
    const { key } = await createKey(deps, { ...scope, ...input }, tx);
    const said = `It opens the API in ${mode} mode at once. Keep it where your server keeps its secrets.`;
    return { to: KEYS[0], secrets: { title: 'Your new key', text: said, items: [['API key', key]] } };
  },
});

function choiceOf(scope: KeyScope): string {
  if (scope === 'all') return 'Everything, also what is added later';
  const words = SCOPE_WORDS[scope];
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function termsOf(values: Values): Reading<Terms> {
  const scopes = KEY_SCOPES.filter((scope) => values[`scopes.${scope}`] === 'on');
  const day = values['expires']?.trim() ?? '';
  const expiresAt = day === '' ? undefined : endOfDay(day);
  const details = [
    ...(scopes.length === 0 ? [{ path: 'scopes', message: 'Choose at least one.' }] : []),
    ...(day !== '' && !expiresAt ? [{ path: 'expires', message: 'Give a day such as 2027-01-31.' }] : []),
  ];
  return details.length > 0 ? { details } : { input: { label: values['label'] ?? '', scopes, expiresAt } };
}

/** The last second of a day, in UTC; undefined for what is no day. */
function endOfDay(day: string): Date | undefined {
  const last = new Date(`${day}T23:59:59Z`);
  return Number.isNaN(last.getTime()) || last.toISOString().slice(0, 10) !== day ? undefined : last;
}

/** One key of the page's merchant and mode. Throws NOT_FOUND for every other id. */
async function keyOf({ deps, scope, named, door }: Visit): Promise<KeyView> {
  const key = (await listOwnKeys(deps, scope)).keys.find(({ id }) => id === named.id);
  if (!key) throw door.refusal('NOT_FOUND');
  return key;
}

const REVOKE = form({
  path: '/settings/keys/:id/revoke',
  guard: 'live',
  shows: async (visit) => ({
    title: 'End a key',
    back: KEYS,
    text: html`<p>${keyName(await keyOf(visit))} ends at once and for good. Whatever still uses it is refused from then on.</p>`,
    button: 'End this key',
  }),
  apply: async (tx, _deps, { visit: { deps, scope, named } }) => {
    await revokeKey(deps, { keyId: named.id, scope }, tx);
    return KEYS[0];
  },
});

const HOUR_MS = 3_600_000;
const GRACES = [
  { value: 'day', label: 'For one more day', ms: 24 * HOUR_MS },
  { value: 'week', label: 'For one more week', ms: 7 * 24 * HOUR_MS },
  { value: 'hour', label: 'For one more hour', ms: HOUR_MS },
  { value: 'none', label: 'Not at all: it ends now', ms: 0 },
] as const;

const ROTATE = form<number>({
  path: '/settings/keys/:id/rotate',
  guard: 'live',
  shows: async (visit) => ({
    title: 'Replace a key',
    back: KEYS,
    text: html`<p>A new key takes the place of ${keyName(await keyOf(visit))}. Give it to your server while the old one still works.</p>`,
    fields: [select('grace', 'The old key works', GRACES)],
    button: 'Make the new key',
  }),
  read: (_visit, values) => {
    const grace = GRACES.find(({ value }) => value === values['grace']);
    if (grace) return { input: grace.ms };
    return { details: [{ path: 'grace', message: 'Choose how long the old key works.' }] };
  },
  apply: async (tx, _deps, { visit: { deps, scope, named }, input: graceMs }) => {
    const { key } = await rotateKey(deps, { keyId: named.id, scope, graceMs }, tx);
    const end = dateTime(new Date(deps.now().getTime() + graceMs).toISOString());
    const old = graceMs === 0 ? 'The old one has ended.' : `The old one ends at ${end} at the latest.`;
    const said = `It works at once, and may do what the old one may. ${old}`;
    const title = 'The key that takes its place';
    return { to: KEYS[0], secrets: { title, text: said, items: [['API key', key]] } };
  },
});

/** API keys of a mode. */
export const KEY_PAGES = [LIST, NEW_KEY, REVOKE, ROTATE];
