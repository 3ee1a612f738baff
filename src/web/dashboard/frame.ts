import { chainOf } from '../../chains/index.ts';
import type { Mode } from '../../domain/assets.ts';
import type { WithdrawChangeView } from '../../services/merchants/withdraw-notices.ts';
import { foreign, type Html, html } from '../html.ts';
import { notice } from '../parts/notice.ts';
import { dateTime } from '../parts/time.ts';
import { baseOf } from './enter.ts';
import type { Visit } from './visit.ts';

/** The ways to everything, in the order in which people look for it. */
const WAYS = [
  ['', 'Overview'],
  ['/customers', 'Customers'],
  ['/deposits', 'Deposits'],
  ['/links', 'Payment links'],
  ['/payouts', 'Payouts'],
  ['/endpoints', 'Webhooks'],
  ['/events', 'Events'],
  ['/settings', 'Settings'],
] as const;

/**
 * What stands before every page of the dashboard: whose it is, which mode, and the ways to the other pages.
 * Test mode has another colour and says so in words, so that nobody takes it for real money.
 */
export function frameOf(visit: Visit): Html {
  const { standing, mode, door } = visit;
  const own = html`${modes(door.prefix, mode)}
${signOut(visit)}`;
  return html`<header class="top ${mode}">
<div class="line"><strong>${foreign(standing.merchantName)}</strong>${mode === 'test' ? html`<span class="badge warn">Test mode</span>` : null}<div class="own">${own}</div></div>
<details class="menu"><summary>Menu</summary>${ways(visit)}${own}</details>
<div class="wide">${ways(visit)}</div>
</header>`;
}

/** What every page says before its own content: money that is about to go elsewhere is never overlooked. */
export function bannersOf({ standing, owner, door, deps }: Visit): Html {
  const { pending, refused } = standing.withdrawals;
  // Payouts belong to live mode, whatever the page is about.
  const way = `${door.prefix}${baseOf('live')}/settings/withdraw`;
  return html`${
    owner.subscribed
      ? null
      : notice('warn', {
          title: 'Your subscription is not active',
          text: 'Money that arrives is still taken and kept for you. Settings stay open; for the rest, ask the operator of this gateway to renew it.',
        })
  }${
    pending.length === 0
      ? null
      : notice('warn', {
          title: 'A withdraw address was changed and does not count yet',
          text: html`<ul>${pending.map((one) => html`<li>${sentence(one, deps.now())}</li>`)}</ul>
<a href="${way}">Look at it, or cancel it</a>`,
        })
  }${
    refused.length === 0
      ? null
      : notice('bad', {
          title: 'A withdraw address that was asked for does not count',
          text: html`<ul>${refused.map((one) => html`<li>${one.reason}</li>`)}</ul>
Nothing has changed. <a href="${way}">Ask for another one</a>`,
        })
  }`;
}

/** A change that is due waits for its check, or for the operator: nothing is said to be so since then. */
function sentence({ network, address, countsAt }: WithdrawChangeView, now: Date): Html {
  const [{ label }, at] = [chainOf(network), dateTime(countsAt.toISOString())];
  const what =
    address === null
      ? html`nothing is paid out any more`
      : html`the withdraw address is <span class="mono">${address}</span>`;
  // Not when it is paid: the signer may let the first payout to a new address wait for longer.
  if (countsAt <= now)
    return html`It is due since ${at} and does not count yet. Once it does, ${what} on ${label}. Until then nothing changes.`;
  return html`From ${at} on, ${what} on ${label}. Until then nothing changes.`;
}

function ways({ to, ctx }: Visit): Html {
  const here = ctx.path.replace(/^\/dashboard(\/test)?/, '');
  const isHere = (path: string) => (path === '' ? here === '' : here === path || here.startsWith(`${path}/`));
  return html`<nav aria-label="Dashboard">
<ul>
${WAYS.map(([path, label]) => html`<li><a href="${to(path)}"${isHere(path) ? html` aria-current="page"` : null}>${label}</a></li>\n`)}</ul>
</nav>`;
}

function signOut({ door, standing }: Visit): Html {
  return html`<form class="out" method="post" action="${door.prefix}/logout"><span class="muted">${foreign(standing.email)}</span>
<button class="quiet" type="submit">Sign out</button></form>`;
}

