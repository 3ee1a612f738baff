import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';
import { hasTable } from './tables.ts';

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
export async function checkSigner(em: Em): Promise<Finding[]> {
  if (!(await hasTable(em, 'signer_state'))) return [];
  const row = await firstRow(
    em,
    sql<Row>`select a.waiting, a.refused, extract(epoch from now() - s.seen_at)::int as silent_s,
        s.sealed_reason as sealed,
        to_char(s.signed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as signed_at
      from (select count(*)::int as waiting,
          min(refused) filter (where refused not like 'paused:%') as refused from sent_transactions
        where state = 'asked') a left join signer_state s on s.name = 'signer'`,
  );
  if (!row) return [];
  const { waiting, refused, silentS, sealed, signedAt } = row;
  const waits = waiting === 0 ? 'nothing waits for it' : `${waiting} transactions wait for it`;
  if (silentS === null)
    return waiting === 0
      ? [good('signer', 'none has run yet, and nothing waits for one')]
      : [bad('signer', `none has run yet, and ${waits}`, 'Start one with "gateway start --role signer"')];
  if (sealed !== null) return [bad('signer', `signs nothing: ${sealed}`, 'Do what it says; it tries again')];
  if (silentS > SILENT_AFTER_S)
    return [
      bad(
        'signer',
        `was last seen ${silentS} s ago, and ${waits}`,
        'See that it runs, and look into its log',
      ),
    ];
  if (refused !== null)
    return [bad('signer', `refuses some of what waits for it: ${refused}`, 'Do what it says')];
  return [
    good(
      'signer',
      `seen ${silentS} s ago; ${signedAt === null ? 'has signed nothing yet' : `signed last at ${signedAt}`}; ${waits}`,
    ),
  ];
}
