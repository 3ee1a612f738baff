// Customers and addresses, merchants and their people and keys.
import { explorerLink } from '../../chains/index.ts';
import type {
  ApiKey,
  Customer,
  DepositAddress,
  GasWallet,
  Merchant,
  User,
  WithdrawAddress,
} from '../../db/entities/index.ts';
import { isoSeconds } from '../../domain/events.ts';
import { type Found, found, type Looking, namesOfCustomers } from './found.ts';

/** Customers of merchants. */
export function foundCustomers({ pages }: Looking, customers: readonly Customer[]): Found[] {
  return customers.map(({ id, mode, merchantId, email, externalId, name, createdAt }) => {
    const names = [
      ...(email == null ? [] : [email]),
      ...(externalId == null ? [] : [`external id ${externalId}`]),
      ...(name == null ? [] : [`name ${name}`]),
    ];
    return found('customer', `a customer: ${names.join(', ') || 'without a name'}`, {
      id,
      is_live: mode === 'live',
      merchant_id: merchantId,
      state: `made ${isoSeconds(createdAt)}`,
      command: `customer show ${id}`,
      links: { dashboard: pages.dashboard(mode, `/customers/${id}`) },
    });
  });
}

/** Addresses at which customers pay. */
export async function foundAddresses(
  looking: Looking,
  addresses: readonly DepositAddress[],
): Promise<Found[]> {
  const { em, deps, pages } = looking;
  const names = await namesOfCustomers(
    em,
    addresses.map(({ customerId }) => customerId),
  );
  return addresses.map(({ network, address, mode, merchantId, customerId }) => {
    const watched = deps.settings.payments.watchedNetworks.includes(network);
    const isTest = mode === 'test';
    return found(
      'address',
      `the ${network} address ${address} of customer ${names.get(customerId)} (${customerId})`,
      {
        is_live: !isTest,
        merchant_id: merchantId,
        why: isTest
          ? 'it is of test mode: real money that reaches it is kept, and nobody is credited with it'
          : watched
            ? null
            : `${network} is not watched by this configuration: money that reaches it is not seen before it is`,
        action: watched || isTest ? null : `set the RPC URLs of ${network} ("doctor" names the variable)`,
        command: `customer show ${customerId}`,
        links: {
          dashboard: pages.dashboard(mode, `/customers/${customerId}`),
          explorer: explorerLink(pages.explorers, network, 'address', address),
        },
      },
    );
  });
}

/** Our own wallets that pay the chains' fees. */
export function foundGasWallets({ pages }: Looking, wallets: readonly GasWallet[]): Found[] {
  return wallets.map(({ network, address }) =>
    found('gas_wallet', `our gas wallet ${address} on ${network}, which pays the fees of payouts`, {
      is_live: true,
      action: 'what lies in it is said by "doctor"; payouts that wait for its coins by "deposit stuck"',
      command: 'doctor',
      links: { explorer: explorerLink(pages.explorers, network, 'address', address) },
    }),
  );
}

/** Where merchants are paid out. */
export function foundWithdrawAddresses({ pages }: Looking, rows: readonly WithdrawAddress[]): Found[] {
  return rows.flatMap(({ network, address, merchantId }) =>
    address == null
      ? []
      : found('withdraw_address', `the withdraw address ${address} of a merchant on ${network}`, {
          is_live: true,
          merchant_id: merchantId,
          why: 'payouts go there; money that a customer sends to it is not seen here',
          command: `merchant show ${merchantId}`,
          links: { explorer: explorerLink(pages.explorers, network, 'address', address) },
        }),
  );
}

/** Merchants. */
export function foundMerchants({ deps }: Looking, merchants: readonly Merchant[]): Found[] {
  return merchants.map(({ id, name, subscriptionActive, subscriptionUntil }) => {
    const ended = subscriptionUntil != null && subscriptionUntil <= deps.now();
    const active = subscriptionActive && !ended;
    return found('merchant', `the merchant ${name}`, {
      id,
      merchant_id: id,
      state: active ? 'subscription active' : 'subscription inactive',
      why: active ? null : 'its keys and its dashboard are refused; its deposits are credited all the same',
      action: active ? null : `"subscription set ${id} active" lets it in again`,
      command: `merchant show ${id}`,
    });
  });
}

/** API keys, by what lists show of them. */
export function foundKeys({ deps }: Looking, keys: readonly ApiKey[]): Found[] {
  const now = deps.now();
  return keys.map(
    ({ id, mode, merchantId, prefix, last4, label, scopes, revokedAt, expiresAt, lastUsedAt }) => {
      const [state, why] =
        revokedAt != null && revokedAt <= now
          ? [`revoked ${isoSeconds(revokedAt)}`, 'every request with it is refused']
          : expiresAt != null && expiresAt <= now
            ? [`ended ${isoSeconds(expiresAt)}`, 'its time is over: every request with it is refused']
            : ['valid', `last used ${lastUsedAt == null ? 'never' : isoSeconds(lastUsedAt)}`];
      return found(
        'api_key',
        `the API key ${prefix}…${last4}${label == null ? '' : ` "${label}"`}, which may ${scopes.join(', ')}`,
        {
          id,
          is_live: mode === 'live',
          merchant_id: merchantId,
          state,
          why,
          action:
            state === 'valid' ? `"key revoke ${id}" ends it at once` : 'make another one with "key create"',
          command: `key list --merchant ${merchantId}`,
        },
      );
    },
  );
}

/** People who sign in for merchants. */
export function foundUsers(_: Looking, users: readonly User[]): Found[] {
  return users.map(({ id, merchantId, email, totpSealed, lastLoginAt, removedAt }) =>
    found('user', `${email}, who signs in for a merchant`, {
      id,
      merchant_id: merchantId,
      state: removedAt == null ? 'may sign in' : `removed ${isoSeconds(removedAt)}`,
      why: `${lastLoginAt == null ? 'never signed in' : `last signed in ${isoSeconds(lastLoginAt)}`}; a code of an app is ${totpSealed == null ? 'not asked for' : 'asked for'}`,
      action: removedAt == null ? `"user reset-password --email ${email}" where the password is lost` : null,
      command: 'user list',
    }),
  );
}
