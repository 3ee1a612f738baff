import { AllowedNetwork } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import {
  type Cidr,
  cidrContains,
  formatCidr,
  formatIp,
  parseCidr,
  parseIp,
  unmapCidr,
  unmapIp,
} from '../../domain/ip-address.ts';
import { type ActionName, recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { lockMerchant, requireKnownMerchant } from '../merchants/known.ts';
import { Refusal } from '../refusal.ts';
import { changeWithin, type Within } from '../within.ts';

/** Enough for every office and server; each request with a live key looks through the list. */
export const MAX_ALLOWED_NETWORKS = 100;

/** A merchant's whole list, in order. When it is empty, the live keys work from everywhere. */
export type Allowlist = { readonly merchantId: string; readonly networks: readonly string[] };

/**
 * True when the list is empty or the address lies in one of its
 * networks. A text that is no address is let in by an empty list only.
 */
export function isAllowedFrom(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true;
  const parsed = parseIp(address);
  if (!parsed) return false;
  const ip = unmapIp(parsed);
  return networks.some((text) => {
    const network = parseCidr(text);
    return network !== undefined && cidrContains(network, ip);
  });
}

/**
 * Lets a merchant's live keys work from a network or address too; one
 * that is listed already changes nothing. Throws a {@link Refusal}.
 */
export async function allowNetwork(
  deps: Deps,
  input: { readonly merchantId: string; readonly network: string },
  how: Within = {},
): Promise<Allowlist> {
  const network = normaliseNetwork(input.network);
  return await change(deps, { ...input, action: 'allow-ip.add', how }, async (em, listed) => {
    if (listed.includes(network)) return;
    if (listed.length >= MAX_ALLOWED_NETWORKS) {
      throw new Refusal(
        'INVALID',
        `A merchant may list ${MAX_ALLOWED_NETWORKS} networks. Remove one first, or list a larger network.`,
      );
    }
    em.create(AllowedNetwork, { merchantId: input.merchantId, network, createdAt: deps.now() });
    await em.flush();
  });
}

/**
 * Takes a network off the list. Throws a {@link Refusal} when it is not on
 * it: an operator must not believe that a network is shut out when it is not.
 */
export async function disallowNetwork(
  deps: Deps,
  input: { readonly merchantId: string; readonly network: string },
  how: Within = {},
): Promise<Allowlist> {
  const network = normaliseNetwork(input.network);
  return await change(deps, { ...input, action: 'allow-ip.remove', how }, async (em, listed) => {
    if (!listed.includes(network)) {
      throw new Refusal(
        'NOT_FOUND',
        deps.actor?.kind === 'user'
          ? `${network} is not on the list.`
          : `${network} is not on the list. Show it with "allow-ip list --merchant ${input.merchantId}".`,
      );
    }
    await em.nativeDelete(AllowedNetwork, { merchantId: input.merchantId, network });
  });
}

/** The list of a merchant. Throws a {@link Refusal} for an unknown one. */
export async function listAllowedNetworks(
  deps: Deps,
  input: { readonly merchantId: string },
): Promise<Allowlist> {
  const em = deps.orm.em.fork();
  await requireKnownMerchant(em, input.merchantId);
  return { merchantId: input.merchantId, networks: await networksOf(em, input.merchantId) };
}

type Meant = {
  readonly merchantId: string;
  readonly action: ActionName;
  readonly how: Within;
};
type Change = (em: Em, listed: readonly string[]) => Promise<void>;

/** The lock on the merchant keeps two changes from running at once. */
async function change(deps: Deps, { merchantId, action, how }: Meant, apply: Change): Promise<Allowlist> {
  return await changeWithin(deps, how, async (em) => {
    await lockMerchant(em, merchantId);
    const before = await networksOf(em, merchantId);
    await apply(em, before);
    const networks = await networksOf(em, merchantId);
    await recordAction(em, deps, {
      action,
      merchantId,
      mode: 'live',
      subject: merchantId,
      before: { networks: before },
      after: { networks },
    });
    return { merchantId, networks };
  });
}

async function networksOf(em: Em, merchantId: string): Promise<string[]> {
  const listed = sql<{ network: string }>`
    select network from allowed_networks where merchant_id = ${merchantId} order by created_at, network`;
  return (await rows(em, listed)).map(({ network }) => network);
}

/**
 * Host bits behind the prefix are refused, not cleared: `203.0.113.7/24`
 * opens 256 addresses where somebody may have meant one.
 */
function normaliseNetwork(text: string): string {
  const given = text.trim();
  const parsed = parseCidr(given);
  if (!parsed) {
    throw new Refusal(
      'INVALID',
      'Give an address or a network, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.',
      'network',
    );
  }
  const network: Cidr = unmapCidr(parsed);
  const address = parseIp(given.split('/', 1)[0] ?? '');
  const host = address && unmapIp(address);
  if (host && (host.family !== network.family || host.bits !== network.bits)) {
    const sentence = `${given.slice(0, 60)} is an address inside a network. Give ${formatCidr(network)} for the whole network, or ${formatIp(host)} for the address.`;
    throw new Refusal('INVALID', sentence, 'network');
  }
  return formatCidr(network);
}
