import { renameMerchant } from '../../../services/merchants/merchants.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { textField } from '../../parts/field.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';

const PATH = '/settings/name';

/** The form for the merchant's name. */
export const NAME_PAGE: ReadPage = {
  path: PATH,
  withoutSubscription: true,
  show: async (visit) => {
    const typed = untouched(visit);
    return screen(visit, { ...typed, values: { name: visit.standing.merchantName } });
  },
};

/** Gives the merchant another name. */
export const NAME_FORM = form({
  path: PATH,
  withoutSubscription: true,
  fields: (_visit, values) => ({ input: values['name'] ?? '' }),
  apply: async ({ em }, _deps, { visit: { deps, scope, to }, input: name }) => {
    await renameMerchant(deps, scope.merchantId, { name }, { em });
    return { to: to('/settings') };
  },
  again: async (visit, typed) => screen(visit, typed),
});

function screen({ to }: Visit, typed: Typed): Screen {
  const { values, errors } = typed;
  return {
    title: 'Name',
    body: html`${crumb(to('/settings'), 'Settings')}${heading('Name')}
${card(html`<form method="post" action="${to(PATH)}" data-again>
${formHead(typed)}
${textField({ name: 'name', label: 'Name', hint: 'What your customers read on the page where they pay', value: values['name'], error: errors['name'], required: true }, ' maxlength="200"')}
<button type="submit">Save</button>
</form>`)}`,
  };
}
