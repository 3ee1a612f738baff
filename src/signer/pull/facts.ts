// Everything that a signature depends on: the signer's own things, and rows as they are at this moment.
import type { Transfers } from '../../chains/transfer.ts';
import type { Deposit, Payout, SentTransaction } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, type Statement, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { AddressOwner, Destination, SealKey } from '../../domain/payouts/direction.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { SignedLine } from '../journal-lines.ts';
import type { OpenWallet } from '../wallet-file.ts';
import type { SignLimits } from './limits.ts';

/** What rows are judged by. */
export type Bench = {
  readonly keys: readonly SealKey[];
  readonly now: Date;
  readonly index: JournalIndex;
  readonly wallet: Pick<OpenWallet, 'publicParts' | 'depositAddress'>;
  readonly transfers: Transfers;
  readonly limits: SignLimits;
  readonly newDestinationAfterMs: number;
  readonly resumeAfterMs: number;
};

/** A row that asks to be signed: nothing of it is missing. */
export type Asked = {
  readonly [Name in AskedName]: NonNullable<SentTransaction[Name]>;
} & { readonly terms: unknown };
type AskedName = 'id' | 'network' | 'purpose' | 'payoutId' | 'attempt' | 'fromKey' | 'toKey' | AmountName;
type AmountName = 'currency' | 'amountUnits';

/** Columns that were read: what is not there is null. */
type Read<Row, Name extends keyof Row> = { readonly [One in Name]-?: Exclude<Row[One], undefined> };
/** Whose money it is, of which asset, and where it lies. */
type MoneyName = 'id' | 'merchantId' | 'mode' | 'simulated' | AssetName;
type AssetName = 'network' | 'currency' | 'contractAddress' | 'addressKey';
type PayoutFacts = Read<Payout, MoneyName | 'destination' | 'grossUnits' | 'state'>;
type DepositFacts = Read<Deposit, MoneyName | 'amountUnits' | 'status' | 'blockHash' | 'verifiedAt'>;

type WithSeal = { readonly network: Network; readonly seal: Buffer | null };
/** The address that is paid out of. */
type OwnerFacts = AddressOwner & WithSeal & { readonly address: string };
export type DestinationRow = Destination & WithSeal;

type WalletFacts = {
  /** Whether a wallet of ours is at the receiver. */
  readonly isToOurs: boolean;
  /** Whether a watcher counts the sender as a gas wallet. */
  readonly isGasWalletNoted: boolean;
  /** A transaction of the sender that nobody signed here, and no operator has accepted. */
  readonly foreignHash: string | null;
};

/** What the database says of a transaction that the journal has signed. */
export type Outcome = Read<SentTransaction, 'state' | 'ok'> & {
  /** Whether another transaction took its place, in a block that was read twice. */
  readonly replaced: boolean;
};

/** A row that asks to be signed, with all that decides it. */
export type SignCase = Bench &
  WalletFacts & {
    readonly asked: Asked;
    readonly payout: PayoutFacts;
    readonly deposits: readonly DepositFacts[];
    readonly owner: OwnerFacts | undefined;
    readonly destination: DestinationRow | undefined;
    /** What is said to prove that the sender's key has taken places by what is in final blocks. */
    readonly proofs: readonly object[];
    /** Of all that was signed earlier and matters, by hash. */
    readonly outcomes: ReadonlyMap<string, Outcome>;
  };

/** A row as the driver brings it: units as text. */
type Brought<Row, Units extends keyof Row> = Omit<Row, Units> & Readonly<Record<Units, string>>;

/**
 * Locks what waits under an id together with its payout and the deposits of it, in the order in which
 * everybody locks them. Undefined where somebody else has it, or it does not wait any more.
 */
export async function lockAsked(em: Em, id: string): Promise<Asked | undefined> {
  const first = <Row>(statement: Statement<Row>) => firstRow(em, statement);
  const found = await first(sql<{ payoutId: string | null }>`
    select payout_id from sent_transactions where id = ${id} and state = 'asked'`);
  if (!found?.payoutId) return undefined;
  await run(em, sql`select lock_for_signing(${found.payoutId}::uuid)`);
  const asked = await first(sql<Brought<Asked, 'amountUnits'>>`
    select id, network, purpose, payout_id, attempt, from_key, to_key, currency, amount_units, terms
    from sent_transactions where id = ${id} and state = 'asked' for update skip locked`);
  return asked && { ...asked, amountUnits: BigInt(asked.amountUnits) };
}

