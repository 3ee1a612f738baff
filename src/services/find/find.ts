import { normaliseAddress } from '../../chains/addresses.ts';
import { chainOf } from '../../chains/index.ts';
import {
  ApiKey,
  Customer,
  Deposit,
  DepositAddress,
  Event,
  GasWallet,
  Merchant,
  PaymentLink,
  Payout,
  SentTransaction,
  UnrecognisedTransfer,
  User,
  WebhookDelivery,
  WebhookEndpoint,
  WithdrawAddress,
} from '../../db/entities/index.ts';
import { rows, sql } from '../../db/sql.ts';
import { NETWORKS } from '../../domain/assets.ts';
import { normaliseEmail } from '../access/users.ts';
import type { Deps } from '../deps.ts';
import { type Found, LISTED, type Looking, type Pages } from './found.ts';
import type { Given } from './given.ts';
import { foundDeposits, foundPayouts, foundSent, foundTransfers } from './money.ts';
import {
  foundAddresses,
  foundCustomers,
  foundGasWallets,
  foundKeys,
  foundMerchants,
  foundUsers,
  foundWithdrawAddresses,
} from './owners.ts';
import { foundDeliveries, foundEndpoints, foundEvents, foundLinks } from './words.ts';

const NEWEST = { limit: LISTED, orderBy: { createdAt: 'desc', id: 'desc' } } as const;

/**
 * All that a text stands for, in both modes and of every merchant: at most 20 of each kind, the newest.
 * Each kind is looked up by an index, and nothing is read but what was found.
 */
export async function findAll(deps: Deps, pages: Pages, given: Given): Promise<Found[]> {
  const looking = { em: deps.orm.em.fork(), deps, pages };
  const all = [
    ...(await byHash(looking, given)),
    ...(await byAddress(looking, given)),
    ...(await byEmail(looking, given)),
    ...(await byId(looking, given)),
    ...(await byOwnName(looking, given)),
    ...(await byKeyHint(looking, given)),
  ];
  const seen = new Set<string>();
  // An external id may be a UUID or a hash, too.
  return all.filter(({ kind, id }) => id === null || seen.size < seen.add(`${kind} ${id}`).size);
}

async function byHash(looking: Looking, { hashes }: Given): Promise<Found[]> {
  if (hashes.length === 0) return [];
  const { em } = looking;
  const all = hashes.map(({ hash }) => hash);
  const places = hashes.map(({ network, hash }) => ({ network, transactionHash: hash }));
  const deposits = await em.find(Deposit, { transactionHash: { $in: all } }, NEWEST);
  const payouts = await em.find(Payout, { transactionHash: { $in: all } }, NEWEST);
  const sent = await em.find(
    SentTransaction,
    { $or: hashes.map(({ network, hash }) => ({ network, hash })) },
    NEWEST,
  );
  const transfers = await em.find(UnrecognisedTransfer, { $or: places }, NEWEST);
  return [
    ...(await foundDeposits(looking, deposits)),
    ...(await foundPayouts(looking, payouts)),
    // What paid out is told by its payout already.
    ...foundSent(
      looking,
      sent.filter(({ payoutId }) => !payouts.some(({ id }) => id === payoutId)),
    ),
    ...foundTransfers(looking, transfers),
  ];
}

async function byAddress(looking: Looking, { addressKey }: Given): Promise<Found[]> {
  if (addressKey === undefined) return [];
  const { em } = looking;
  const network = { $in: [...NETWORKS] };
  const addresses = await em.find(DepositAddress, { network, addressKey });
  const wallets = await em.find(GasWallet, { network, addressKey });
  const spelled = NETWORKS.map((one) => ({
    network: one,
    address: chainOf(one).addresses.format(addressKey),
  }));
  const withdraws = await em.find(WithdrawAddress, { $or: spelled }, { limit: LISTED });
  const paid = await em.find(
    Payout,
    { $or: spelled.map(({ network: one, address }) => ({ network: one, destination: address })) },
    NEWEST,
  );
  const deposits: Deposit[] = [];
  for (const { customerId, network: one } of addresses)
    deposits.push(...(await em.find(Deposit, { customerId, network: one }, NEWEST)));
  const transfers = await em.find(UnrecognisedTransfer, { network, addressKey }, NEWEST);
  return [
    ...(await foundAddresses(looking, addresses)),
    ...foundGasWallets(looking, wallets),
    ...foundWithdrawAddresses(looking, withdraws),
    ...(await foundDeposits(looking, deposits)),
    ...foundTransfers(looking, transfers),
    ...(await foundPayouts(looking, paid)),
  ];
}

async function byEmail(looking: Looking, { email }: Given): Promise<Found[]> {
  if (email === undefined) return [];
  const { em } = looking;
  const ids = await rows(
    em,
    sql<{
      id: string;
    }>`select id from customers where lower(email) = ${email} order by created_at desc limit ${LISTED}`,
  );
  const customers = await em.find(Customer, { id: { $in: ids.map(({ id }) => id) } });
  const users = await em.find(User, { email: normaliseEmail(email), removedAt: null }, { limit: LISTED });
  return [...foundCustomers(looking, customers), ...foundUsers(looking, users)];
}

async function byId(looking: Looking, { id }: Given): Promise<Found[]> {
  if (id === undefined) return [];
  const { em } = looking;
  return [
    ...(await foundDeposits(looking, await em.find(Deposit, { id }))),
    ...(await foundPayouts(looking, await em.find(Payout, { id }))),
    ...foundSent(looking, await em.find(SentTransaction, { id })),
    ...foundTransfers(looking, await em.find(UnrecognisedTransfer, { id })),
    ...foundCustomers(looking, await em.find(Customer, { id })),
    ...(await foundLinks(looking, await em.find(PaymentLink, { id }))),
    ...foundEndpoints(looking, await em.find(WebhookEndpoint, { id })),
    ...(await foundEvents(looking, await em.find(Event, { id }))),
    ...(await foundDeliveries(looking, await em.find(WebhookDelivery, { id }))),
    ...foundMerchants(looking, await em.find(Merchant, { id })),
    ...foundKeys(looking, await em.find(ApiKey, { id })),
    ...foundUsers(looking, await em.find(User, { id })),
  ];
}

/** By the token of a link, and by what merchants call customers and links. */
async function byOwnName(looking: Looking, { text }: Given): Promise<Found[]> {
  if (text === '' || text.length > MAX_NAME) return [];
  const { em } = looking;
  const token = await em.find(PaymentLink, { token: text });
  const customers = await em.find(Customer, { externalId: text }, NEWEST);
  const links = await em.find(PaymentLink, { externalId: text }, NEWEST);
  return [...foundCustomers(looking, customers), ...(await foundLinks(looking, [...token, ...links]))];
}

const MAX_NAME = 255;

async function byKeyHint(looking: Looking, { keyHint }: Given): Promise<Found[]> {
  if (keyHint === undefined) return [];
  const { prefix, last4 } = keyHint;
  const where = { ...(prefix ? { prefix } : {}), ...(last4 ? { last4 } : {}) };
  return foundKeys(looking, await looking.em.find(ApiKey, where, NEWEST));
}

/** The spellings of what looks like an address, for who has to see that it is read as they meant it. */
export function spellingsOf({ text, addressKey }: Given): readonly string[] {
  if (addressKey === undefined) return [];
  const own = NETWORKS.filter((network) => normaliseAddress(network, text) !== undefined);
  return (own.length > 0 ? own : NETWORKS).map((network) => chainOf(network).addresses.format(addressKey));
}
