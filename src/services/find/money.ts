// Deposits, payouts, what our own wallets sent, and what reached us and was not credited.
import { explorerLink } from '../../chains/index.ts';
import {
  ChainCursor,
  type Deposit,
  type Payout,
  type SentTransaction,
  type UnrecognisedTransfer,
} from '../../db/entities/index.ts';
import { assetOf, type Currency, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { settlementWorkflowId } from '../../domain/ids.ts';
import { formatUnits } from '../../domain/money.ts';
import { BY_ENDPOINTS } from '../../domain/payouts/taken.ts';
import { workflowIdOf } from '../deposits/actor-message.ts';
import { readStandings } from '../deposits/standing.ts';
import { readHolds } from '../payouts/stuck.ts';
import { type Found, found, type Looking, namesOfCustomers } from './found.ts';

const amountOf = (network: Network, currency: Currency, units: bigint): string =>
  `${formatUnits(units, assetOf(network, currency).decimals)} ${currency}`;

/** Deposits, each with where it stands. */
export async function foundDeposits(looking: Looking, deposits: readonly Deposit[]): Promise<Found[]> {
  if (deposits.length === 0) return [];
  const { em, deps, pages } = looking;
  const names = await namesOfCustomers(
    em,
    deposits.map(({ customerId }) => customerId),
  );
  const standings = await readStandings(em, deps, deposits);
  return deposits.map((row) => {
    const { id, network, currency, mode, transactionHash: hash, address, customerId } = row;
    const standing = standings.get(id);
    const what = `${amountOf(network, currency, row.amountUnits)} on ${network} to ${address} of customer ${names.get(customerId)} (${customerId}), in transaction ${hash}`;
    return found('deposit', what, {
      id,
      is_live: mode === 'live',
      merchant_id: row.merchantId,
      state: `${row.status} since ${isoSeconds(row.stateSince)}`,
      why: standing?.why ?? null,
      action: standing?.action ?? null,
      command: `deposit show ${id}`,
      links: {
        temporal: pages.workflow(workflowIdOf(row)),
        dashboard: pages.dashboard(mode, `/deposits/${id}`),
        // Nothing of a simulated one is on a chain.
        explorer: row.simulated ? null : explorerLink(pages.explorers, network, 'transaction', hash),
      },
    });
  });
}

/** Payouts, each with why it waits. */
export async function foundPayouts(looking: Looking, payouts: readonly Payout[]): Promise<Found[]> {
  if (payouts.length === 0) return [];
  const { em, deps, pages } = looking;
  const holds = await readHolds(em, deps, { payoutIds: payouts.map(({ id }) => id), addressKeys: [] });
  return payouts.map((row) => {
    const { id, network, currency, mode, transactionHash: hash } = row;
    const hold = holds.get(id);
    const over = row.state === 'settled' || row.state === 'cancelled' || row.state === 'failed';
    const what = `a payout of ${amountOf(network, currency, row.grossUnits)} on ${network} from ${row.address} to ${row.destination}${hash == null ? '' : `, in transaction ${hash}`}`;
    return found('payout', what, {
      id,
      is_live: mode === 'live',
      merchant_id: row.merchantId,
      state: `${row.state} since ${isoSeconds(row.stateSince)}`,
      why: over ? (row.reason ?? null) : (hold?.reason ?? 'it is under way'),
      action: over
        ? 'nothing to do'
        : (hold?.action ?? `nothing to do: it goes on by itself, and at once with "payout retry ${id}"`),
      command: `payout show ${id}`,
      links: {
        temporal: row.simulated ? null : pages.workflow(settlementWorkflowId(network, row.addressKey)),
        dashboard: pages.dashboard(mode, `/payouts/${id}`),
        explorer:
          row.simulated || hash == null ? null : explorerLink(pages.explorers, network, 'transaction', hash),
      },
    });
  });
}

const PURPOSES: Readonly<Record<string, string>> = {
  payout: 'pays out to a merchant',
  gas: 'brings coins for fees to an address of ours',
  delegate: 'lends energy to an address of ours',
  reclaim: 'takes lent energy back',
};
const SENT_STATES: Readonly<Record<string, string>> = {
  asked: 'the signer has not signed it yet',
  signed: 'it is signed, and not sent yet',
  sent: 'it was sent, and no block that was read holds it yet',
  mined: 'a block holds it that is not final yet',
  final: 'a final block holds it',
  dead: 'it can land no more',
  foreign: 'one of our wallets sent it, and this gateway did not ask for it',
};

/** Transactions that our own wallets sent. */
export function foundSent({ pages }: Looking, sent: readonly SentTransaction[]): Found[] {
  return sent.map((row) => {
    const { id, network, hash, purpose, payoutId, currency, amountUnits } = row;
    const money =
      currency == null || amountUnits == null ? '' : ` ${amountOf(network, currency, amountUnits)}`;
    const open = row.state === 'foreign' && row.decidedAt == null;
    const what = `a transaction of our wallet ${row.fromAddress} on ${network}${money}${row.toAddress == null ? '' : ` to ${row.toAddress}`}${purpose == null ? '' : `, which ${PURPOSES[purpose]}`}`;
    return found('transaction', what, {
      id,
      is_live: true,
      state: row.state,
      why: `${SENT_STATES[row.state]}${row.ok === false ? '; it failed on the chain' : ''}${refusedBy(row.refused)}`,
      action: open
        ? 'find out who has the keys of this wallet, then "payout accept" or "payout adopt" it'
        : payoutId == null
          ? 'nothing to do'
          : `see its payout with "payout show ${payoutId}"`,
      command: payoutId == null ? null : `payout show ${payoutId}`,
      links: { explorer: hash == null ? null : explorerLink(pages.explorers, network, 'transaction', hash) },
    });
  });
}

/** What is kept of a transaction that was signed is what endpoints said to it. */
function refusedBy(refused: string | null | undefined): string {
  if (refused == null) return '';
  return refused.startsWith(BY_ENDPOINTS)
    ? `; no RPC endpoint took it: ${refused.slice(BY_ENDPOINTS.length)}`
    : `; the signer refused it: ${refused}`;
}

/** What reached addresses of ours and was not credited. */
export function foundTransfers({ pages }: Looking, transfers: readonly UnrecognisedTransfer[]): Found[] {
  return transfers.map((row) => {
    const { id, network, transactionHash: hash, address, amountUnits, contractAddress } = row;
    const token = contractAddress === '' ? 'the coin of the chain' : `token contract ${contractAddress}`;
    return found(
      'transfer',
      `${amountUnits ?? 'an unknown number of'} base units of ${token} on ${network} to ${address}, in transaction ${hash} of block ${row.blockNumber}`,
      {
        id,
        state: `not credited, seen ${isoSeconds(row.createdAt)}`,
        why: row.reason,
        action: row.foreignToken
          ? 'nothing to do: it is no token that is credited here. Who wants it back has to ask the merchant'
          : `where it is the customer's all the same: "deposit claim --tx ${hash} --network ${network}"`,
        command: 'deposit list --unrecognised',
        links: { explorer: explorerLink(pages.explorers, network, 'transaction', hash) },
      },
    );
  });
}

/** How far a chain was read, as the watcher wrote it down. */
export type ReadSoFar = {
  readonly network: Network;
  readonly first_block: number;
  readonly scanned: number;
  readonly head: number;
  readonly finalized: number;
  /** When the watcher last asked it. */
  readonly polled_at: string;
};

/** How far each chain was read; one that never was is missing. */
export async function readHeights({ em }: Looking): Promise<ReadSoFar[]> {
  const cursors = await em.find(ChainCursor, {}, { orderBy: { network: 'asc' } });
  return cursors.map((row) => ({
    network: row.network,
    first_block: row.firstBlock,
    scanned: row.scannedNumber,
    head: row.headNumber,
    finalized: row.finalizedNumber,
    polled_at: isoSeconds(row.polledAt),
  }));
}