/** Everything about what was locked. */
export async function readFacts(em: Em, bench: Bench, asked: Asked): Promise<SignCase> {
  const { network, fromKey, toKey, payoutId } = asked;
  const first = <Row>(statement: Statement<Row>) => firstRow(em, statement);
  const all = <Row>(statement: Statement<Row>) => rows(em, statement);
  const payout = await first(sql<Brought<PayoutFacts, 'grossUnits'>>`
    select id, merchant_id, mode, simulated, network, currency, contract_address, address_key, destination,
      gross_units, state from payouts where id = ${payoutId}`);
  const wallets = await first(sql<WalletFacts>`
    select exists (select 1 from deposit_addresses where network = ${network} and address_key = ${toKey}
        union all select 1 from gas_wallets
        where network = ${network} and address_key = ${toKey}) as is_to_ours,
      exists (select 1 from gas_wallets where network = ${network} and address_key = ${fromKey}
        and noted_at is not null) as is_gas_wallet_noted,
      (select hash from sent_transactions where network = ${network} and from_key = ${fromKey}
        and state = 'foreign' and decided_at is null limit 1) as foreign_hash`);
  if (!payout || !wallets) throw new Error(`there is no payout ${payoutId}`);
  const deposits = await all(sql<Brought<DepositFacts, 'amountUnits'>>`
    select id, merchant_id, mode, simulated, network, currency, contract_address, address_key,
      amount_units, status, block_hash, verified_at
    from deposits where payout_id = ${payoutId} order by created_at, id`);
  const owner = await first(sql<OwnerFacts>`
    select 'address' as kind, a.address, a.address_key, a.network, a.merchant_id, a.customer_id, a.mode,
      c.wallet_index, a.seal from deposit_addresses a join customers c on c.id = a.customer_id
    where a.network = ${payout.network} and a.address_key = ${payout.addressKey}`);
  const destination = await first(sql<DestinationRow>`
    select 'destination' as kind, merchant_id, network, address, seal
    from withdraw_addresses where merchant_id = ${payout.merchantId} and network = ${network}`);
  // One that lets code run at its own address takes the place after its own as well.
  const claims = await all(sql<{ proof: object }>`
    select proof from sent_transactions where network = ${network} and from_key = ${fromKey}
      and state = 'foreign' and proof is not null and block_hash is not null and verified_at is not null
      and nonce >= ${bench.index.lastNonce(network, fromKey) ?? -1}`);
  const outcomes = await all(sql<Outcome & { hash: string }>`
    select s.hash, s.state, s.ok, exists (select 1 from sent_transactions o
        where o.network = s.network and o.from_key = s.from_key and o.nonce = s.nonce and o.hash <> s.hash
          and o.block_hash is not null and o.verified_at is not null) as replaced
    from sent_transactions s
    where s.network = ${network} and s.hash = any(${hashesBefore(bench.index, asked, deposits)})`);
  return {
    ...bench,
    ...wallets,
    asked,
    payout: { ...payout, grossUnits: BigInt(payout.grossUnits) },
    deposits: deposits.map((row) => ({ ...row, amountUnits: BigInt(row.amountUnits) })),
    owner,
    destination,
    proofs: claims.map(({ proof }) => proof),
    outcomes: new Map(outcomes.map((row) => [row.hash, row])),
  };
}

/** The hashes on whose outcome a signature depends. */
function hashesBefore(
  index: JournalIndex,
  { purpose, payoutId, network, toKey }: Asked,
  deposits: readonly { readonly id: string }[],
): readonly string[] {
  const ofDeposits = deposits.flatMap(({ id }) => index.ofDeposit(id));
  const given = purpose === 'gas' ? index.topUps(network, toKey) : [];
  const lines = [...index.ofPayout(purpose, payoutId), ...ofDeposits, ...given];
  return [...new Set(lines.map(({ hash }) => hash))];
}

/** Whether blocks have shown a transaction to a database that does not know it as ours. */
export async function isCalledForeign(em: Em, { network, hash }: SignedLine): Promise<boolean> {
  const foreign = sql`select 1 from sent_transactions
    where network = ${network} and hash = ${hash} and state = 'foreign' limit 1`;
  return (await firstRow(em, foreign)) !== undefined;
}

const FIRST = { merchantId: '00000000-0000-0000-0000-000000000000', network: '' };

/** Withdraw addresses in the order of their merchants, a page at a time. */
export async function destinationsAfter(
  em: Em,
  { merchantId, network }: Pick<DestinationRow, 'merchantId'> & { network: string } = FIRST,
  limit: number,
): Promise<DestinationRow[]> {
  const page = sql<DestinationRow>`select 'destination' as kind, merchant_id, network, address, seal
    from withdraw_addresses where (merchant_id, network) > (${merchantId}::uuid, ${network})
    order by merchant_id, network limit ${limit}`;
  return await rows(em, page);
}
