import type { DepositView } from '../../../contract/deposit.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import { assetOf, type Currency } from '../../../domain/assets.ts';
import type { DepositState, FailureCode } from '../../../domain/deposit.ts';
import { isoSeconds } from '../../../domain/events.ts';
import type { LedgerAccount } from '../../../domain/ledger.ts';
import { formatUnits } from '../../../domain/money.ts';
import { accountWords, enteredWords } from './words.ts';

/** One thing that happened to a deposit. */
export type StoryStep =
  | {
      readonly kind: 'state';
      readonly at: string;
      readonly state: DepositState;
      readonly from: DepositState | null;
      readonly words: string;
      /** As it was written down; where an operator decided it is theirs. */
      readonly reason: string | null;
      readonly by_operator: boolean;
      readonly failure_code: FailureCode | null;
    }
  | { readonly kind: 'posting'; readonly at: string; readonly lines: readonly StoryLine[] }
  | {
      readonly kind: 'payout';
      readonly at: string;
      readonly words: string;
      readonly transaction_hash: string | null;
    };

/** What an account of the ledger got, or gave where the amount is below zero. */
export type StoryLine = {
  readonly account: LedgerAccount;
  readonly amount: string;
  readonly currency: Currency;
  readonly words: string;
};

/** The newest of each are shown. */
const MAX_STEPS = 200;

type Timed = { readonly time: number; readonly place: number; readonly step: StoryStep };

/** The transitions and postings of a deposit, oldest first. `isCut`: there are more than are shown. */
export async function stepsOf(
  em: Em,
  deposit: Pick<DepositView, 'id' | 'network' | 'currency'>,
): Promise<{ readonly steps: readonly Timed[]; readonly isCut: boolean }> {
  const states = await transitionsOf(em, deposit.id);
  const postings = await postingsOf(em, deposit);
  const steps = [...states.slice(0, MAX_STEPS), ...postings.slice(0, MAX_STEPS)];
  return { steps, isCut: states.length > MAX_STEPS || postings.length > MAX_STEPS };
}

/** Steps in the order in which they happened; of those of one moment a state comes before what it posts. */
export function inTime(steps: readonly Timed[]): StoryStep[] {
  return steps
    .toSorted((one, other) => one.time - other.time || one.place - other.place)
    .map(({ step }) => step);
}

type TransitionRow = {
  readonly sequence: number;
  readonly fromState: DepositState | null;
  readonly toState: DepositState;
  readonly failureCode: FailureCode | null;
  readonly reason: string | null;
  readonly byOperator: boolean;
  readonly at: string;
};

async function transitionsOf(em: Em, id: string): Promise<Timed[]> {
  const found = await rows(
    em,
    sql<TransitionRow>`select sequence, from_state, to_state, failure_code, reason,
        by_name is not null as by_operator, at
      from deposit_transitions where deposit_id = ${id} order by sequence desc limit ${MAX_STEPS + 1}`,
  );
  return found.map((row) => {
    const { sequence, fromState: from, toState: to, failureCode, byOperator, reason } = row;
    const at = new Date(row.at);
    return {
      time: at.getTime(),
      place: sequence * 2,
      step: {
        kind: 'state',
        at: isoSeconds(at),
        state: to,
        from,
        words: enteredWords({ from, to, failureCode, byOperator }),
        reason,
        by_operator: byOperator,
        failure_code: failureCode,
      },
    };
  });
}

type PostingRow = {
  readonly sequence: number;
  readonly createdAt: string;
  readonly lines: readonly { readonly account: LedgerAccount; readonly units: string }[];
};

async function postingsOf(
  em: Em,
  { id, network, currency }: Pick<DepositView, 'id' | 'network' | 'currency'>,
): Promise<Timed[]> {
  const { decimals } = assetOf(network, currency);
  const found = await rows(
    em,
    sql<PostingRow>`select t.sequence, t.created_at, l.lines from (
        select id, number, sequence, created_at from ledger_transactions where deposit_id = ${id}
        order by number desc limit ${MAX_STEPS + 1}
      ) t cross join lateral (
        select coalesce(json_agg(json_build_object('account', account, 'units', amount_units::text)
          order by line), '[]') as lines
        from ledger_entries where transaction_id = t.id
      ) l order by t.number desc`,
  );
  return found.map(({ sequence, createdAt, lines }) => {
    const at = new Date(createdAt);
    const shown = lines.map(({ account, units }) => ({
      account,
      amount: formatUnits(BigInt(units), decimals),
      currency,
      words: accountWords(account),
    }));
    return {
      time: at.getTime(),
      place: sequence * 2 + 1,
      step: { kind: 'posting', at: isoSeconds(at), lines: shown },
    };
  });
}
