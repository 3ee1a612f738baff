// What makes room at an address for what was signed there before, or paid.
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import type { SentFacts } from '../../../domain/payouts/facts.ts';
import type { TxDeps } from '../../deps.ts';
import { lockPayers } from '../../payment-links/money.ts';
import type { SettlementPlace } from '../actor-message.ts';
import { cancelPayout } from '../plan.ts';
import { endOthers, giveUp, livingPayout, sentFor } from '../settle/living.ts';
import { NotConcluded } from './refusal.ts';

/**
 * What is planned at the address, and not signed, makes room: its deposits may be those that were paid.
 * Throws {@link NotConcluded} while something that is signed for it may land.
 */
export async function endPlanned(em: Em, deps: TxDeps, place: SettlementPlace, hash: string): Promise<void> {
  await lockCustomers(em, place);
  const living = await livingPayout(em, place);
  if (!living) return;
  if (living.state === 'planned') await giveUpAsked(em, deps, living.id);
  // What is signed for it and in no final block is sent, and replaced, for as long as it lives.
  const isOpen = ({ signedAt, purpose, state }: SentFacts): boolean =>
    signedAt !== null && state !== 'dead' && (purpose === 'payout' || state !== 'final');
  if (living.state !== 'planned' || (await sentFor(em, place.network, living.id)).some(isOpen))
    throw new NotConcluded(
      `another payout of this address (${living.id}) is on its way: wait until it has ended, then run this again`,
    );
  await endOthers(em, deps, living.id);
  await cancelPayout(em, deps, living.id, `its deposits may be those that ${hash} has paid`);
}

/**
 * Gives up what is asked for a payout. Throws {@link NotConcluded} where it is not refused, and may be in the
 * journal already: the signer answers first.
 */
export async function giveUpAsked(em: Em, deps: TxDeps, payoutId: string): Promise<void> {
  // Waits for the signer, who may look at one of them just now.
  const asked = await rows(
    em,
    sql<{ id: string; refused: string | null }>`select id, refused from sent_transactions
      where payout_id = ${payoutId} and state = 'asked' order by id for update`,
  );
  for (const { id, refused } of asked)
    if (refused === null || !(await giveUp(em, deps, id)))
      throw new NotConcluded(
        'the signer is asked to sign something for this address: see that it runs, and run this again in a moment',
      );
}

/** Customers' locks come before those of deposits. */
async function lockCustomers(em: Em, { network, addressKey }: SettlementPlace): Promise<void> {
  const found = await rows(
    em,
    sql<{ customerId: string }>`select customer_id from deposit_addresses
      where network = ${network} and address_key = ${addressKey}`,
  );
  await lockPayers(
    em,
    found.map(({ customerId }) => customerId),
  );
}
