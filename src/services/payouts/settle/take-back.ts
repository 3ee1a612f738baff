// What an address was lent for a payout that is over goes back to its lender, before another payout of the
// address is planned: one that counted on it would burn deposits instead.
import { LockMode } from '@mikro-orm/core';
import { Payout, SentTransaction } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { literals, rows, run, sql } from '../../../db/sql.ts';
import { decideReclaim, type ReclaimFacts, type ReclaimStep } from '../../../domain/payouts/reclaim.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import { transact } from '../../transact.ts';
import { retriedAt } from '../decisions.ts';
import { Outdated } from '../plan.ts';
import { wakeWallet } from '../wakes.ts';
import { sendFirst } from '../wallet.ts';
import { asking } from './asking.ts';
import type { Assessing, SettlementInput, SettlementStep } from './context.ts';
import { ask, endOthers, giveUp, sentFor, signerFacts } from './living.ts';
import { waitStep } from './waits.ts';

/** An address has several only where what was lent before does not come back. */
const MOST_LOANS = 20;

type Facts = ReclaimFacts & { readonly payout: Payout };

/**
 * One step of taking back what an address was lent, where no payout of it is under way; `otherwise` is what
 * else there is to do at the address. That comes first only where nothing takes the energy back at present,
 * because it failed more than once. Throws where no endpoint answers.
 */
export async function afterPayout(
  deps: Assessing,
  input: SettlementInput,
  otherwise: () => Promise<SettlementStep>,
): Promise<SettlementStep> {
  const facts = await factsOf(deps.orm.em.fork(), deps, input);
  if (!facts) return await otherwise();
  const step = decideReclaim(facts);
  const { payout } = facts;
  if (step.does !== 'wait') {
    const note = `${payout.address}: ${await taken(deps, input, facts, step)}`;
    // The payout stays what it is: its actor reads a step only with a state that payouts have.
    return { kind: 'went', state: payout.state, note };
  }
  if (step.wakes !== undefined)
    await wakeWallet(deps.orm.em.fork(), deps, { sentId: step.wakes, resendMs: deps.spending.resendMs });
  if (step.idle) {
    const other = await otherwise();
    if (other.kind !== 'rest') return other;
  }
  return await waitStep(deps, input, payout, step, `${payout.address}: ${step.reason}`);
}

/** Takes a step, and says what it did. */
async function taken(
  deps: Assessing,
  input: SettlementInput,
  facts: Facts,
  step: Exclude<ReclaimStep, { does: 'wait' }>,
): Promise<string> {
  const { payout, loan } = facts;
  if (step.does === 'send') {
    await asking(deps, () => sendFirst(deps, step.id));
    return 'what takes the energy back was sent';
  }
  if (step.does === 'give_up') {
    await transact(deps, async (tx) => void (await giveUp(tx.em, deps, step.id)));
    return step.reason;
  }
  if (step.does === 'never_lent') {
    await transact(deps, async (tx) => await endOthers(tx.em, deps, payout.id));
    return 'what was to lend it energy landed nowhere';
  }
  const lender = await deps.orm.em.fork().findOneOrFail(SentTransaction, loan.id);
  // Once something that takes it back landed nowhere: an endpoint may be behind the loan itself before.
  if (step.does === 'ask' && (facts.sent.length === 0 || (await isLent(deps, lender)))) {
    await askFor(deps, input, facts, lender);
    return 'asked for its energy back';
  }
  await transact(deps, async (tx) => {
    // What can land no more would keep the loan in doubt for ever.
    await endOthers(tx.em, deps, payout.id);
    await run(
      tx.em,
      sql`update sent_transactions set reclaimed_at = ${deps.now()}, updated_at = ${deps.now()}
        where id = ${loan.id} and reclaimed_at is null`,
    );
  });
  return 'the energy that it was lent is with the gas wallet again';
}

/**
 * Of a loan `s` that was found to be back: what took it back has lost its final block since. It may land
 * again, or has to be asked for again.
 */
const BACK_IN_DOUBT = sql<boolean>`(exists (select 1 from sent_transactions r where r.payout_id = s.payout_id
    and r.purpose = 'reclaim' and r.state in ('asked', 'signed', 'sent', 'mined'))
  and not exists (select 1 from sent_transactions r where r.payout_id = s.payout_id
    and r.purpose = 'reclaim' and r.state = 'final' and r.ok))`;

/** Of several loans the oldest that something can be done about; else the oldest one. */
async function factsOf(
  em: Em,
  deps: Assessing,
  { network, addressKey }: SettlementInput,
): Promise<Facts | undefined> {
  const lent = await rows(
    em,
    sql<{ id: string; payoutId: string }>`select s.id, s.payout_id from sent_transactions s
      join payouts p on p.id = s.payout_id
      where s.network = ${network} and s.to_key = ${addressKey} and s.purpose = 'delegate'
        and (s.reclaimed_at is null or ${BACK_IN_DOUBT})
        and s.state in ('signed', 'sent', 'mined', 'final') and s.ok is distinct from false
        and not p.state in ${literals(LIVING_PAYOUTS)}
      order by s.created_at, s.id limit ${MOST_LOANS}`,
  );
  let oldest: Facts | undefined;
  for (const { id, payoutId } of lent) {
    const payout = await em.findOneOrFail(Payout, payoutId);
    const sent = await sentFor(em, network, payoutId);
    const loan = sent.find((one) => one.id === id);
    if (!loan) continue;
    const facts: Facts = {
      payout,
      loan,
      sent: sent.filter(({ purpose }) => purpose === 'reclaim'),
      signer: await signerFacts(em),
      retriedAt: await retriedAt(em, payout),
      now: deps.now(),
      resendMs: deps.spending.resendMs,
      blockLookMs: deps.spending.finalLookMs,
    };
    const step = decideReclaim(facts);
    if (step.does !== 'wait' || !step.idle) return facts;
    oldest ??= facts;
  }
  return oldest;
}

/** Whether the final chain still shows it: somebody may have taken it back with another program. */
async function isLent(deps: Assessing, { fromKey, toKey }: SentTransaction): Promise<boolean> {
  const lending = deps.spending.lending;
  if (!lending || toKey == null) return true;
  const parties = { lender: fromKey, borrower: toKey };
  return (await asking(deps, () => lending.lent(parties, deps.signal))) !== 0n;
}

async function askFor(
  deps: Assessing,
  input: SettlementInput,
  facts: Facts,
  { fromAddress, fromKey, amountUnits }: SentTransaction,
): Promise<void> {
  const { payout } = facts;
  const lending = deps.spending.lending;
  if (!lending || amountUnits == null) throw new Error(`nothing is lent on ${payout.network}`);
  const terms = await asking(deps, () => lending.terms(deps.signal));
  await transact(deps, async ({ em }) => {
    await em.findOneOrFail(Payout, payout.id, { lockMode: LockMode.PESSIMISTIC_WRITE_OR_FAIL });
    const again = await factsOf(em, deps, input);
    const same = again?.loan.id === facts.loan.id && again.sent.length === facts.sent.length;
    if (!same || decideReclaim(again).does !== 'ask') throw new Outdated('the energy is taken back by now');
    // What was to take it back before, and landed nowhere.
    await endOthers(em, deps, payout.id);
    const from = { address: fromAddress, addressKey: fromKey };
    await ask(em, deps, payout, { does: 'take_back', from, units: amountUnits, terms });
  });
}
