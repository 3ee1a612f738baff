// What our own wallets sent, as blocks show it. It is bound to its block in the block's own commit, read
// twice and unbound with its block, exactly as deposits are: no receipt is ever asked for. That the key of
// the wallet signed it the reader has proven, so whoever else uses a key is known from the first read on, for
// ever.

import { addressKeyOf, normaliseAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';

const FOREIGN =
  'a wallet of ours sent a transaction that this gateway did not sign: somebody else may have its key. The wallet signs nothing more; see "deposit stuck"';
const KEPT =
  'a repeated read does not show a transaction of ours that was read twice; it is kept: compare it with an explorer';
const DIFFERS =
  'a read shows another outcome of a transaction of ours than the one that was read twice; it is not rewritten: compare it with an explorer';

type SentByUs = NonNullable<ScannedBlock['sent']>[number];
type Use = ReturnType<typeof outgoingOf>[number];
type At = { readonly network: Network; readonly block: ScannedBlock };

/**
 * Binds what our wallets sent to the block that holds it, in the transaction of the block's commit. What we
 * did not sign becomes a row of its own and is logged once. An outcome that was read twice is not rewritten.
 */
export async function recordSent(em: Em, deps: Deps, { network, block }: At): Promise<void> {
  const incoming = outgoingOf(network, block);
  if (incoming.length === 0) return;
  const now = deps.now();
  const values = JSON.stringify(incoming.map((one) => ({ id: deps.newId(), ...one })));
  const known = await knownOf(em, network, incoming);
  await run(
    em,
    sql`insert into sent_transactions as s (id, network, hash, state, from_address, from_key, nonce,
        proof, block_number, block_hash, ok, fee_units, moves, created_at, updated_at)
      select id, ${network}, hash, 'foreign', from_address, from_key, nonce, proof, ${block.number}::bigint,
        ${block.hash}::text, ok, fee_units, moves, ${now}::timestamptz, ${now}::timestamptz
      from jsonb_to_recordset(${values}::jsonb) as r (id uuid, hash text, from_address text, from_key text,
        nonce bigint, proof jsonb, ok boolean, fee_units numeric, moves jsonb)
      on conflict (network, hash, from_key) do update set updated_at = excluded.updated_at,
        state = case when s.state = 'foreign' then s.state else 'mined' end, refused = null,
        proof = case when s.state = 'foreign' then excluded.proof end,
        block_number = excluded.block_number, block_hash = excluded.block_hash, ok = excluded.ok,
        fee_units = excluded.fee_units, moves = excluded.moves
      where s.verified_at is null`,
  );
  const unknown: Use[] = [];
  for (const one of incoming) {
    const before = known.get(`${one.hash}:${one.from_key}`);
    if (!before) unknown.push(one);
    else if (before.verifiedAt !== null && (before.blockHash !== block.hash || before.ok !== one.ok))
      deps.log.error(
        { network, wallet: one.from_address, transaction: one.hash, block: block.number },
        DIFFERS,
      );
  }
  // Once for each wallet: whoever has a key can fill a block for little.
  for (const [wallet, uses] of Map.groupBy(unknown, (one) => one.from_address))
    deps.log.error(
      { network, wallet, transaction: uses[0]?.hash, transactions: uses.length, block: block.number },
      FOREIGN,
    );
}

/** Every use of a wallet of ours that a block shows, as columns. */
function outgoingOf(network: Network, { sent = [] }: ScannedBlock) {
  return sent.map(({ txHash, from, nonce, proof, ok, feeUnits, moves }: SentByUs) => ({
    hash: txHash,
    from_address: normaliseAddress(network, from) ?? from,
    from_key: addressKeyOf(network, from),
    nonce,
    proof,
    ok,
    fee_units: feeUnits.toString(),
    moves: moves.map(({ to, currency, units }) => ({ to, currency, units: units.toString() })),
  }));
}

type KnownUse = {
  readonly verifiedAt: unknown;
  readonly blockHash: string | null;
  readonly ok: boolean | null;
};

async function knownOf(
  em: Em,
  network: Network,
  incoming: readonly { readonly hash: string }[],
): Promise<ReadonlyMap<string, KnownUse>> {
  const found = await rows(
    em,
    sql<KnownUse & { hash: string; fromKey: string }>`
      select hash, from_key, verified_at, block_hash, ok from sent_transactions
      where network = ${network} and hash = any(${incoming.map(({ hash }) => hash)})`,
  );
  return new Map(found.map((row) => [`${row.hash}:${row.fromKey}`, row]));
}

/**
 * Second read of a final block: what it shows of ours is final, and what an earlier read showed of it and
 * it does not hold is in no block. `isRepeated` keeps what was read twice: one endpoint's word takes back
 * nothing.
 */
export async function verifySent(
  em: Em,
  deps: Deps,
  { network, block, isRepeated }: At & { readonly isRepeated: boolean },
): Promise<void> {
  // By wallet too: one transaction can bear the signatures of several.
  const uses = outgoingOf(network, block).map(({ hash, from_key: wallet }) => `${hash}:${wallet}`);
  const now = deps.now();
  const isShown = sql`block_hash = ${block.hash} and hash || ':' || from_key = any(${uses})`;
  if (uses.length > 0)
    await run(
      em,
      sql`update sent_transactions set verified_at = ${now}, updated_at = ${now},
          state = case when state = 'foreign' then state else 'final' end
        where network = ${network} and block_number = ${block.number} and ${isShown}
          and verified_at is null`,
    );
  const absent = sql`network = ${network} and block_number = ${block.number} and block_hash is not null
    and not (${isShown})`;
  if (isRepeated)
    for (const { hash } of await rows(
      em,
      sql<{ hash: string }>`select hash from sent_transactions where ${absent} and verified_at is not null`,
    ))
      deps.log.error({ network, transaction: hash, block: block.number }, KEPT);
  await unbind(em, deps, isRepeated ? sql`${absent} and verified_at is null` : absent);
}

/**
 * Unbinds what a block that is read again at an operator's wish shows otherwise, or not at all, of payouts
 * that are not over; the caller then binds what it shows. Two reads may have come from one endpoint that was
 * wrong, and whether a payout was paid is asked of every endpoint before it ends. What has ended one stays.
 */
export async function reopenSent(em: Em, deps: Deps, { network, block }: At): Promise<void> {
  const found = await rows(
    em,
    sql<Shown & { id: string; fromKey: string }>`
      select s.id, s.hash, s.from_key, s.ok, s.moves
      from sent_transactions s join payouts p on p.id = s.payout_id
      where s.network = ${network} and s.block_number = ${block.number} and s.verified_at is not null
        and p.state in ${literals(LIVING_PAYOUTS)} order by s.id for update of p, s`,
  );
  if (found.length === 0) return;
  const shown = new Set(outgoingOf(network, block).map((one) => outcomeIn(one, one.from_key)));
  const ids = found.filter((row) => !shown.has(outcomeIn(row, row.fromKey))).map(({ id }) => id);
  if (ids.length > 0) await unbind(em, deps, sql`id = any(${ids}::uuid[])`);
}

type Shown = Pick<Use, 'hash' | 'ok' | 'moves'>;
const outcomeIn = ({ hash, ok, moves }: Shown, wallet: string): string =>
  JSON.stringify([hash, wallet, ok, moves.map(({ to, currency, units }) => [to, currency, units])]);

/** Unbinds what our wallets sent in blocks above this one, which were replaced. */
export async function unbindSentAbove(
  em: Em,
  deps: Deps,
  network: Network,
  blockNumber: number,
): Promise<void> {
  await unbind(
    em,
    deps,
    sql`network = ${network} and block_number > ${blockNumber} and block_hash is not null`,
  );
}

async function unbind(em: Em, deps: Deps, which: ReturnType<typeof sql>): Promise<void> {
  await run(
    em,
    sql`update sent_transactions set block_hash = null, block_number = null, verified_at = null, ok = null,
        fee_units = null, moves = null, updated_at = ${deps.now()},
        state = case when state = 'foreign' then state else 'sent' end
      where ${which}`,
  );
}

/**
 * Those of these transfers that are top-ups which we signed. Whoever reads a block without knowing the wallet
 * that sent them must not take them for deposits: their rows are older than the transactions.
 */
export async function topUpsAmong(
  em: Em,
  network: Network,
  transfers: readonly Transfer[],
): Promise<ReadonlySet<Transfer>> {
  if (transfers.length === 0) return new Set();
  const found = await rows(
    em,
    sql<{ place: string }>`select hash || ':' || to_key || ':' || currency as place from sent_transactions
      where network = ${network} and hash = any(${transfers.map(({ txHash }) => txHash)})
        and purpose = 'gas'`,
  );
  const places = new Set(found.map(({ place }) => place));
  const placeOf = ({ txHash, to, currency }: Transfer): string =>
    `${txHash}:${addressKeyOf(network, to)}:${currency}`;
  return new Set(transfers.filter((transfer) => places.has(placeOf(transfer))));
}

/** Those of these transactions that we signed. */
export async function sentByUs(
  em: Em,
  network: Network,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await rows(
    em,
    sql<{ hash: string }>`select hash from sent_transactions
      where network = ${network} and hash = any(${hashes}) and purpose is not null`,
  );
  return new Set(found.map(({ hash }) => hash));
}
