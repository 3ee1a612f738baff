// Everything that a signature depends on, as the database has it at this moment.
import { type AddressKey, keyOfHex } from '../../chains/address-key.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { SentPurpose } from '../../domain/payouts/purpose.ts';

/** A row that asks to be signed. */
export type Asked = {
  readonly id: string;
  readonly network: Network;
  readonly purpose: SentPurpose;
  readonly payoutId: string;
  readonly attempt: number;
  readonly fromKey: AddressKey;
  readonly toKey: AddressKey;
  readonly currency: Currency;
  readonly amountUnits: bigint;
  readonly terms: unknown;
};

export type PayoutFacts = {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly simulated: boolean;
  readonly network: Network;
  readonly currency: Currency;
  readonly contractAddress: string | null;
  readonly addressKey: AddressKey;
  readonly destination: string;
  readonly grossUnits: bigint;
  readonly state: string;
};

export type DepositFacts = {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly simulated: boolean;
  readonly network: Network;
  readonly currency: Currency;
  readonly contractAddress: string | null;
  readonly addressKey: AddressKey;
  readonly amountUnits: bigint;
  readonly status: string;
  readonly blockHash: string | null;
  readonly verifiedAt: unknown;
};

/** The address that is paid out of, with what its seal is about. */
export type OwnerFacts = {
  readonly address: string;
  readonly addressKey: AddressKey;
  readonly network: Network;
  readonly merchantId: string;
  readonly customerId: string;
  readonly mode: Mode;
  readonly walletIndex: number;
  readonly seal: Buffer | null;
};

/** An address of null was taken away. */
export type DestinationFacts = { readonly address: string | null; readonly seal: Buffer | null };

/** What the database says of a transaction that the journal has signed. */
export type Outcome = {
  readonly state: string;
  readonly ok: boolean | null;
  /** Whether another transaction took its place, in a block that was read twice. */
  readonly replaced: boolean;
};

export type Facts = {
  readonly asked: Asked;
  readonly payout: PayoutFacts;
  readonly deposits: readonly DepositFacts[];
  readonly owner: OwnerFacts | undefined;
  readonly destination: DestinationFacts | undefined;
  /** Whether a wallet of ours is at an address. */
  readonly isOurs: (key: AddressKey) => boolean;
  /** Since when a watcher counts the sender as a gas wallet; undefined where it is none. */
  readonly gasWalletNoted: boolean | undefined;
  /** A transaction of the sender that nobody signed here, and no operator has accepted. */
  readonly foreignHash: string | null;
  /** What is said to prove that the sender's key has taken places by what is in final blocks. */
  readonly proofs: readonly object[];
  /** By hash, for the hashes that were asked for. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
};

/** Ids of what was asked for and never refused, oldest first, without those that could not be looked at. */
export async function freshIds(em: Em, but: readonly string[], limit: number): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ id: string }>`select id from sent_transactions
      where state = 'asked' and refused is null and not (id = any(${but}))
      order by created_at, id limit ${limit}`,
  );
  return found.map(({ id }) => id);
}

/** Ids of what was refused and still waits, a page at a time; undefined begins at the first. */
export async function refusedIds(em: Em, after: string | undefined, limit: number): Promise<string[]> {
  const beyond = after === undefined ? sql<boolean>`true` : sql<boolean>`id > ${after}::uuid`;
  const found = await rows(
    em,
    sql<{ id: string }>`select id from sent_transactions
      where state = 'asked' and refused is not null and ${beyond} order by id limit ${limit}`,
  );
  return found.map(({ id }) => id);
}

/**
 * Locks what waits under an id together with its payout and the deposits of it, in the order in which
 * everybody locks them. Undefined where somebody else has it, or it does not wait any more.
 */
export async function lockAsked(em: Em, id: string): Promise<Asked | undefined> {
  const found = await firstRow(
    em,
    sql<{
      payoutId: string | null;
    }>`select payout_id from sent_transactions where id = ${id} and state = 'asked'`,
  );
  if (found?.payoutId == null) return undefined;
  await run(em, sql`select lock_for_signing(${found.payoutId}::uuid)`);
  const asked = await firstRow(
    em,
    sql<Omit<Asked, 'amountUnits'> & { units: string }>`
      select id, network, purpose, payout_id, attempt, from_key, to_key, currency,
        amount_units::text as units, terms from sent_transactions
        where id = ${id} and state = 'asked' for update skip locked`,
  );
  return asked && { ...asked, amountUnits: BigInt(asked.units) };
}

/**
 * Everything about what was locked; `hashes` are those of earlier signatures that it depends on, and `place`
 * is the sender's next one as far as the journal knows.
 */
