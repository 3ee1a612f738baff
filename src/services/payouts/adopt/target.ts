// The payout that takes up what was signed: the one that was signed for, or another one of just its deposits.
import { LockMode } from '@mikro-orm/core';
import { Deposit, Payout } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, literals, rows, sql } from '../../../db/sql.ts';
import { assetOf, type Network } from '../../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import type { TxDeps } from '../../deps.ts';
import { cancelPayout, planOf } from '../plan.ts';
import { giveUp, livingPayout } from '../settle/living.ts';
import { NotAdopted, type SignedBytes, type SignedFor } from './signed.ts';

type Place = Pick<SignedFor, 'network' | 'addressKey'>;
type AskedRow = {
  readonly id: string;
  readonly purpose: string;
  readonly isSigned: boolean;
  readonly state: string;
  readonly refused: string | null;
};

const AGAIN = 'something went on at this address meanwhile: run this again';

/**
 * The payout of these transactions, locked with its deposits: one under way that pays just these, or a new
 * one, for which a planned one is given up where nothing of it is signed. `destination` is where they pay to.
 * Throws {@link NotAdopted} where deposits are not completed and unpaid, and while another payout pays.
 */
export async function payoutOf(
  em: Em,
  deps: TxDeps,
  place: Place,
  lines: readonly SignedBytes[],
  destination: string,
): Promise<Payout> {
  const [first] = lines;
  const depositIds = first?.depositIds ?? [];
  if (!first || lines.some((line) => !sameTransfer(line, first))) throw new Error('they are of one payout');
  const before = await livingPayout(em, place);
  const deposits = await lockDeposits(em, depositIds, before?.id);
  const living = before && (await lockLiving(em, before));
  const asked = living ? await lockSent(em, living.id) : [];
  const covered = deposits.filter(({ payoutId }) => living && payoutId === living.id);
  const isSame =
    living !== null &&
    living.destination === destination &&
    living.currency === first.currency &&
    covered.length === depositIds.length &&
    covered.every(({ id }) => depositIds.includes(id));
  if (living && asked.some(({ purpose, isSigned }) => purpose === 'payout' && isSigned)) {
    if (isSame && living.id === first.payoutId) return living;
    throw new NotAdopted(
      `another payout of this address (${living.id}) is on its way: wait until it has ended, then run this again`,
    );
  }
  for (const row of asked.filter(({ state }) => state === 'asked')) await giveUpAsked(em, deps, row);
  if (living && isSame && living.id === first.payoutId) return living;
  if (living)
    await cancelPayout(em, deps, living.id, `its deposits are those of ${first.hash}, which was taken up`);
  const paid = requirePayable(place, first, deposits);
  for (const line of lines) requireSum(place.network, line, paid);
  const isTaken = (await em.count(Payout, { id: first.payoutId })) > 0;
  const id = isTaken ? deps.newId() : first.payoutId;
  const payout = await planOf(em, deps, paid, { id, destination });
  if (!payout) throw new Error('a payout of nothing is not signed');
  return payout;
}

/** The payout under way at an address, locked, for coins that the address was given. */
export async function livingAt(em: Em, place: Place): Promise<Payout> {
  const before = await livingPayout(em, place);
  if (before) return await lockLiving(em, before);
  throw new NotAdopted(
    'the address was given coins, and nothing is to be paid out there at present: run this again when a payout of it is under way, or let the gas wallet go on with "payout accept"',
  );
}

/**
 * Of bytes that take energy back, the payout that it was lent for, locked, where that is known and over; what
 * was asked for to take it back anew is given up. Undefined for everything else.
 */
