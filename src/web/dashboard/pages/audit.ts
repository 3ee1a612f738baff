import { chainOf } from '../../../chains/index.ts';
import { listQuery, type PageMembers } from '../../../contract/common.ts';
import { NETWORKS } from '../../../domain/assets.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { listMerchantActions, type MerchantAction } from '../../../services/audit/merchant-list.ts';
import { Refusal } from '../../../services/refusal.ts';
import { foreign, type Html, html } from '../../html.ts';
import { time } from '../../parts/time.ts';
import { list } from '../list.ts';
import { when } from '../pieces.ts';

/** Who changed what, from where and when: nothing of it can be changed or taken away. */
export const AUDIT_PAGES = list<PageMembers, MerchantAction>({
  path: '/settings/audit',
  title: 'Changes',
  noun: ['change', 'changes'],
  query: listQuery({}),
  load: async (deps, { page, ...scope }) => {
    if ((page.page ?? 1) > 1)
      throw new Refusal('INVALID', 'This list has no page numbers: go on with “Older”.', 'page');
    return await listMerchantActions(deps, scope, page);
  },
  rows: {
    columns: [
      { head: 'When', cell: ({ at }) => time(isoSeconds(at)) },
      { head: 'Who', cell: who },
      { head: 'What', cell: what },
    ],
  },
  empty: {
    title: 'Nothing was changed yet',
    text: 'What your team, your keys and the operator change is listed here.',
    way: ['/settings', 'Go to the settings'],
  },
});

function who({ by, from }: MerchantAction): Html {
  if (by.kind === 'operator') return html`An operator of this gateway`;
  const name =
    by.kind === 'key'
      ? html`API key ${foreign(by.label)} <span class="mono">${by.keyId}</span>`
      : when(by.email, foreign, 'Somebody who is not in your team');
  return html`${name}${when(from, (network) => html`<br><span class="muted">from ${network}</span>`)}`;
}

function what({ action, mode, subject, subjectEmail, before, after, reason }: MerchantAction): Html {
  const about = when(subjectEmail, foreign, html`<span class="mono">${subject}</span>`);
  const why = when(reason, (said) => html`reason: ${foreign(said)}`);
  const lines = [...factLines(before, after), ...(why === null ? [] : [why])];
  return html`${actionWords(action)}${when(mode, (name) => html` <span class="muted">(${name})</span>`)}<br>
<span class="muted">${about}</span>${lines.map((line) => html`<br><span class="muted">${line}</span>`)}`;
}

/** What was done, in the words of the person who did it. */
const ACTIONS: Readonly<Record<string, string>> = {
  'allow-ip.add': 'allowed a network for live keys',
  'allow-ip.remove': 'took a network off the list of live keys',
  'customer.create': 'made a customer',
  'customer.erase': 'erased what is personal of a customer',
  'customer.new-page': 'gave the page of a customer another address',
  'deposit.claim': 'credited a deposit to you',
  'deposit.fail': 'failed a deposit',
  'deposit.release': 'released a deposit',
  'deposit.simulate': 'simulated a deposit',
  'endpoint.change': 'changed a webhook endpoint',
  'endpoint.create': 'made a webhook endpoint',
  'endpoint.delete': 'deleted a webhook endpoint',
  'endpoint.resend-failed': 'sent again what had failed at an endpoint',
  'endpoint.test': 'sent a test event',
  'key.create': 'made an API key',
  'key.revoke': 'ended an API key',
  'key.rotate': 'replaced an API key',
  'link.cancel': 'cancelled a payment link',
  'link.create': 'made a payment link',
  'link.expire': 'let a payment link of the test mode expire',
  'list.export': 'exported a list as a file',
  'merchant.create': 'opened this merchant’s account',
  'merchant.set': 'changed what is set for the merchant',
  'payout.accept': 'accepted transactions that this gateway had not sent',
  'payout.deny': 'denied transactions that are in no block',
  'payout.conclude': 'settled a payout by what the chain shows',
  'payout.seen': 'saw a payout’s transaction on the chain for the first time',
  'payout.take-up': 'took up what the signer had signed, after a restore',
  'payout.pause': 'paused payouts',
  'payout.resume': 'let payouts go on',
  'payout.retry': 'let a payout be tried again',
  'quota.set': 'set a quota',
  'subscription.set': 'changed the subscription',
  'user.change-password': 'changed their own password',
  'user.create': 'made somebody who signs in',
  'user.end-sessions': 'signed out in other places',
  'user.invite': 'invited somebody',
  'user.remove': 'removed somebody from the team',
  'user.reset-password': 'ended somebody’s password',
  'user.set-password': 'chose a password by a link',
  'user.totp': 'changed whether a code is asked for',
  'webhook.resend': 'sent a webhook again',
  'withdraw_address.asked': 'asked for another withdraw address',
  'withdraw_address.cancelled': 'cancelled a change of a withdraw address',
  'withdraw_address.changed': 'changed a withdraw address: it counts from now on',
  'withdraw_address.refused': 'asked for a withdraw address that could not count',
  'withdraw_address.replaced': 'replaced a change of a withdraw address by another one',
};

/** What a fact is about; a name that is not here is shown as it is, with spaces. */
const FACTS: Readonly<Record<string, string>> = {
  amount_usd: 'amount in USD',
  asked_for: 'address asked for',
  counts_at: 'counts from',
  customer_id: 'customer',
  ended: 'sign-ins that ended',
  expires_at: 'ends',
  link: 'its link',
  live_key: 'live key',
  monthly_limit_usd: 'monthly limit in USD',
  own_webhook: 'has a webhook of its own',
  present: 'address at present',
  replaced_by: 'replaced by key',
  revoked_at: 'ended',
  scopes: 'may',
  secret_ends_with: 'secret ends with',
  subscription_until: 'subscription until',
  test_key: 'test key',
  totp: 'code from an app',
  url: 'address',
  ...Object.fromEntries(
    NETWORKS.map((network) => [`withdraw_${network}`, `withdraw address on ${chainOf(network).label}`]),
  ),
};

/** What somebody did, in a few words. */
function actionWords(action: string): string {
  return ACTIONS[action] ?? action.replaceAll(/[._-]/g, ' ');
}

type Recorded = Readonly<Record<string, unknown>> | null;

/** What was so before and what is so since, a line for each fact. */
function factLines(before: Recorded, after: Recorded): readonly Html[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.map((name) => {
    const label = FACTS[name] ?? name.replaceAll('_', ' ');
    if (before === null || !(name in before)) return html`${label}: ${shown(after?.[name])}`;
    if (after === null || !(name in after)) return html`${label}: was ${shown(before[name])}`;
    return html`${label}: ${shown(before[name])} → ${shown(after[name])}`;
  });
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

function shown(value: unknown): Html | string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : foreign(value.map(String).join(', '));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return TIME.test(text) ? time(text) : foreign(text);
}
