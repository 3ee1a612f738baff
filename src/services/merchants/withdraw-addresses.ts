// Where merchants are paid out: what is refused when it is set, before a payout finds it out.
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, normaliseAddress } from '../../chains/addresses.ts';
import { WithdrawAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { readSeal, sealDirection, sealTime } from '../../domain/payouts/direction.ts';
import type { Deps } from '../deps.ts';
import { wakePayable } from '../payouts/wakes.ts';
import { Refusal } from '../refusal.ts';

/** Undefined leaves an address as it is, null takes it away. */
export type GivenAddress = {
  readonly network: Network;
  readonly address: string | null | undefined;
};

const ZERO = '0'.repeat(40);
const ASK_WITHIN_MS = 10_000;

/**
 * The address in the spelling in which it is stored. A mistyped one would send a merchant's money to nobody:
 * the checksum decides. Throws a {@link Refusal}.
 */
export function checkWithdraw(
  network: Network,
  address: string | null | undefined,
): string | null | undefined {
  if (address === undefined || address === null) return address;
  const normal = normaliseAddress(network, address.trim());
  if (normal !== undefined) return normal;
  throw new Refusal(
    'INVALID',
    `The withdraw address is not a ${network} address: copy it again from the wallet.`,
    `withdraw_${network}`,
  );
}

/**
 * Sets what is given, each with a seal, which is newer than that of the row before; an address is taken away
 * by a sealed row like any other, so that nobody brings it back who has no key. Throws a {@link Refusal} for
 * an address that nobody owns, for the contract of the token and for one of our own: money that is sent there
 * is lost, or comes back for ever.
 */
export async function setWithdraw(
  em: Em,
  deps: Pick<Deps, 'secretBox' | 'now' | 'settings'>,
  merchantId: string,
  given: readonly GivenAddress[],
): Promise<void> {
  for (const { network, address } of given) {
    if (address === undefined) continue;
    const wrong = address === null ? undefined : await notTheirs(em, deps, network, address);
    if (wrong)
      throw new Refusal(
        'INVALID',
        `The withdraw address ${address} is ${wrong}. Ask the merchant for an address of a wallet of their own.`,
        `withdraw_${network}`,
      );
    const at = sealTime(deps.now(), await sealedAt(em, deps, merchantId, network));
    const direction = { kind: 'destination', network, merchantId, address } as const;
    const seal = sealDirection(deps.secretBox, direction, at);
    await em.upsert(WithdrawAddress, { merchantId, network, address, seal });
    // The signer notes it at once: from then on the one before is an older one for it.
    await run(em, sql`select pg_notify('signer', 'withdraw address')`);
  }
}

/** When the present row was sealed; undefined where there is none, and where it has no seal of ours. */
async function sealedAt(
  em: Em,
  { secretBox }: Pick<Deps, 'secretBox'>,
  merchantId: string,
  network: Network,
): Promise<Date | undefined> {
  const row = await firstRow(
    em,
    sql<{ address: string | null; seal: Buffer | null }>`select address, seal from withdraw_addresses
      where merchant_id = ${merchantId} and network = ${network}`,
  );
  const keys = secretBox.previous ? [secretBox, secretBox.previous] : [secretBox];
  const direction = { kind: 'destination', network, merchantId, address: row?.address ?? null } as const;
  return readSeal(keys, direction, row?.seal);
}

/** Sets what is given as {@link setWithdraw} does, and tells the actors what may be paid out now. */
export async function applyWithdraw(
  em: Em,
  deps: Pick<Deps, 'secretBox' | 'now' | 'settings'>,
  merchantId: string,
  given: readonly GivenAddress[],
): Promise<void> {
  await setWithdraw(em, deps, merchantId, given);
  const networks = given.flatMap(({ network, address }) => (address == null ? [] : network));
  await wakePayable(em, deps, merchantId, networks);
}

/**
 * What an address is that cannot be a wallet of the merchant's: one that nobody owns, the contract of the
 * token, or one of our own; undefined for any other.
 */
export async function notTheirs(
  em: Em,
  { settings }: Pick<Deps, 'settings'>,
  network: Network,
  address: string,
): Promise<string | undefined> {
  const key = addressKeyOf(network, address);
  const ours = await firstRow(
    em,
    sql`select 1 from deposit_addresses where network = ${network} and address_key = ${key}
      union all select 1 from gas_wallets where network = ${network} and address_key = ${key} limit 1`,
  );
  return (
    (key === ZERO && 'the address zero, which nobody owns') ||
    (key === tokenOf(settings, network) && 'the contract of the token') ||
    (ours !== undefined && 'an address of this gateway') ||
    undefined
  );
}

function tokenOf({ contracts }: Deps['settings'], network: Network): AddressKey | undefined {
  const contract = contracts[network];
  return contract === '' ? undefined : addressKeyOf(network, contract);
}

/** The chains that can be asked about an address. */
export type AskedChains = ReadonlyMap<Network, AskedChain>;
type AskedChain = { readonly hasCode?: (address: AddressKey, signal: AbortSignal) => Promise<boolean> };

/**
 * Whether code runs at an address, as one endpoint says; `silent` where none answers, and `unwatched` where
 * nobody can be asked, because the chain is not watched and nothing is paid out on it.
 */
export async function codeAt(
  chains: AskedChains,
  network: Network,
  address: string,
): Promise<'code' | 'none' | 'silent' | 'unwatched'> {
  const hasCode = chains.get(network)?.hasCode;
  if (!hasCode) return 'unwatched';
  const signal = AbortSignal.timeout(ASK_WITHIN_MS);
  const isContract = await hasCode(addressKeyOf(network, address), signal).catch(() => undefined);
  if (isContract === undefined) return 'silent';
  return isContract ? 'code' : 'none';
}

/**
 * Refuses an address at which code runs: what a contract does with money that it is sent, nobody knows who
 * only has its address. Returns false where the chain is not watched, and nothing is paid out on it: nobody
 * is asked then. Throws a {@link Refusal} for a contract, and where no endpoint says whether it is one.
 */
export async function requireNoContract(
  chains: AskedChains,
  network: Network,
  address: string,
): Promise<boolean> {
  const found = await codeAt(chains, network, address);
  if (found === 'unwatched') return false;
  const refused = (sentence: string): Refusal => new Refusal('INVALID', sentence, `withdraw_${network}`);
  const allow = 'or give --allow-contract if the merchant is sure that it takes such payments';
  if (found === 'silent')
    throw refused(
      `Nobody can say whether ${address} is a contract: no RPC endpoint of ${network} answers. See with "doctor" that they do, ${allow}.`,
    );
  if (found === 'code')
    throw refused(
      `${address} is a contract on ${network}. Ask the merchant for an address whose key they hold, ${allow}.`,
    );
  return true;
}
