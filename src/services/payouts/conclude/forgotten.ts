// Taking up what the signer has signed and the database has forgotten: after a restore of an older backup.
import { LockMode } from '@mikro-orm/core';
import { chainOf } from '../../../chains/index.ts';
import { DepositAddress, Payout, SentTransaction } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, sql } from '../../../db/sql.ts';
import { assetOf, type Network } from '../../../domain/assets.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { transact } from '../../transact.ts';
import { lockPayout, planOf } from '../plan.ts';
import { livingPayout } from '../settle/living.ts';
import { type SettlementPlace, settlementWake } from '../wakes.ts';
import { requireVouched, type SignedBytes, type SignedFor } from './evidence.ts';
import { endPlanned, giveUpAsked, NotConcluded, paidBy } from './room.ts';

/** All that is known again, and the payout that the named one is for. */
export type TakenUp = { readonly payoutId: string; readonly hashes: readonly string[] };

type Taking = {
  readonly signed: SignedFor;
  /** The transaction that an operator named. */
  readonly hash: string;
  readonly reason: string;
};

/**
 * Makes the database know again what the signer has signed for a payout: the payout, of the same deposits,
 * and its transactions with their bytes, those that blocks have shown with their place and outcome. Nothing
 * is settled by it: the ordinary steps do that, from final blocks alone; what is in no block they send again,
 * byte for byte, and what can land no more they end. Undefined where the database knows the transaction, and
 * its payout is not settled. The deposits must be completed, read twice and unpaid, the sums those of the
 * journal, which the signer must have vouched for in any case. Throws {@link NotConcluded} for all else;
 * nothing was changed then.
 */
export async function takeUp(deps: Deps, { signed, hash, reason }: Taking): Promise<TakenUp | undefined> {
  const { network } = signed;
  return await transact(deps, async (tx) => {
    const { em } = tx;
    await requireVouched(em, signed);
    const lines = await forgottenOf(em, signed, hash);
    if (!lines.some((line) => line.hash === hash)) return await requireOpen(em, network, hash);
    const place = await ownerOf(em, signed, lines);
    const payouts = lines.filter(({ purpose }) => purpose === 'payout');
    const payout =
      payouts.length > 0 ? await planAgain(em, deps, place, payouts) : await livingPayout(em, place);
    if (payout) await lockPayout(em, payout.id, payout.state);
    let payoutId = '';
    for (const line of lines) {
      const runsContract = payout && assetOf(network, payout.currency).kind === 'token';
      const takes = line.purpose !== 'delegate' || runsContract;
      const id = (await lentFor(em, signed, line)) ?? (takes ? payout?.id : undefined);
      if (id === undefined)
        throw new NotConcluded(
          'the address was given coins or energy, and no payout that takes them is under way there at present: run this again when one is, or let the gas wallet go on with "payout accept"',
        );
      await giveUpAsked(em, deps, id);
      await write(em, deps, line, { network, payoutId: id });
      if (line.hash === hash) payoutId = id;
    }
    await tx.enqueue(...settlementWake(place));
    const hashes = lines.map((line) => line.hash);
    const after = { payout: payoutId, transactions: hashes };
    const { merchantId, mode } = place;
    await recordAction(em, deps, {
      action: 'payout.take-up',
      subject: hash,
      merchantId,
      mode,
      after,
      reason,
    });
    return { payoutId, hashes };
  });
}

async function requireOpen(em: Em, network: Network, hash: string): Promise<undefined> {
  const known = await firstRow(
    em,
    sql<{ id: string; state: string }>`select p.id, p.state from sent_transactions s
      join payouts p on p.id = s.payout_id where s.network = ${network} and s.hash = ${hash}
        and (p.state = 'settled' or s.purpose <> 'payout') limit 1`,
  );
  if (!known) return undefined;
  throw new NotConcluded(
    `${hash} is known as one of payout ${known.id}, which is ${known.state}: there is nothing to take up; see "payout show ${known.id}"`,
  );
}

/**
 * Those that the database does not know as ours, in the order in which they were signed. Other attempts of a
 * payout that it knows are left out where what the address was given is taken up: the payout may be over.
 */
async function forgottenOf(
  em: Em,
  { network, payouts, given }: SignedFor,
  hash: string,
): Promise<readonly SignedBytes[]> {
  const lines = [...given, ...payouts].toSorted((a, b) => a.place - b.place);
  const found = await rows(
    em,
    sql<{ hash: string }>`select hash from sent_transactions where network = ${network}
      and hash = any(${lines.map((line) => line.hash)}) and (purpose is not null or payout_id is not null)`,
  );
  const known = new Set(found.map((row) => row.hash));
  const isOver = payouts.some((line) => known.has(line.hash)) && given.some((line) => line.hash === hash);
  return lines.filter((line) => !known.has(line.hash) && !(isOver && line.purpose === 'payout'));
}

