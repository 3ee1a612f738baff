import { revokeKey, rotateKey } from '../../../services/merchants/keys.ts';
import { html } from '../../html.ts';
import { selectField } from '../../parts/field.ts';
import { dateTime } from '../../parts/time.ts';
import { untouched } from '../forms.ts';
import type { ReadPage, Screen, Typed, Visit } from '../visit.ts';
import { guardedWhenLive } from './guarded.ts';
import { keyName, keyOf } from './keys.ts';
import { questionScreen } from './question.ts';

const KEYS = ['/settings/keys', 'API keys'] as const;
const HOUR_MS = 3_600_000;
const GRACES: Readonly<Record<string, readonly [label: string, ms: number]>> = {
  day: ['For one more day', 24 * HOUR_MS],
  week: ['For one more week', 7 * 24 * HOUR_MS],
  hour: ['For one more hour', HOUR_MS],
  none: ['Not at all: it ends now', 0],
};

/** Asks before a key ends. */
export const REVOKE_PAGE: ReadPage = {
  path: '/settings/keys/:id/revoke',
  withoutSubscription: true,
  show: async (visit) => await revokeScreen(visit, untouched(visit)),
};

/** Ends a key at once. */
export const REVOKE_FORMS = guardedWhenLive({
  path: REVOKE_PAGE.path,
  withoutSubscription: true,
  fields: () => ({ input: undefined }),
  apply: async (tx, _deps, { visit }) => {
    await revokeKey(visit.deps, ofVisit(visit), tx);
    return { to: visit.to(KEYS[0]) };
  },
  again: async (visit, typed) => await revokeScreen(visit, typed),
});

/** Asks before a key gets a successor. */
export const ROTATE_PAGE: ReadPage = {
  path: '/settings/keys/:id/rotate',
  withoutSubscription: true,
  show: async (visit) => await rotateScreen(visit, untouched(visit)),
};

/** Makes the successor of a key, which is shown once, and lets the old one end. */
export const ROTATE_FORMS = guardedWhenLive<number>({
  path: ROTATE_PAGE.path,
  withoutSubscription: true,
  fields: (_visit, values) => {
    const grace = Object.entries(GRACES).find(([name]) => name === values['grace'])?.[1];
    if (grace) return { input: grace[1] };
    return { details: [{ path: 'grace', message: 'Choose how long the old key works.' }] };
  },
  apply: async (tx, _deps, { visit, input: graceMs }) => {
    const { key } = await rotateKey(visit.deps, { ...ofVisit(visit), graceMs }, tx);
    const end = dateTime(new Date(visit.deps.now().getTime() + graceMs).toISOString());
    return {
      to: visit.to(KEYS[0]),
      secrets: {
        title: 'The key that takes its place',
        text: `It works at once, and may do what the old one may. ${graceMs === 0 ? 'The old one has ended.' : `The old one ends at ${end} at the latest.`}`,
        items: [{ label: 'API key', value: key }],
      },
    };
  },
  again: async (visit, typed) => await rotateScreen(visit, typed),
});

function ofVisit({ params, scope }: Visit) {
  return { keyId: params['id'] ?? '', scope };
}

async function revokeScreen(visit: Visit, typed: Typed): Promise<Screen> {
  const key = await keyOf(visit);
  return questionScreen(visit, typed, {
    title: 'End a key',
    back: KEYS,
    path: `/settings/keys/${key.id}/revoke`,
    text: html`<p>${keyName(key)} ends at once and for good. Whatever still uses it is refused from then on.</p>`,
    button: 'End this key',
    guarded: visit.mode === 'live',
  });
}

async function rotateScreen(visit: Visit, typed: Typed): Promise<Screen> {
  const key = await keyOf(visit);
  const { values, errors } = typed;
  const options = Object.entries(GRACES).map(([value, [label]]) => ({ value, label }));
  return questionScreen(visit, typed, {
    title: 'Replace a key',
    back: KEYS,
    path: `/settings/keys/${key.id}/rotate`,
    text: html`<p>A new key takes the place of ${keyName(key)}. Give it to your server while the old one still works.</p>`,
    fields: selectField(
      { name: 'grace', label: 'The old key works', value: values['grace'], error: errors['grace'] },
      options,
    ),
    button: 'Make the new key',
    guarded: visit.mode === 'live',
  });
}