export async function readFacts(
  em: Em,
  asked: Asked,
  hashesOf: (depositIds: readonly string[]) => readonly string[],
  place: number,
): Promise<Facts> {
  const { network } = asked;
  const payout = await payoutOf(em, asked);
  const deposits = await depositsOf(em, asked);
  const destination = await firstRow(
    em,
    sql<DestinationFacts>`select address, seal from withdraw_addresses
      where merchant_id = ${payout.merchantId} and network = ${network}`,
  );
  const ours = await rows(
    em,
    sql<{ key: string }>`select address_key as key from deposit_addresses
        where network = ${network} and address_key = ${asked.toKey}
      union all select address_key from gas_wallets
        where network = ${network} and address_key = ${asked.toKey}`,
  );
  const sender = await firstRow(
    em,
    sql<{ noted: boolean | null; foreignHash: string | null }>`
      select (select noted_at is not null from gas_wallets where network = ${network}
          and address_key = ${asked.fromKey}) as noted,
        (select hash from sent_transactions where network = ${network} and from_key = ${asked.fromKey}
          and state = 'foreign' and decided_at is null limit 1) as foreign_hash`,
  );
  // One that lets code run at its own address takes the place after its own as well.
  const claims = await rows(
    em,
    sql<{ proof: object }>`select proof from sent_transactions where network = ${network}
      and from_key = ${asked.fromKey} and state = 'foreign' and proof is not null and block_hash is not null
      and verified_at is not null and nonce >= ${place - 1}`,
  );
  return {
    asked,
    payout,
    deposits,
    owner: await ownerOf(em, payout),
    destination,
    isOurs: (key) => ours.some((row) => row.key === key),
    gasWalletNoted: sender?.noted ?? undefined,
    foreignHash: sender?.foreignHash ?? null,
    proofs: claims.map(({ proof }) => proof),
    outcomes: await outcomesOf(em, network, hashesOf(deposits.map(({ id }) => id))),
  };
}

async function payoutOf(em: Em, { payoutId }: Asked): Promise<PayoutFacts> {
  const row = await firstRow(
    em,
    sql<Omit<PayoutFacts, 'grossUnits'> & { units: string }>`
      select id, merchant_id, mode, simulated, network, currency, contract_address, address_key, destination,
        gross_units::text as units, state from payouts where id = ${payoutId}`,
  );
  if (!row) throw new Error(`there is no payout ${payoutId}`);
  return { ...row, grossUnits: BigInt(row.units) };
}

async function depositsOf(em: Em, { payoutId }: Asked): Promise<DepositFacts[]> {
  const found = await rows(
    em,
    sql<Omit<DepositFacts, 'amountUnits'> & { units: string }>`
      select id, merchant_id, mode, simulated, network, currency, contract_address, address_key,
        amount_units::text as units, status, block_hash, verified_at
      from deposits where payout_id = ${payoutId} order by created_at, id`,
  );
  return found.map((row) => ({ ...row, amountUnits: BigInt(row.units) }));
}

async function ownerOf(em: Em, payout: PayoutFacts): Promise<OwnerFacts | undefined> {
  return await firstRow(
    em,
    sql<OwnerFacts>`
      select a.address, a.address_key, a.network, a.merchant_id, a.customer_id, a.mode, c.wallet_index, a.seal
      from deposit_addresses a join customers c on c.id = a.customer_id
      where a.network = ${payout.network} and a.address_key = ${payout.addressKey}`,
  );
}

async function outcomesOf(
  em: Em,
  network: Network,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Outcome>> {
  if (hashes.length === 0) return new Map();
  const found = await rows(
    em,
    sql<Outcome & { hash: string }>`select s.hash, s.state, s.ok, exists (select 1 from sent_transactions o
          where o.network = s.network and o.from_key = s.from_key and o.nonce = s.nonce and o.hash <> s.hash
            and o.block_hash is not null and o.verified_at is not null) as replaced
      from sent_transactions s where s.network = ${network} and s.hash = any(${hashes})`,
  );
  return new Map(found.map((row) => [row.hash, row]));
}

/** Whether blocks have shown a transaction to a database that does not know it as ours. */
export async function isCalledForeign(em: Em, network: Network, hash: string): Promise<boolean> {
  const found = await firstRow(
    em,
    sql<{ id: string }>`select id from sent_transactions
      where network = ${network} and hash = ${hash} and state = 'foreign' limit 1`,
  );
  return found !== undefined;
}

/** A withdraw address with what its seal is about. */
export type DestinationRow = DestinationFacts & { readonly merchantId: string; readonly network: Network };

/** Withdraw addresses in the order of their merchants, a page at a time. */
export async function destinationsAfter(
  em: Em,
  after: Pick<DestinationRow, 'merchantId' | 'network'> | undefined,
  limit: number,
): Promise<DestinationRow[]> {
  const beyond = after
    ? sql<boolean>`(merchant_id, network) > (${after.merchantId}::uuid, ${after.network})`
    : sql<boolean>`true`;
  return await rows(
    em,
    sql<DestinationRow>`select merchant_id, network, address, seal from withdraw_addresses where ${beyond}
      order by merchant_id, network limit ${limit}`,
  );
}

/** The key of a contract's address as a row spells it; undefined for none, and for what is no address. */
export function contractKey(
  spell: (text: string) => AddressKey,
  contract: string | null,
): AddressKey | null | undefined {
  if (contract === null) return null;
  try {
    return spell(contract);
  } catch {
    return /^(0x)?[0-9a-fA-F]{40}$/.test(contract) ? keyOfHex(contract.slice(-40)) : undefined;
  }
}