/** The address that they are signed for, with the merchant for whom all of them were. */
async function ownerOf(
  em: Em,
  { network, addressKey }: SignedFor,
  lines: readonly SignedBytes[],
): Promise<DepositAddress> {
  const owner = await em.findOne(DepositAddress, { network, addressKey, mode: 'live' });
  if (!owner)
    throw new NotConcluded(
      `the address ${chainOf(network).addresses.format(addressKey)} belongs to no customer here, as one that was made since the backup is lost: what it paid cannot be taken up; let the gas wallet go on with "payout accept"`,
    );
  if (lines.every(({ merchantId }) => merchantId === owner.merchantId)) return owner;
  throw new NotConcluded(
    `${owner.address} belongs to another merchant than the journal has it: compare the row with a backup, and find out who wrote it`,
  );
}

/**
 * A payout of just the deposits of these attempts, for which a planned one is given up. It keeps its id where
 * that is free, by which the signer finds its attempts: under another one nothing is outbid.
 */
async function planAgain(
  em: Em,
  deps: TxDeps,
  place: SettlementPlace,
  attempts: readonly SignedBytes[],
): Promise<Payout | undefined> {
  const [first] = attempts;
  if (!first) return undefined;
  const { hash, currency, depositIds: ids, payoutId, to, amountUnits: leastUnits } = first;
  await endPlanned(em, deps, place, hash);
  const isRight = (sum: bigint): boolean =>
    attempts.every(({ amountUnits, mostKept }) => sum >= amountUnits && sum - amountUnits <= mostKept);
  const which = { place, currency, hash, blockNumber: Number.MAX_SAFE_INTEGER, ids };
  const deposits = await paidBy(em, which, { leastUnits, isRight });
  const id = (await em.count(Payout, { id: payoutId })) > 0 ? deps.newId() : payoutId;
  const destination = chainOf(place.network).addresses.format(to);
  return await planOf(em, deps, deposits, { id, destination });
}

/** Of bytes that take energy back, the payout that it is known to be lent for, which may be over. */
async function lentFor(em: Em, { given }: SignedFor, line: SignedBytes): Promise<string | undefined> {
  if (line.purpose !== 'reclaim') return undefined;
  const loans = given.filter(
    ({ purpose, payoutId, amountUnits }) =>
      purpose === 'delegate' && payoutId === line.payoutId && amountUnits === line.amountUnits,
  );
  const found = await firstRow(
    em,
    sql<{ id: string }>`select payout_id as id from sent_transactions
      where hash = any(${loans.map(({ hash }) => hash)}) and purpose = 'delegate' limit 1`,
  );
  return found?.id;
}

/**
 * As the signer stores it, and then as the watcher binds it: the database holds each step to its rules. The
 * row that called it somebody else's is forgotten; the audit keeps what was decided.
 */
async function write(
  em: Em,
  deps: TxDeps,
  line: SignedBytes,
  of: { readonly network: Network; readonly payoutId: string },
): Promise<void> {
  const { format } = chainOf(of.network).addresses;
  const { purpose, from, to, currency, amountUnits, terms, nonce, expiresAt, signedAt, hash } = line;
  const foreign = { network: of.network, hash, fromKey: from, purpose: null, payoutId: null };
  const shown = await em.findOne(SentTransaction, foreign, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (shown) em.remove(shown);
  await em.flush();
  const last = await em.findOne(SentTransaction, { ...of, purpose }, { orderBy: { attempt: 'desc' } });
  const row = em.create(SentTransaction, {
    ...of,
    purpose,
    currency,
    amountUnits,
    terms,
    nonce,
    expiresAt,
    signedAt,
    hash,
    fromKey: from,
    fromAddress: format(from),
    toKey: to,
    toAddress: format(to),
    id: deps.newId(),
    state: 'signed',
    attempt: Math.max(line.attempt, (last?.attempt ?? 0) + 1),
    raw: Buffer.from(line.raw),
    createdAt: deps.now(),
    updatedAt: deps.now(),
  });
  await em.flush();
  if (shown?.blockHash == null) return;
  const { blockNumber, blockHash, ok, feeUnits, moves, verifiedAt } = shown;
  Object.assign(row, { state: 'mined', blockNumber, blockHash, ok, feeUnits, moves });
  await em.flush();
  // What was read once only the second read makes final.
  if (verifiedAt != null) Object.assign(row, { state: 'final', verifiedAt });
  await em.flush();
}
