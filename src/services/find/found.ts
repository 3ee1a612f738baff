import type { ExplorerUrls } from '../../chains/index.ts';
import { Customer, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Mode } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** What something that was looked up is. */
export type FoundKind =
  | 'deposit'
  | 'payout'
  | 'transaction'
  | 'transfer'
  | 'customer'
  | 'address'
  | 'gas_wallet'
  | 'withdraw_address'
  | 'payment_link'
  | 'endpoint'
  | 'event'
  | 'delivery'
  | 'merchant'
  | 'api_key'
  | 'user';

/** Pages about it; null where there is none, or nobody knows where it is. */
export type FoundLinks = {
  readonly temporal: string | null;
  readonly dashboard: string | null;
  readonly checkout: string | null;
  readonly explorer: string | null;
};

/** One thing that was looked up. The texts may hold what strangers wrote. */
export type Found = {
  readonly kind: FoundKind;
  /** Null for what has no id of its own. */
  readonly id: string | null;
  /** Null for what belongs to no mode. */
  readonly is_live: boolean | null;
  readonly merchant_id: string | null;
  /** What it is, in one line. */
  readonly what: string;
  readonly state: string | null;
  /** Why it is where it is. */
  readonly why: string | null;
  readonly action: string | null;
  /** The command that shows all about it; null where this is all. */
  readonly command: string | null;
  readonly links: FoundLinks;
};

/** Makes the addresses of pages, where they are known. */
export type Pages = {
  /** A page of Temporal's web interface about an actor. */
  workflow(workflowId: string): string | null;
  /** A page of the merchant's dashboard. */
  dashboard(mode: Mode, path: string): string | null;
  readonly explorers: ExplorerUrls;
};

/** What every look-up is given. */
export type Looking = { readonly em: Em; readonly deps: Deps; readonly pages: Pages };

/** So many rows of a kind are looked at and listed. */
export const LISTED = 20;

const NO_LINKS: FoundLinks = { temporal: null, dashboard: null, checkout: null, explorer: null };

/** A found thing with what it does not have left out. */
export function found(
  kind: FoundKind,
  what: string,
  facts: Partial<Omit<Found, 'kind' | 'what' | 'links'>> & { readonly links?: Partial<FoundLinks> },
): Found {
  const { links, ...rest } = facts;
  const empty = { id: null, is_live: null, merchant_id: null, state: null, why: null, action: null };
  return { kind, what, ...empty, command: null, ...rest, links: { ...NO_LINKS, ...links } };
}

/** How customers are called in one line: their email, else their merchant's own id of them. */
export async function namesOfCustomers(em: Em, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await em.find(Customer, { id: { $in: [...new Set(ids)] } });
  return new Map(rows.map((row) => [row.id, row.email ?? row.externalId ?? 'without a name']));
}

/** The names of merchants, by id. */
export async function namesOfMerchants(
  em: Em,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids.filter((id) => id !== null))];
  return new Map((await em.find(Merchant, { id: { $in: known } })).map(({ id, name }) => [id, name]));
}
