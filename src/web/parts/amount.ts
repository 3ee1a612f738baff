import { type Html, html } from '../html.ts';

/** An amount of a coin: the exact decimal string of the API, never rounded and never regrouped. */
export function amount(value: string, currency: string): Html {
  return html`<span class="amount">${value} ${currency}</span>`;
}

/** US dollars, which the API has as a number with two decimals. */
export function usd(value: number): Html {
  return html`<span class="amount">${value.toFixed(2)} USD</span>`;
}
