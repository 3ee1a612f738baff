import { chainOf } from '../../chains/index.ts';
import { CURRENCIES, NETWORKS } from '../../domain/assets.ts';
import { type Html, html } from '../html.ts';
import { selectField, textField } from '../parts/field.ts';
import type { Values } from './list.ts';

const ANY = { value: '', label: 'Any' };
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Two days between which rows were made: from the first second of one to the last of the other, in UTC. */
export function createdFields(values: Values, errors: Values): Html {
  return html`${day('created_from', 'From day (UTC)', values, errors)}
${day('created_to', 'To day (UTC)', values, errors)}`;
}

/** One network, or every one. */
export function networkField(values: Values, errors: Values): Html {
  const options = NETWORKS.map((network) => ({ value: network, label: chainOf(network).label }));
  return selectField(
    { name: 'network', label: 'Network', value: values['network'], error: errors['network'] },
    [ANY, ...options],
  );
}

/** One coin, or every one. */
export function currencyField(values: Values, errors: Values): Html {
  return selectField(
    { name: 'currency', label: 'Coin', value: values['currency'], error: errors['currency'] },
    [ANY, ...CURRENCIES.map((currency) => ({ value: currency, label: currency }))],
  );
}

/** A text that is compared as it is: an id, a hash, an address. */
export function exactField(
  { name, label, most }: { readonly name: string; readonly label: string; readonly most: number },
  values: Values,
  errors: Values,
): Html {
  return textField(
    { name, label, value: values[name], error: errors[name] },
    ` maxlength="${most}" spellcheck="false" autocapitalize="none"`,
  );
}

/** An address may name a time instead of a day, which a field for days would not show. */
function day(name: string, label: string, values: Values, errors: Values): Html {
  const value = values[name];
  const type = value === undefined || DAY.test(value) ? ' type="date"' : ' maxlength="40"';
  return textField({ name, label, value, error: errors[name] }, type);
}
