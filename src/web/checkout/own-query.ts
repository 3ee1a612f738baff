import type { Visitor } from '../visitor.ts';

/**
 * The query of a link to this same page with these choices: a query alone keeps
 * whatever address the page was reached by.
 */
export function ownQuery({ network, refresh, lang, all }: Visitor): string {
  return `?${new URLSearchParams({ ...(network === undefined ? {} : { network }), lang, ...(refresh ? {} : { refresh: 'off' }), ...(all ? { list: 'all' } : {}) })}`;
}
