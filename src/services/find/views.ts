import { explorerLink } from '../../chains/index.ts';
import { Merchant } from '../../db/entities/index.ts';
import type { Network } from '../../domain/assets.ts';
import type { Found, Looking, Shown } from './found.ts';
import type { Given } from './given.ts';
import { type FoundKind, lookUp, type Named } from './look-up.ts';
import { shownDeposits, shownPayouts, shownSent, shownTransfers } from './money.ts';
import { shownCustomers, shownKeys, shownMerchants, shownUsers } from './owners.ts';
import { shownDeliveries, shownEndpoints, shownEvents, shownLinks } from './words.ts';

const KINDS: Readonly<Record<FoundKind, (looking: Looking, ids: readonly string[]) => Promise<Shown[]>>> = {
  deposit: shownDeposits,
  payout: shownPayouts,
  transaction: shownSent,
  transfer: shownTransfers,
  customer: shownCustomers,
  address: shownCustomers,
  gas_wallet: async (_, ids) => ids.map((id) => ({ id, view: { address: id }, ...GAS_WALLET })),
  withdraw_address: shownMerchants,
  payment_link: shownLinks,
  endpoint: shownEndpoints,
  event: shownEvents,
  delivery: shownDeliveries,
  merchant: shownMerchants,
  api_key: shownKeys,
  user: shownUsers,
};
const GAS_WALLET = {
  why: 'it pays the fees of payouts: nothing that is sent to it is credited',
  action: 'what lies in it is said by "doctor"; payouts that wait for its coins by "deposit stuck"',
  command: 'doctor',
};

/** What an overview leaves out: a page opens with a token, and the payload of an event may hold one. */
const HIDDEN = ['payment_token', 'payload', 'data'];

/** All that a text stands for, in both modes and of every merchant: at most 20 of each kind, the newest. */
export async function findAll(looking: Looking, given: Given): Promise<Found[]> {
  return (await viewsOf(looking, await lookUp(looking.em, given))).map(({ view, ...one }) => ({
    ...one,
    view: Object.fromEntries(Object.entries(view).filter(([name]) => !HIDDEN.includes(name))),
  }));
}

/** All about what was looked up, in its order; what is gone by now is left out. */
export async function viewsOf(looking: Looking, named: readonly Named[]): Promise<Found[]> {
  const shown = new Map<string, Shown>();
  for (const [kind, some] of Map.groupBy(named, (one) => one.kind))
    for (const one of await KINDS[kind](
      looking,
      some.map(({ id }) => id),
    ))
      shown.set(`${kind} ${one.id}`, one);
  const owners = [...shown.values()].flatMap(({ merchantId }) => merchantId ?? []);
  const merchants = await looking.em.find(Merchant, { id: { $in: owners } });
  const names = new Map(merchants.map(({ id, name }) => [id, name]));
  return named.flatMap(({ kind, id, network }): Found[] => {
    const one = shown.get(`${kind} ${id}`);
    if (!one) return [];
    const { view, merchantId = null, why = null, action = null, command = null, links = {} } = one;
    const merchant = names.get(merchantId ?? '') ?? null;
    const found = { kind, id, merchant_id: merchantId, merchant, why, action, command, links, view };
    return [network === null ? found : { ...found, ...ofAddress(looking, found, network) }];
  });
}

/** What an address means for money that is sent there. */
function ofAddress({ deps, pages }: Looking, { kind, id, view, why, links }: Found, network: Network) {
  if (kind === 'withdraw_address')
    return { why: 'payouts go there; money that a customer sends to it is not seen here' };
  const own = view['addresses'] as readonly { network: Network; address: string }[] | undefined;
  const address = own?.find((one) => one.network === network)?.address ?? String(view['address']);
  const explorer = explorerLink(pages.explorers, network, 'address', address);
  const told = {
    why: why ?? `it is the ${network} address of customer ${id}`,
    links: { explorer, ...links },
  };
  if (kind !== 'address') return { ...told, view: { network, ...view } };
  if (view['is_live'] !== true)
    return {
      ...told,
      why: 'the address is of test mode: real money that reaches it is kept, and nobody is credited with it',
    };
  if (deps.settings.payments.watchedNetworks.includes(network)) return told;
  return {
    ...told,
    why: `${network} is not watched by this configuration: money that reaches it is not seen before it is`,
    action: `set the RPC URLs of ${network} ("doctor" names the variable)`,
  };
}
