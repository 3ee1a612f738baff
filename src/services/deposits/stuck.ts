import { ChainCursor, Deposit } from '../../db/entities/index.ts';
import type { Network } from '../../domain/assets.ts';
import { decideAdvance } from '../../domain/deposit.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { Deps } from '../deps.ts';
import { factsOf, waitReason } from './advance.ts';

/** A deposit that does not go on by itself, as `deposit stuck` prints it. `action` says what the operator can do. */
export type StuckDeposit = {
  readonly deposit_id: string;
  readonly network: Network;
  readonly transaction_hash: string;
  readonly address: string;
  readonly state: string;
  readonly reason: string;
  readonly since: string;
  readonly action: string;
  readonly needs: null | { readonly currency: string; readonly amount: string; readonly address: string };
};

const LIMIT = 1_000;

/** Deposits that wait longer than `STUCK_AFTER`, and credited ones whose block was replaced. Oldest first, at most 1,000. */
export async function listStuck(deps: Deps): Promise<StuckDeposit[]> {
  const em = deps.orm.em.fork();
  const before = new Date(deps.now().getTime() - deps.settings.stuckAfterMs);
  const rows = await em.find(
    Deposit,
    {
      simulated: false,
      $or: [
        { status: { $in: ['detected', 'confirming'] }, stateSince: { $lte: before } },
        { status: { $in: ['completed', 'settled'] }, blockHash: null },
      ],
    },
    { orderBy: { stateSince: 'asc', id: 'asc' }, limit: LIMIT },
  );
  const cursors = new Map((await em.find(ChainCursor, {})).map((cursor) => [cursor.network, cursor]));
  return rows.map((deposit) => describe(deps, deposit, cursors.get(deposit.network) ?? null));
}

function describe(deps: Deps, deposit: Deposit, cursor: ChainCursor | null): StuckDeposit {
  const facts = {
    ...{ deposit_id: deposit.id, network: deposit.network, transaction_hash: deposit.transactionHash, address: deposit.address },
    ...{ state: deposit.status, since: isoSeconds(deposit.stateSince), needs: null },
  };
  if (deposit.status === 'completed' || deposit.status === 'settled') {
    const action =
      deposit.status === 'completed'
        ? `compare block ${deposit.blockNumber} with an explorer; if the transaction is gone, run "deposit fail ${deposit.id} --by NAME --reason TEXT"`
        : `compare block ${deposit.blockNumber} with an explorer; the money was paid out already, so settle the difference with the merchant`;
    return { ...facts, reason: `finality broke: block ${deposit.blockNumber}, which held it, was replaced`, action };
  }
  const decision = decideAdvance(factsOf(deps, deposit, cursor));
  if (decision.kind !== 'wait')
    return { ...facts, reason: 'the chain permits the next step', action: 'run "repair" to start its actor again' };
  return { ...facts, reason: waitReason(deps, deposit, cursor, decision), action: ACTIONS[decision.waitsFor] };
}

const ACTIONS = {
  block: 'check that the RPC endpoints answer and are in sync ("doctor"), then wait; or "deposit fail" to give it up',
  finality: 'wait until the chain is final again; check the RPC endpoints with "doctor"',
  read: 'check that a worker runs and that the RPC endpoints give old blocks ("doctor"), then wait',
  price: 'check PRICE_SOURCE with "doctor"; the deposit goes on as soon as a price is known',
  operator: 'decide with "deposit fail" or "deposit release"',
} as const;
