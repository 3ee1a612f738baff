import type { Payout } from '../../../db/entities/index.ts';
import { ChainCursor } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf } from '../../../domain/assets.ts';
import { formatUnits } from '../../../domain/money.ts';
import { roomSaid } from '../../../domain/payouts/asked.ts';
import { decideLiving, type LivingStep } from '../../../domain/payouts/step.ts';
import { WAITS } from '../../../domain/payouts/waits.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import { transact } from '../../transact.ts';
import { failPayout, settlePayout } from '../finish.ts';
import { cancelPayout, fitPayout, joinPayout, Outdated } from '../plan.ts';
import { wakeWallet } from '../wakes.ts';
import { sendFirst } from '../wallet.ts';
import { asking } from './asking.ts';
import { assess } from './assess.ts';
import { begin } from './begin.ts';
import {
  type Assessing,
  type Held,
  type SettlementDeps,
  type SettlementInput,
  type SettlementStep,
  stepOverChain,
} from './context.ts';
import { noteFailed } from './failed-before.ts';
import { doubtOf } from './failure.ts';
import {
  ask,
  beginPaying,
  endAsked,
  endOthers,
  giveUp,
  holdStep,
  livingFacts,
  livingPayout,
  looseOf,
} from './living.ts';
import { afterPayout } from './take-back.ts';
import { endWait, waitStep } from './waits.ts';

const ASKED = { pay_out: 'its transfer', top_up: 'gas', lend: 'energy' } as const;

/**
 * One step of what pays out an address: makes it and says so, or says why it waits and when to look again.
 * Everything that is decided is decided again under the payout's lock before it is written, so any number of
 * processes may do this at once. Throws where no endpoint answers; nothing was changed then.
 */
export async function advanceSettlement(
  deps: SettlementDeps,
  input: SettlementInput,
): Promise<SettlementStep> {
  const { network, addressKey } = input;
  const name = `a row of the payouts of ${addressKey} on ${network}`;
  return await stepOverChain(deps, { ...input, name, turnOf: () => merchantOf(deps, input) }, (assessing) =>
    step(assessing, input),
  );
}

async function merchantOf(deps: SettlementDeps, { network, addressKey }: SettlementInput): Promise<string> {
  const owner = await firstRow(
    deps.orm.em.fork(),
    sql<{ id: string }>`select merchant_id as id from deposit_addresses
      where network = ${network} and address_key = ${addressKey}`,
  );
  return owner?.id ?? '';
}

async function step(deps: Assessing, input: SettlementInput): Promise<SettlementStep> {
  const em = deps.orm.em.fork();
  const [living, over] = [await livingPayout(em, input), await looseOf(em, input)];
  // What is signed later by the same wallet can land only behind it.
  const loose = over && (await nextOf(deps, input, over));
  if (living) return await take(await nextOf(deps, input, living));
  return await afterPayout(deps, input, () => (loose ? take(loose) : begin(deps, input)));
}

/** What is next, once the actor of the wallet is told of what no block has. */
async function nextOf(deps: Assessing, input: SettlementInput, payout: Payout): Promise<Living> {
  const em = deps.orm.em.fork();
  const facts = await livingFacts(em, deps, payout);
  const decided = decideLiving(facts);
  if (decided.does === 'wait' && decided.wakes !== undefined)
    await wakeWallet(em, deps, { sentId: decided.wakes, resendMs: deps.spending.resendMs });
  const room = facts.sent
    .filter((one) => one.state === 'dead')
    .findLast((one) => roomSaid(one) !== undefined);
  const most = room && roomSaid(room);
  return { deps, input, payout, decided, rows: facts.sent.length, most };
}

async function take(living: Living): Promise<SettlementStep> {
  const { deps, payout, decided } = living;
  if (decided.does === 'wait') return await wait(living, decided);
  if (decided.does === 'prepare') return await prepare(living);
  if (decided.does === 'send') return await send(living, decided.id);
  const { does } = decided;
  const isEnd = does === 'fail' || does === 'settle';
  const doubt = isEnd ? await asking(deps, () => doubtOf(deps, payout, does)) : undefined;
  if (doubt) return await wait(living, doubt);
  return await write(living, decided);
}

type Living = {
  readonly deps: Assessing;
  readonly input: SettlementInput;
  readonly payout: Payout;
  readonly decided: LivingStep;
  /** How many transactions it was decided from. */
  readonly rows: number;
  /** What the signer would sign of it, where it is more than a limit allows. */
  readonly most: bigint | undefined;
};

