import type { Severity } from '../../../db/entities/index.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import type { ConditionKind, ConditionReading } from './condition.ts';

/** It says every few seconds that it is there. */
const SILENT_AFTER_S = 60;

type Row = {
  readonly waiting: number;
  readonly refused: string | null;
  readonly silentS: number | null;
  readonly sealed: string | null;
  readonly signedAt: string | null;
};

/** How the signer is, as it says itself, and what waits for it. */
export const signer: ConditionKind = {
  name: 'signer',
  read: async (deps) => {
    const row = await firstRow(
      deps.orm.em.fork(),
      sql<Row>`select a.waiting, a.refused, s.sealed_reason as sealed,
          extract(epoch from ${deps.now()}::timestamptz - s.seen_at)::int as silent_s,
          to_char(s.signed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as signed_at
        from (select count(*)::int as waiting,
            min(refused) filter (where refused not like 'paused:%') as refused from sent_transactions
          where state = 'asked') a left join signer_state s on s.name = 'signer'`,
    );
    return row ? readingOf(row) : { found: [] };
  },
};

function readingOf({ waiting, refused, silentS, sealed, signedAt }: Row): ConditionReading {
  const waits = waiting === 0 ? 'nothing waits for it' : `${waiting} transactions wait for it`;
  if (silentS === null && waiting === 0)
    return { found: [], well: { signer: 'none has run yet, and nothing waits for one' } };
  if (silentS === null)
    return found(
      'away',
      `no signer has run yet, and ${waits}`,
      'start one with "gateway start --role signer"',
    );
  if (sealed !== null)
    return found(
      'sealed',
      `the signer signs nothing: ${sealed}`,
      'do what it says; it tries again, and "doctor" tells how it is',
    );
  if (silentS > SILENT_AFTER_S)
    return found(
      'away',
      `the signer was last seen ${silentS} s ago, and ${waits}: nothing new is signed`,
      'see that it runs ("gateway start --role signer"), and look into its log',
    );
  if (refused !== null)
    return found(
      'refuses',
      `the signer refuses some of what waits for it: ${refused}`,
      'do what it says; "payout list" has what waits',
      // Some of these are over by themselves; those that are not are told for each payout.
      'info',
    );
  const signed = signedAt === null ? 'has signed nothing yet' : `signed last at ${signedAt}`;
  return { found: [], well: { signer: `seen ${silentS} s ago; ${signed}; ${waits}` } };
}

function found(
  what: string,
  reason: string,
  action: string,
  severity: Severity = 'critical',
): ConditionReading {
  return { found: [{ key: `signer:${what}`, severity, check: 'signer', reason, action }] };
}
