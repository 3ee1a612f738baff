// Everything that a signature depends on, as the database has it at this moment.
import type { AddressKey } from '../../chains/address-key.ts';
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

/** Whose money it is, of which asset, and where it lies. */
type MoneyFacts = {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly simulated: boolean;
  readonly network: Network;
  readonly currency: Currency;
  readonly contractAddress: string | null;
  readonly addressKey: AddressKey;
};
type PayoutFacts = MoneyFacts & {
  readonly destination: string;
  readonly grossUnits: bigint;
  readonly state: string;
};
export type DepositFacts = MoneyFacts & {
  readonly amountUnits: bigint;
  readonly status: string;
  readonly blockHash: string | null;
  readonly verifiedAt: unknown;
};

/** The address that is paid out of, with what its seal is about. */
type OwnerFacts = {
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
type DestinationFacts = { readonly address: string | null; readonly seal: Buffer | null };

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
  /** Whether a wallet of ours is at the receiver. */
  readonly isToOurs: boolean;
  /** Whether a watcher counts the sender as a gas wallet. */
  readonly isGasWalletNoted: boolean;
  /** A transaction of the sender that nobody signed here, and no operator has accepted. */
  readonly foreignHash: string | null;
  /** What is said to prove that the sender's key has taken places by what is in final blocks. */
  readonly proofs: readonly object[];
  /** By hash, for the hashes that were asked for. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
};

/**
 * Locks what waits under an id together with its payout and the deposits of it, in the order in which
 * everybody locks them. Undefined where somebody else has it, or it does not wait any more.
 */
export async function lockAsked(em: Em, id: string): Promise<Asked | undefined> {
  const payoutOf = sql<{
    payoutId: string | null;
  }>`select payout_id from sent_transactions where id = ${id} and state = 'asked'`;
  const payoutId = (await firstRow(em, payoutOf))?.payoutId ?? null;
  if (payoutId === null) return undefined;
  await run(em, sql`select lock_for_signing(${payoutId}::uuid)`);
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
  const { network, fromKey, toKey } = asked;
  const payout = await payoutOf(em, asked);
  const deposits = await depositsOf(em, asked);
  const destination = await firstRow(
    em,
    sql<DestinationFacts>`select address, seal from withdraw_addresses
      where merchant_id = ${payout.merchantId} and network = ${network}`,
  );
  const wallets = await firstRow(
    em,
    sql<{ isToOurs: boolean; isNoted: boolean; foreignHash: string | null }>`
      select exists (select 1 from deposit_addresses where network = ${network} and address_key = ${toKey}
          union all select 1 from gas_wallets
          where network = ${network} and address_key = ${toKey}) as is_to_ours,
        exists (select 1 from gas_wallets where network = ${network} and address_key = ${fromKey}
          and noted_at is not null) as is_noted,
        (select hash from sent_transactions where network = ${network} and from_key = ${fromKey}
          and state = 'foreign' and decided_at is null limit 1) as foreign_hash`,
  );
  // One that lets code run at its own address takes the place after its own as well.
  const claims = await rows(
    em,
    sql<{ proof: object }>`select proof from sent_transactions where network = ${network}
      and from_key = ${fromKey} and state = 'foreign' and proof is not null and block_hash is not null
      and verified_at is not null and nonce >= ${place - 1}`,
  );
  return {
    asked,
    payout,
    deposits,
    owner: await ownerOf(em, payout),
    destination,
    isToOurs: wallets?.isToOurs === true,
    isGasWalletNoted: wallets?.isNoted === true,
    foreignHash: wallets?.foreignHash ?? null,
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
  const foreign = sql`select 1 from sent_transactions
    where network = ${network} and hash = ${hash} and state = 'foreign' limit 1`;
  return (await firstRow(em, foreign)) !== undefined;
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
