import { createHash } from 'node:crypto';
import { simulatedCurrency, simulateOnPage, testPageOwner } from '../../services/address-pages/simulate.ts';
import type { AddressPageView } from '../../services/address-pages/view.ts';
import type { Deps } from '../../services/deps.ts';
import type { Simulated } from '../simulate.ts';

/** Deposits of test customers that are only played through. */
export function simulatedAddresses(deps: Deps): Simulated {
  return {
    ownerOf: (token) => testPageOwner(deps, token),
    take: (fields, network) => {
      const currency = network && simulatedCurrency(network, fields['currency']);
      return currency && ((request) => simulateOnPage(deps, { ...request, network, currency }));
    },
  };
}

/** The key of the form: another one after each deposit, so that a double click is one of them. */
export function simulationKey({ deposits }: AddressPageView): string {
  const seen = deposits.map((row) => [row.transaction_hash, row.currency, row.status]);
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url');
}