/** The other mode's overview: an id of one mode means nothing in the other. */
function modes(prefix: string, mode: Mode): Html {
  const way = (of: Mode, path: string, label: string) =>
    html`<a href="${prefix}${path}"${of === mode ? html` aria-current="true"` : null}>${label}</a>`;
  return html`<p class="modes" role="group" aria-label="Mode">${way('live', '/dashboard', 'Live')}${way('test', '/dashboard/test', 'Test')}</p>`;
}

/** The rules of the frame, and of what only the dashboard has. */
export const DASHBOARD_STYLE = `
main{max-width:66rem}
.top{background:var(--card);border-bottom:1px solid var(--line);padding:var(--s2) var(--s4) 0}
.top.test{border-top:.375rem solid var(--warn)}
.top.live{border-top:.375rem solid var(--accent)}
.line{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:center;min-height:var(--target);max-width:64rem;margin:0 auto}
.own{display:none}
.top nav ul{list-style:none;margin:0;padding:0}
.top a{display:flex;align-items:center;min-height:var(--target);padding:0 var(--s3);border-radius:var(--r1);text-decoration:none;color:var(--text)}
.top nav a{margin-inline-start:calc(-1*var(--s3))}
.top a[aria-current]{background:var(--bg);font-weight:600}
.top form.out{display:flex;flex-wrap:wrap;gap:var(--s3);align-items:center;margin:var(--s2) 0}
.top form.out button{width:auto}
.modes{display:flex;gap:var(--s1);margin:0}
.menu{margin:0 0 var(--s1)}
.wide{display:none}
.heading{display:flex;flex-wrap:wrap;gap:var(--s3);align-items:center;justify-content:space-between;margin:0 0 var(--s4)}
.heading h1{font-size:var(--text-xl);margin:0}
.heading .actions{margin:0}
.card form{max-width:36rem}
.grid{display:grid;gap:var(--s4);grid-template-columns:repeat(auto-fit,minmax(min(18rem,100%),1fr))}
.filters{display:flex;flex-wrap:wrap;gap:var(--s3);align-items:end;margin:0 0 var(--s4)}
.filters .field{margin:0;flex:1 1 10rem}
.filters>button:last-of-type:not(.quiet){width:auto}
.actions{display:flex;flex-wrap:wrap;gap:var(--s2);margin:0 0 var(--s4)}
.actions form>button:last-of-type{width:auto}
.facts{display:grid;grid-template-columns:minmax(8rem,auto) 1fr;gap:var(--s2) var(--s4);margin:0}
.facts dt,.facts dd{margin:0}
.lines{white-space:pre-line}
.whole{white-space:nowrap}
.crumbs{font-size:var(--text-s);margin:0 0 var(--s2)}
.body{white-space:pre-wrap;overflow-x:auto;background:var(--bg);border:1px solid var(--line);border-radius:var(--r1);padding:var(--s3);margin:0 0 var(--s4);font-family:var(--mono);font-size:var(--text-s)}
.chart svg{display:block;width:100%;height:10rem}
.chart rect{fill:var(--accent)}
.chart .axes{stroke:var(--line);fill:none;vector-effect:non-scaling-stroke}
.chart .ends{display:flex;justify-content:space-between;margin:var(--s1) 0 0}
time[data-local]{padding-inline-end:1em}
@media(min-width:40rem){td time[data-local]{white-space:nowrap}}
.timeline{list-style:none;margin:0;padding:0}
.timeline>li{border-inline-start:2px solid var(--line);padding:0 0 var(--s4) var(--s4)}
.timeline>li:last-child{padding-bottom:0}
.postings{margin:0;padding:0 0 0 var(--s4)}
progress{accent-color:var(--accent)}
.table td{overflow-wrap:break-word}
.table .mono,.table bdi{overflow-wrap:anywhere}
.table .amount,.facts .amount,.heading .amount,.timeline .amount{white-space:normal}
@media (min-width:48rem){.card form>button:last-of-type:not(.quiet){width:auto;min-width:12rem}}
@media (min-width:64rem){.menu{display:none}.own{display:flex;flex:1;gap:var(--s4);align-items:center;justify-content:flex-end}.top form.out{margin:0}
.wide{display:block;max-width:64rem;margin:0 auto}.wide nav ul{display:flex;flex-wrap:wrap}.wide nav a{margin:0}.wide nav{margin-inline-start:calc(-1*var(--s3))}.wide nav a[aria-current]{background:none;border-radius:0;box-shadow:inset 0 -.1875rem var(--accent)}}
`;
