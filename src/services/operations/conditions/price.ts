import { NATIVE_CURRENCY } from '../../../domain/assets.ts';
import type { ConditionKind } from './condition.ts';

const WITHIN_MS = 2_000;

/** USDT has a price of its own where none is known, so it is never missing. */
export const price: ConditionKind = {
  name: 'price',
  namedBy: '"doctor"',
  read: async ({ prices }) => {
    const all = await Promise.all(
      Object.values(NATIVE_CURRENCY).map(async (currency) => {
        const known = await prices.price(currency, AbortSignal.timeout(WITHIN_MS)).catch(() => undefined);
        return known === undefined || known.stale ? [currency] : [];
      }),
    );
    return {
      found: all.flat().map((currency) => ({
        key: `price:${currency}`,
        severity: 'warning',
        reason: `there is no fresh price for ${currency}: deposits of it may wait`,
        action: 'check PRICE_SOURCE with "doctor"',
      })),
    };
  },
};