async function wait({ deps, input, payout }: Living, held: Omit<Held, 'does'>): Promise<SettlementStep> {
  return await waitStep(deps, input, payout, held, `${nameOf(payout)}: ${held.reason}`);
}

/** Nothing is signed for it: more deposits may join, or only some stay, and what it takes is asked for. */
async function prepare(living: Living): Promise<SettlementStep> {
  const { deps, payout, decided, rows, most } = living;
  const changed = await transact(deps, async ({ em }) =>
    most === undefined ? await joinPayout(em, deps, payout.id) : await fitPayout(em, deps, payout.id, most),
  );
  if (changed > 0)
    return went(
      living,
      'planned',
      most === undefined ? `${changed} more deposits joined` : 'it is paid in parts',
    );
  const ready = await assess(deps, payout);
  if (ready.does === 'wait' && !WAITS[ready.code].givenUp) return await wait(living, ready);
  if (ready.does === 'wait') {
    await transact(deps, async ({ em }) => {
      await holdStep(em, deps, { payoutId: payout.id, step: decided, rows });
      await cancel(em, deps, payout.id, ready.reason);
    });
    // Not planned again at once: a price that goes up and down would make a row each time.
    return await wait(living, ready);
  }
  await transact(deps, async ({ em }) => {
    const held = await holdStep(em, deps, { payoutId: payout.id, step: decided, rows });
    if (held.grossUnits !== payout.grossUnits) throw new Outdated('deposits joined the payout meanwhile');
    // A top-up whose time is over: the signer signs another one only once the first is ended.
    await endOthers(em, deps, payout.id);
    await ask(em, deps, held, ready);
  });
  return went(living, 'planned', `asked for ${ASKED[ready.does]}`);
}

async function send(living: Living, id: string): Promise<SettlementStep> {
  const { deps, payout } = living;
  await asking(deps, () => sendFirst(deps, id));
  return went(living, payout.state, 'sent');
}

/** Steps that change nothing but rows: what is final decides them. */
async function write(living: Living, decided: LivingStep): Promise<SettlementStep> {
  const { deps, payout, rows } = living;
  const { id: payoutId, network } = payout;
  return await transact(deps, async (tx) => {
    const { em } = tx;
    const hold = async () => await holdStep(em, deps, { payoutId, step: decided, rows });
    if (decided.does === 'settle') {
      const cursor = await em.findOne(ChainCursor, network);
      await settlePayout(tx, deps, { payoutId, headNumber: cursor?.headNumber ?? null, hold });
      await endOthers(em, deps, payoutId);
      await endAsked(em, deps, payoutId);
      return went(living, 'settled', 'paid out');
    }
    if (decided.does === 'fail') {
      await failPayout(em, deps, {
        payoutId,
        reason: decided.reason,
        hold: async () => {
          await hold();
          await endOthers(em, deps, payoutId);
        },
      });
      noteFailed(deps, network);
      return went(living, 'failed', decided.reason);
    }
    const held = await hold();
    if (decided.does === 'pay') {
      await beginPaying(em, deps, held);
      return went(living, 'paying', 'signed');
    }
    if (decided.does === 'give_up') {
      await giveUp(em, deps, decided.id);
      return went(living, payout.state, decided.reason);
    }
    if (decided.does === 'cancel') {
      await cancel(em, deps, payoutId, decided.reason);
      return went(living, 'cancelled', decided.reason);
    }
    throw new Error(`${decided.does} is no step of rows alone`);
  });
}

/** Attempts of its top-up that another one has the place of would count against the gas wallet for ever. */
async function cancel(em: Em, deps: Assessing, payoutId: string, reason: string): Promise<void> {
  await endOthers(em, deps, payoutId);
  await cancelPayout(em, deps, payoutId, reason);
}

/**
 * Why it waited is forgotten with the state in which it did: a step within that, like sending once more, may
 * change nothing, and what goes round in such steps for long has to be told to a person.
 */
async function went(
  { deps, input, payout }: Living,
  state: PayoutState,
  note: string,
): Promise<SettlementStep> {
  if (state !== payout.state) await endWait(deps, input);
  return { kind: 'went', state, note: `${nameOf(payout)}: ${note}` };
}

const nameOf = ({ network, currency, grossUnits, destination }: Payout): string =>
  `${formatUnits(grossUnits, assetOf(network, currency).decimals)} ${currency} to ${destination}`;
