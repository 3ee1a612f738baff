import { testXpubs } from '../../dev/support/test-wallet.ts';
import { createCustomer, createPaymentLink } from '../../dev/support/use-cases.ts';
import { openOrm } from '../../src/db/orm.ts';
import { NETWORKS } from '../../src/domain/assets.ts';
import type { Deps } from '../../src/services/deps.ts';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { depsOf } from '../bench-deps.ts';

/** As {@link depsOf}, where customers have addresses and links are paid. */
export function depsWithChains(deps: Deps): Deps {
  const contracts = {
    bsc: '0x55d398326f99059fF775485246999027B3197955',
    tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  };
  const payments = { ...deps.settings.payments, watchedNetworks: NETWORKS };
  return { ...deps, xpubs: testXpubs(), settings: { ...deps.settings, contracts, payments } };
}

/** A merchant with so many open payment links, each of a customer of its own. Returns their tokens. */
export async function fillLinks(databaseUrl: string, links: number): Promise<string[]> {
  const orm = await openOrm({ url: databaseUrl, poolSize: 4, applicationName: 'bench' });
  await orm.migrator.up();
  const deps = depsWithChains(depsOf(orm));
  const { merchantId } = await createMerchant(deps, { name: 'Bench', subscriptionActive: true });
  const tokens: string[] = [];
  for (let index = 0; index < links; index += 1) {
    const names = { externalId: `user_${index}`, email: null, name: null, metadata: {} };
    const { id } = await createCustomer(deps, { merchantId, mode: 'live', ...names });
    const terms = { merchantId, mode: 'live' as const, customerId: id, amountCents: 2_500n + BigInt(index) };
    const { link } = await createPaymentLink(deps, { ...terms, publicUrl: 'https://pay.example' });
    tokens.push(link.token);
  }
  await orm.close(true);
  return tokens;
}
