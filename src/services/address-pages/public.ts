import { chainOf } from '../../chains/index.ts';
import { Deposit, DepositAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { plainRows } from '../../db/plain-rows.ts';
import { rows, sql } from '../../db/sql.ts';
import { ASSETS, type Mode } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { formatUnits } from '../../domain/money.ts';
import { DEPOSIT_FIELDS, type DepositRow, presentDeposit } from '../deposits/present.ts';
import { headNumbers } from '../deposits/reads.ts';
import { versionOfShown } from '../deposits/shown-version.ts';
import type { Deps, ServiceSettings } from '../deps.ts';
import { payableNetworks } from '../payment-links/networks.ts';
import { PAGE_TOKEN, pageHash } from './token.ts';
import {
  type AddressPageView,
  type AddressWay,
  MAX_DEPOSITS_SHOWN,
  type ShownDeposit,
  type TakenCurrency,
} from './view.ts';

type Owner = {
  readonly id: string;
  readonly mode: Mode;
  readonly hash: string;
  readonly name: string;
};

/** The deposits of the customer `c` that a page may show, and one more, which says that there are more. */
const OF_CUSTOMER = sql`where customer_id = c.id
  order by created_at desc, id desc limit ${MAX_DEPOSITS_SHOWN + 1}`;

/** The pages with these tokens, in a few queries for any number; unknown ones are left out. */
export async function getAddressPages(
  deps: Deps,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, AddressPageView>> {
  const tokenOf = new Map(
    tokens.filter((token) => PAGE_TOKEN.test(token)).map((token) => [pageHash(token), token]),
  );
  if (tokenOf.size === 0) return new Map();
  const em = deps.orm.em.fork();
  const owners = await rows(
    em,
    sql<Owner>`select c.id, c.mode, c.page_token_hash as hash, m.name from customers c
      join merchants m on m.id = c.merchant_id
      where c.page_token_hash = any(${[...tokenOf.keys()]})`,
  );
  if (owners.length === 0) return new Map();
  const ids = owners.map(({ id }) => id);
  const addresses = await em.find(DepositAddress, { customerId: { $in: ids } });
  const deposits = await depositsOf(em, ids);
  const server_time = isoSeconds(deps.now());
  const views = owners.flatMap(({ id, mode, hash, name }): AddressPageView[] => {
    const token = tokenOf.get(hash);
    if (token === undefined) return [];
    const own = addresses.filter(({ customerId }) => customerId === id);
    const shown = deposits.get(id) ?? [];
    return [
      {
        token,
        merchant: { name },
        is_live: mode === 'live',
        server_time,
        methods: waysOf(deps.settings, mode, own),
        deposits: shown.slice(0, MAX_DEPOSITS_SHOWN),
        more_deposits: shown.length > MAX_DEPOSITS_SHOWN,
      },
    ];
  });
  return new Map(views.map((view) => [view.token, view]));
}

/**
 * The pages among these (version by token) that may show something else than they did at that version, each
 * with its version of now, as `changedLinks` does it for payment links; '' where one that was there is gone.
 */
export async function changedAddressPages(
  deps: Deps,
  versions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (versions.size === 0) return new Map();
  const tokenOf = new Map([...versions.keys()].map((token) => [pageHash(token), token]));
  const known = sql`unnest(${[...tokenOf.keys()]}::text[], ${[...versions.values()]}::text[])
    as known(hash, version)`;
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ hash: string; version: string }>`
      select known.hash, now.version from ${known}
      join customers c on c.page_token_hash = known.hash
      join merchants m on m.id = c.merchant_id
      left join lateral (${versionOfShown(deps, OF_CUSTOMER)}) shown on true
      cross join lateral (select md5(concat_ws(' ', m.name, shown.deposits)) as version) now
      where now.version <> known.version
      union all
      select known.hash, '' from ${known}
      where known.version <> '' and not exists (select 1 from customers where page_token_hash = known.hash)`,
  );
  return new Map(
    found.flatMap(({ hash, version }) => {
      const token = tokenOf.get(hash);
      return token === undefined ? [] : [[token, version] as const];
    }),
  );
}

function waysOf(settings: ServiceSettings, mode: Mode, addresses: readonly DepositAddress[]): AddressWay[] {
  return payableNetworks(settings, mode, null).flatMap((network): AddressWay[] => {
    const address = addresses.find((row) => row.network === network)?.address;
    if (address === undefined) return [];
    const uri = chainOf(network).addressUri({ address, chainId: settings.chainIds[network] });
    // The token first: it is what most people send.
    const taken = ASSETS.filter((asset) => asset.network === network).toReversed();
    return [
      {
        network,
        address,
        address_uri: uri,
        contract_address: settings.contracts[network],
        currencies: taken.map((asset) => takenOf(settings, asset)),
        required_confirmations: settings.requiredConfirmations[network],
      },
    ];
  });
}

function takenOf(settings: ServiceSettings, asset: (typeof ASSETS)[number]): TakenCurrency {
  const { currency, network, decimals } = asset;
  const name = `${currency}.${network}`;
  const [floor, least] = [settings.dustFloorUnits.get(name) ?? 0n, settings.minDepositUnits.get(name) ?? 0n];
  const units = floor > least ? floor : least;
  return { currency, minimum: units > 0n ? formatUnits(units, decimals) : null };
}

/** Newest first, of each customer one more than is shown. */
async function depositsOf(
  em: Em,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, ShownDeposit[]>> {
  const found = await rows(
    em,
    sql<{ id: string }>`select d.id from customers c
      cross join lateral (select id, created_at from deposits ${OF_CUSTOMER}) d
      where c.id = any(${customerIds}) order by d.created_at desc, d.id desc`,
  );
  if (found.length === 0) return new Map();
  const full = await plainRows(em, Deposit, { id: { $in: found.map(({ id }) => id) } }, DEPOSIT_FIELDS);
  const byId = new Map(full.map((row) => [row.id, row]));
  const heads = await headNumbers(em);
  const byCustomer = new Map<string, ShownDeposit[]>();
  for (const { id } of found) {
    const row = byId.get(id);
    if (!row) continue;
    const list = byCustomer.get(row.customerId) ?? [];
    byCustomer.set(row.customerId, [...list, presentShown(row, heads.get(row.network) ?? null)]);
  }
  return byCustomer;
}

function presentShown(row: DepositRow, headNumber: number | null): ShownDeposit {
  const view = presentDeposit(row, { externalId: null, email: null, headNumber });
  const { transaction_hash, network, currency, amount, confirmations, status, failure_code, detected_at } =
    view;
  return { transaction_hash, network, currency, amount, confirmations, status, failure_code, detected_at };
}
