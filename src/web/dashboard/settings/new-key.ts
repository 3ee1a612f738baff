import { KEY_SCOPES, type KeyScope } from '../../../domain/key-scope.ts';
import { createKey } from '../../../services/merchants/keys.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { checkboxes, textField } from '../../parts/field.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import type { FieldsResult, ReadPage, Screen, Typed, Visit } from '../visit.ts';
import { guardedWhenLive, guardFieldsWhenLive } from './guarded.ts';
import { SCOPE_WORDS } from './keys.ts';

const PATH = '/settings/keys/new';

type Terms = {
  readonly label: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAt: Date | undefined;
};

/** The form for a new key. */
export const NEW_KEY_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => screen(visit, { ...untouched(visit), values: { 'scopes.all': 'on' } }),
};

/** Makes a key, which is shown once. */
export const NEW_KEY_FORMS = guardedWhenLive<Terms>({
  path: PATH,
  withoutSubscription: true,
  fields: (_visit, values) => termsOf(values),
  apply: async (tx, _deps, { visit, input }) => {
    const { key } = await createKey(visit.deps, { ...visit.scope, ...input }, tx);
    return {
      to: visit.to('/settings/keys'),
      secrets: {
        title: 'Your new key',
        text: `It opens the API in ${visit.mode} mode at once. Keep it where your server keeps its secrets.`,
        items: [{ label: 'API key', value: key }],
      },
    };
  },
  again: async (visit, typed) => screen(visit, typed),
});

/** The last second of a day, in UTC; undefined for what is no day. */
export function endOfDay(text: string): Date | undefined {
  const at = new Date(`${text}T23:59:59Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text ? undefined : at;
}

function termsOf(values: Readonly<Record<string, string>>): FieldsResult<Terms> {
  const scopes = KEY_SCOPES.filter((scope) => values[`scopes.${scope}`] === 'on');
  const day = values['expires']?.trim() ?? '';
  const expiresAt = day === '' ? undefined : endOfDay(day);
  const details = [
    ...(scopes.length === 0 ? [{ path: 'scopes', message: 'Choose at least one.' }] : []),
    ...(day !== '' && !expiresAt ? [{ path: 'expires', message: 'Give a day such as 2027-01-31.' }] : []),
  ];
  return details.length > 0 ? { details } : { input: { label: values['label'] ?? '', scopes, expiresAt } };
}

function screen(visit: Visit, typed: Typed): Screen {
  const { to, mode } = visit;
  const { values, errors } = typed;
  const title = `New key of ${mode} mode`;
  const options = KEY_SCOPES.map((scope) => ({
    value: scope,
    label: scope === 'all' ? 'Everything, also what is added later' : capital(SCOPE_WORDS[scope]),
    checked: values[`scopes.${scope}`] === 'on',
  }));
  return {
    title,
    body: html`${crumb(to('/settings/keys'), 'API keys')}${heading(title)}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
${textField({ name: 'label', label: 'Label', hint: 'For your own eyes, such as “shop server”', value: values['label'], error: errors['label'] }, ' maxlength="200"')}
${checkboxes({ name: 'scopes', label: 'What it may do', error: errors['scopes'] }, options)}
${textField({ name: 'expires', label: 'Last day', hint: 'It ends with this day in UTC. Left empty, it never ends by itself.', value: values['expires'], error: errors['expires'] }, ' type="date"')}
${guardFieldsWhenLive(visit, typed)}
<button type="submit">Make the key</button>
</form>`)}`,
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
