import { html } from '../../html.ts';
import { heading } from '../heading.ts';
import type { ReadPage, Visit } from '../visit.ts';

/** Where everything that can be set is found. */
export const SETTINGS_PAGE: ReadPage = {
  path: '/settings',
  withoutSubscription: true,
  show: async (visit) => ({
    title: 'Settings',
    body: html`${heading('Settings')}
<div class="card"><ul class="rows">
${ways(visit).map(
  ([path, title, text]) => html`<li><a href="${visit.to(path)}"><strong>${title}</strong></a><br>
<span class="muted">${text}</span></li>
`,
)}</ul></div>`,
  }),
};

type Way = readonly [path: string, title: string, text: string];

function ways({ mode }: Visit): readonly Way[] {
  const live: readonly Way[] = [
    ['/settings/withdraw', 'Withdraw addresses', 'Where your money is paid out to, on each network.'],
    ['/settings/allowlist', 'Allowed networks', 'From where your live keys may be used.'],
  ];
  return [
    ['/settings/keys', 'API keys', `With which your server calls the API in ${mode} mode.`],
    ...(mode === 'live' ? live : []),
    ['/settings/name', 'Name', 'What your customers read on the page where they pay.'],
    ['/settings/team', 'Team', 'Who signs in here.'],
    ['/settings/audit', 'Changes', 'Who changed what, from where and when.'],
    ['/account', 'Your own sign-in', 'Your password, the code from your app, and where you are signed in.'],
  ];
}
