// Deposits, payouts, what our own wallets sent, and what reached us and was not credited.
import { explorerLink } from '../../chains/index.ts';
import { Deposit, Payout, SentTransaction, UnrecognisedTransfer } from '../../db/entities/index.ts';
import { isoSeconds } from '../../domain/events.ts';
import { settlementWorkflowId } from '../../domain/ids.ts';
import { BY_ENDPOINTS, BY_PRICE } from '../../domain/payouts/taken.ts';
import { workflowIdOf } from '../deposits/actor-message.ts';
import { presentDeposits } from '../deposits/reads.ts';
import { readStandings } from '../deposits/standing.ts';
import { readHolds } from '../payouts/stuck.ts';
import { decimal, payoutViews } from '../payouts/views.ts';
import type { Looking, Shown } from './found.ts';

/** Deposits, each with where it stands. */
export async function shownDeposits({ em, deps, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const found = await em.find(Deposit, { id: { $in: ids } });
  const views = await presentDeposits(em, found);
  const standings = await readStandings(em, deps, found);
  return found.map((row, index) => {
    const { id, mode, merchantId, network, transactionHash: hash } = row;
    return {
      id,
      merchantId,
      view: { ...views[index] },
      ...standings.get(id),
      command: `deposit show ${id}`,
      links: {
        // Nothing of a simulated one is on a chain.
        explorer: row.simulated ? null : explorerLink(pages.explorers, network, 'transaction', hash),
        dashboard: pages.dashboard(mode, `/deposits/${id}`),
        temporal: pages.workflow(workflowIdOf(row)),
      },
    };
  });
}

/** Payouts, each with why it waits. */
export async function shownPayouts({ em, deps, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  const found = await em.find(Payout, { id: { $in: ids } });
  const views = new Map((await payoutViews(em, ids)).map((view) => [view.id, view]));
  const holds = await readHolds(em, deps, { payoutIds: ids, addressKeys: [] });
  return found.map((row) => {
    const { id, mode, merchantId, network, transactionHash: hash, simulated } = row;
    const hold = holds.get(id);
    const over = row.state === 'settled' || row.state === 'cancelled' || row.state === 'failed';
    return {
      id,
      merchantId,
      view: { ...views.get(id) },
      why: over ? (row.reason ?? null) : (hold?.reason ?? 'it is under way'),
      action: over
        ? 'nothing to do'
        : (hold?.action ?? `nothing to do: it goes on by itself, and at once with "payout retry ${id}"`),
      command: `payout show ${id}`,
      links: {
        explorer:
          simulated || hash == null ? null : explorerLink(pages.explorers, network, 'transaction', hash),
        dashboard: pages.dashboard(mode, `/payouts/${id}`),
        temporal: simulated ? null : pages.workflow(settlementWorkflowId(network, row.addressKey)),
      },
    };
  });
}

const SENT_STATES: Readonly<Record<SentTransaction['state'], string>> = {
  asked: 'the signer has not signed it yet',
  signed: 'it is signed, and not sent yet',
  sent: 'it was sent, and no block that was read holds it yet',
  mined: 'a block holds it that is not final yet',
  final: 'a final block holds it',
  dead: 'it can land no more',
  foreign: 'one of our wallets sent it, and this gateway did not ask for it',
};

/** Transactions that our own wallets sent. */
export async function shownSent({ em, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(SentTransaction, { id: { $in: ids } })).map((row) => {
    const { id, network, hash, purpose, payoutId, currency, amountUnits: units } = row;
    const open = row.state === 'foreign' && row.decidedAt == null;
    return {
      id,
      view: {
        id,
        state: row.state,
        purpose: purpose ?? null,
        network,
        amount: currency == null || units == null ? null : decimal(network, currency, units),
        currency: currency ?? null,
        from_address: row.fromAddress,
        to_address: row.toAddress ?? null,
        transaction_hash: hash ?? null,
        payout_id: payoutId ?? null,
      },
      why: `${SENT_STATES[row.state]}${row.ok === false ? '; it failed on the chain' : ''}${refusedBy(row.refused)}`,
      action: open
        ? 'find out who has the keys of this wallet, then "payout conclude" or "payout accept" it'
        : payoutId == null
          ? 'nothing to do'
          : `see its payout with "payout show ${payoutId}"`,
      command: payoutId == null ? null : `payout show ${payoutId}`,
      links: { explorer: hash == null ? null : explorerLink(pages.explorers, network, 'transaction', hash) },
    };
  });
}

/** Of a transaction that was signed: what endpoints said to it, or why it could not be replaced. */
function refusedBy(refused: string | null | undefined): string {
  if (refused == null) return '';
  if (refused.startsWith(BY_ENDPOINTS))
    return `; no RPC endpoint took it: ${refused.slice(BY_ENDPOINTS.length)}`;
  return refused.startsWith(BY_PRICE)
    ? `; it could not be replaced: ${refused.slice(BY_PRICE.length)}`
    : `; the signer refused it: ${refused}`;
}

/** What reached addresses of ours and was not credited. */
export async function shownTransfers({ em, pages }: Looking, ids: readonly string[]): Promise<Shown[]> {
  return (await em.find(UnrecognisedTransfer, { id: { $in: ids } })).map((row) => {
    const { id, network, transactionHash: hash } = row;
    return {
      id,
      view: presentTransfer(row),
      why: `it was not credited: ${row.reason}`,
      action: row.foreignToken
        ? 'nothing to do: it is no token that is credited here. Who wants it back has to ask the merchant'
        : `where it is the customer's all the same: "deposit claim --tx ${hash} --network ${network}"`,
      command: 'deposit list --unrecognised',
      links: { explorer: explorerLink(pages.explorers, network, 'transaction', hash) },
    };
  });
}

/** Uncredited money on an address of ours. The amount is raw: the token need not be one of ours. */
export function presentTransfer(row: UnrecognisedTransfer) {
  return {
    id: row.id,
    network: row.network,
    transaction_hash: row.transactionHash,
    address: row.address,
    contract_address: row.contractAddress || null,
    amount_raw: row.amountUnits?.toString() ?? null,
    block_number: row.blockNumber,
    reason: row.reason,
    created_at: isoSeconds(row.createdAt),
  };
}
