import type { z } from 'zod';
import { newCustomer } from '../../../contract/customer.ts';
import { createCustomer } from '../../../services/merchants/customers.ts';
import { html } from '../../html.ts';
import { card } from '../../parts/card.ts';
import { textField } from '../../parts/field.ts';
import { fieldsBy } from '../fields.ts';
import { formHead, untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';

const PATH = '/customers/new';

/** The form for a new customer. */
export const NEW_CUSTOMER_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => screen(visit, untouched(visit)),
};

/** Makes a customer with permanent addresses, and goes on at its page. */
export const NEW_CUSTOMER_FORM = form({
  path: PATH,
  fields: (visit, values) => {
    if (!values['external_id']?.trim() && !values['email']?.trim())
      return { details: [{ path: 'external_id', message: 'Give your own id or an email.' }] };
    return fieldsBy(newCustomer, ['external_id', 'email', 'name'])(visit, values);
  },
  apply: async (tx, deps, { visit: { scope, to }, input }) => {
    const {
      external_id: externalId = null,
      email = null,
      name = null,
    } = input as z.output<typeof newCustomer>;
    const { id } = await createCustomer(tx, deps, { ...scope, externalId, email, name, metadata: {} });
    return { to: to(`/customers/${id}`) };
  },
  again: async (visit, typed) => screen(visit, typed),
});

function screen({ to }: Visit, typed: Typed): Screen {
  const { values, errors } = typed;
  const at = (name: string) => ({ name, value: values[name], error: errors[name] });
  return {
    title: 'New customer',
    body: html`${crumb(to('/customers'), 'Customers')}${heading('New customer')}
${card(html`<form method="post" action="${to(PATH)}">
${formHead(typed)}
${textField({ ...at('external_id'), label: 'Your own id of the customer', hint: 'For example the user’s number in your shop. An id or an email is needed.' }, ' maxlength="255"')}
${textField({ ...at('email'), label: 'Email' }, ' type="email" maxlength="320"')}
${textField({ ...at('name'), label: 'Name', hint: 'For your own eyes' }, ' maxlength="255"')}
<button type="submit">Create customer</button>
</form>`)}`,
  };
}
