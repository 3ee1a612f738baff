import type { CustomerView } from '../../contract/customer.ts';
import { isUuid } from '../../domain/ids.ts';
import { getCustomer, listCustomers } from '../../services/merchants/customer-reads.ts';
import { Refusal } from '../../services/refusal.ts';
import { type Html, html, plainText } from '../html.ts';
import { selectField, textField } from '../parts/field.ts';
import { nameOf } from './customers/list.ts';
import type { Typed, Visit } from './visit.ts';

/** So many customers are chosen from, the newest; another one has a way to the form on its own page. */
const CHOICES = 25;

/** The customer that a form's address names, as what was typed; nothing where it names none. */
export function customerKnown({ query }: Visit): Record<string, string> {
  const id = query['customer_id'];
  return typeof id === 'string' && isUuid(id) ? { customer_id: id } : {};
}

/** The customer that a form is for: one that was named already, or an email or an id that is typed. */
export async function customerFields(visit: Visit, typed: Typed): Promise<Html> {
  const { values, errors } = typed;
  const at = (name: string) => ({ name, value: values[name], error: errors[name] });
  const known = values['email'] ? undefined : await findCustomer(visit, values['customer_id']);
  if (known) return namedCustomer(visit, known);
  return html`${textField({ ...at('email'), label: 'Email of the customer', hint: 'An email that no customer has makes a new customer.' }, ' type="email" maxlength="320"')}
${textField({ ...at('customer_id'), label: 'Or our id of the customer' }, ' maxlength="36" spellcheck="false" autocapitalize="none"')}`;
}

/** The same for a form that makes no customer: chosen among the newest. Undefined where there is none. */
export async function customerChoice(visit: Visit, typed: Typed): Promise<Html | undefined> {
  const { values, errors } = typed;
  const known = await findCustomer(visit, values['customer_id']);
  if (known) return namedCustomer(visit, known);
  const { scope, door } = visit;
  const { rows, hasMore } = await door.readList(scope.merchantId, (deps) =>
    listCustomers(deps, { ...scope, page: { limit: CHOICES } }),
  );
  if (rows.length === 0) return undefined;
  const hint = hasMore ? 'The newest are here. For another one, begin at its own page.' : undefined;
  return selectField(
    {
      name: 'customer_id',
      label: 'Customer',
      error: errors['customer_id'],
      ...(hint === undefined ? {} : { hint }),
    },
    rows.map((row) => ({ value: row.id, label: plainText(textOf(row)) })),
  );
}

/** Throws the error; where a form names a customer that is not there, as a refusal at that field. */
export function unknownCustomer(error: unknown, id: string | undefined): never {
  if (id !== undefined && error instanceof Refusal && error.code === 'NOT_FOUND')
    throw new Refusal('INVALID', 'There is no such customer in this mode.', 'customer_id');
  throw error;
}

/** Seen by name, and posted by id. */
function namedCustomer({ to }: Visit, customer: CustomerView): Html {
  return html`<p><span class="label">Customer</span> <a href="${to(`/customers/${customer.id}`)}">${nameOf(customer)}</a></p>
<input type="hidden" name="customer_id" value="${customer.id}">`;
}

function textOf({ name, external_id: externalId, email }: CustomerView): string {
  return [...new Set([name, externalId, email])].filter((text) => text !== null).join(', ');
}

/** The customer of this merchant and mode with that id; undefined for every other text. */
async function findCustomer(
  { deps, scope }: Visit,
  id: string | undefined,
): Promise<CustomerView | undefined> {
  if (id === undefined || !isUuid(id.trim())) return undefined;
  return await getCustomer(deps, { ...scope, id: id.trim() }).catch((error: unknown) => {
    if (error instanceof Refusal) return undefined;
    throw error;
  });
}