export async function lentFor(
  em: Em,
  deps: TxDeps,
  given: readonly SignedBytes[],
  line: SignedBytes,
): Promise<Payout | undefined> {
  if (line.purpose !== 'reclaim') return undefined;
  const loans = given.filter(
    ({ purpose, payoutId, amountUnits }) =>
      purpose === 'delegate' && payoutId === line.payoutId && amountUnits === line.amountUnits,
  );
  const found = await firstRow(
    em,
    sql<{ id: string }>`select p.id from sent_transactions s join payouts p on p.id = s.payout_id
      where s.hash = any(${loans.map(({ hash }) => hash)}) and s.purpose = 'delegate'
        and not p.state in ${literals(LIVING_PAYOUTS)} limit 1`,
  );
  if (!found) return undefined;
  const payout = await em.findOneOrFail(Payout, found.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const asked = (await lockSent(em, payout.id)).filter(({ state }) => state === 'asked');
  for (const row of asked) await giveUpAsked(em, deps, row);
  return payout;
}

const sameTransfer = (line: SignedBytes, other: SignedBytes): boolean =>
  line.payoutId === other.payoutId &&
  line.to === other.to &&
  line.currency === other.currency &&
  line.depositIds.length === other.depositIds.length &&
  line.depositIds.every((id) => other.depositIds.includes(id));

/** In the order in which everybody locks deposits. */
async function lockDeposits(
  em: Em,
  ids: readonly string[],
  livingId: string | undefined,
): Promise<readonly Deposit[]> {
  const named = { id: { $in: [...ids] } };
  const which = livingId === undefined ? named : { $or: [named, { payoutId: livingId }] };
  return await em.find(Deposit, which, {
    orderBy: { id: 'asc' },
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  });
}

async function lockLiving(em: Em, before: Payout): Promise<Payout> {
  const { id, state } = before;
  const locked = await em.findOne(Payout, id, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (locked?.state !== state) throw new NotAdopted(AGAIN);
  return locked;
}

async function lockSent(em: Em, payoutId: string): Promise<readonly AskedRow[]> {
  return await rows(
    em,
    sql<AskedRow>`select id, purpose, raw is not null as is_signed, state, refused from sent_transactions
      where payout_id = ${payoutId} order by id for update`,
  );
}

/** What was asked for and not refused may be in the journal already: the signer answers first. */
async function giveUpAsked(em: Em, deps: TxDeps, { id, refused }: AskedRow): Promise<void> {
  if (refused === null)
    throw new NotAdopted(
      'the signer is asked to sign something for this address: see that it runs, and run this again in a moment',
    );
  if (!(await giveUp(em, deps, id))) throw new NotAdopted(AGAIN);
}

/** All the deposits that were paid, each of them completed, read twice, and paid by nothing else. */
function requirePayable(
  { network, addressKey }: Place,
  { depositIds, currency, merchantId, hash }: SignedBytes,
  deposits: readonly Deposit[],
): readonly Deposit[] {
  return depositIds.map((id) => {
    const deposit = deposits.find((one) => one.id === id);
    if (!deposit)
      throw new NotAdopted(
        `deposit ${id}, which ${hash} pays out, is not known: wait until the blocks of its time are read again ("doctor" says how far), then run this again`,
      );
    if (deposit.status === 'settled' || deposit.payoutId != null)
      throw new NotAdopted(
        `deposit ${id} is paid out by payout ${deposit.payoutId} as well: compare ${hash} with an explorer, and do not run this again before it is clear which of the two was paid`,
      );
    const isPayable =
      deposit.status === 'completed' &&
      deposit.mode === 'live' &&
      !deposit.simulated &&
      deposit.blockHash != null &&
      deposit.verifiedAt != null;
    if (!isPayable)
      throw new NotAdopted(
        `deposit ${id}, which ${hash} pays out, is ${deposit.status}${deposit.verifiedAt == null ? ' and not read twice' : ''}: "deposit show ${id}" says what it waits for; run this again when it is completed`,
      );
    const isOfLine =
      deposit.network === network &&
      deposit.addressKey === addressKey &&
      deposit.currency === currency &&
      deposit.merchantId === merchantId;
    if (!isOfLine)
      throw new NotAdopted(
        `deposit ${id} is of another address, asset or merchant than the journal has it: compare it with "deposit show ${id}", and back up the database before anything else`,
      );
    return deposit;
  });
}

/** A token is paid out whole; a coin less what its transaction kept back. */
function requireSum(network: Network, line: SignedBytes, deposits: readonly Deposit[]): void {
  const gross = deposits.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
  const kept = gross - line.amountUnits;
  const isToken = assetOf(network, line.currency).kind === 'token';
  const { least, most } = isToken ? { least: 0n, most: 0n } : (line.keptBack ?? { least: 1n, most: 0n });
  if (kept >= least && kept <= most) return;
  throw new NotAdopted(
    `${line.hash} pays ${line.amountUnits} units of deposits that sum to ${gross}, which nobody signed: compare the deposits with an explorer`,
  );
}
