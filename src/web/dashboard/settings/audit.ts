import { listQuery, type PageMembers } from '../../../contract/common.ts';
import { isoSeconds } from '../../../domain/events.ts';
import { listMerchantActions, type MerchantAction } from '../../../services/audit/merchant-list.ts';
import { Refusal } from '../../../services/refusal.ts';
import { foreign, type Html, html } from '../../html.ts';
import { emptyState } from '../../parts/empty.ts';
import { time } from '../../parts/time.ts';
import { listScreen } from '../list.ts';
import type { ReadPage } from '../visit.ts';
import { actionWords, factLines } from './audit-words.ts';

/** Who changed what, from where and when: nothing of it can be changed or taken away. */
export const AUDIT_PAGE: ReadPage = {
  path: '/settings/audit',
  withoutSubscription: true,
  show: (visit) =>
    listScreen<PageMembers, MerchantAction>(visit, {
      path: '/settings/audit',
      title: 'Changes',
      noun: ['change', 'changes'],
      query: listQuery({}),
      load: async (deps, { page, ...scope }) => {
        if ((page.page ?? 1) > 1)
          throw new Refusal('INVALID', 'This list has no page numbers: go on with “Older”.', 'page');
        return await listMerchantActions(deps, scope, page);
      },
      columns: () => [
        { head: 'When', cell: ({ at }) => time(isoSeconds(at)) },
        { head: 'Who', cell: who },
        { head: 'What', cell: what },
      ],
      empty: ({ to }) =>
        emptyState(
          'Nothing was changed yet',
          'What your team, your keys and the operator change is listed here.',
          {
            href: to('/settings'),
            label: 'Go to the settings',
          },
        ),
    }),
};

function who({ by, from }: MerchantAction): Html {
  if (by.kind === 'operator') return html`An operator of this gateway`;
  const name =
    by.kind === 'key'
      ? html`API key ${foreign(by.label)} <span class="mono">${by.keyId}</span>`
      : by.email === null
        ? html`Somebody who is not in your team`
        : foreign(by.email);
  return html`${name}${from === null ? null : html`<br><span class="muted">from ${from}</span>`}`;
}

function what({ action, mode, subject, subjectEmail, before, after, reason }: MerchantAction): Html {
  const about = subjectEmail === null ? html`<span class="mono">${subject}</span>` : foreign(subjectEmail);
  const lines = [...factLines(before, after), ...(reason === null ? [] : [html`reason: ${foreign(reason)}`])];
  return html`${actionWords(action)}${mode === null ? null : html` <span class="muted">(${mode})</span>`}<br>
<span class="muted">${about}</span>${lines.map((line) => html`<br><span class="muted">${line}</span>`)}`;
}
