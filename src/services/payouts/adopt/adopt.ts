// Taking up what the signer has signed and the database has forgotten: after a restore of an older backup.
import type { AddressKey } from '../../../chains/address-key.ts';
import { chainOf } from '../../../chains/index.ts';
import type { Payout } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../../db/sql.ts';
import type { Network } from '../../../domain/assets.ts';
import { recordAction } from '../../audit/record.ts';
import type { Deps, TxDeps } from '../../deps.ts';
import { transact } from '../../transact.ts';
import { settlementWake } from '../actor-message.ts';
import { forgetForeign, lockShown, type Shown } from './shown.ts';
import { forgottenOf, NotAdopted, requireVouched, type SignedBytes, type SignedFor } from './signed.ts';
import { lentFor, livingAt, payoutOf } from './target.ts';

export type Adoption = {
  /** What the journal says: see `readSignedFor` of the signer. */
  readonly signed: SignedFor;
  /** The transaction that an operator named. */
  readonly hash: string;
  readonly reason: string;
};

export type Adopted = {
  readonly payoutId: string;
  readonly depositIds: readonly string[];
  readonly transactions: readonly {
    readonly hash: string;
    readonly purpose: SignedBytes['purpose'];
    /** The final block that holds it; null where none does that was read. */
    readonly blockNumber: string | null;
  }[];
};

/**
 * Makes the database know again what the signer has signed for a payout: its row with the same deposits, its
 * transactions with their bytes, and for those which blocks have shown their place and outcome. Nothing is
 * settled by it: that follows in the ordinary steps, from final blocks alone, and what is in no block is sent
 * again, byte for byte. The lines must be of the signer's own journal, the deposits completed, read twice and
 * unpaid, the sums those of the journal. Throws {@link NotAdopted} for all else; nothing was changed then.
 */
export async function adoptPayout(deps: Deps, { signed, hash, reason }: Adoption): Promise<Adopted> {
  const { network, addressKey } = signed;
  return await transact(deps, async (tx) => {
    const { em } = tx;
    await requireVouched(em, signed);
    const payouts = await forgottenOf(em, network, signed.payouts);
    const given = await forgottenOf(em, network, signed.given);
    const lines = [...given, ...payouts];
    if (!lines.some((line) => line.hash === hash)) throw await knownAlready(em, network, hash);
    const owner = await ownerOf(em, signed, lines);
    const { format } = chainOf(network).addresses;
    const [first] = payouts;
    const back = new Map<SignedBytes, Payout>();
    for (const line of given) {
      const over = await lentFor(em, deps, signed.given, line);
      if (over) back.set(line, over);
    }
    const [onlyBack] = back.size === lines.length ? back.values() : [];
    const payout = first
      ? await payoutOf(em, deps, signed, payouts, format(first.to))
      : (onlyBack ?? (await livingAt(em, signed)));
    const shown = await lockShown(em, network, lines);
    await forgetForeign(em, shown);
    const places = new Map<string, Written>();
    for (const line of lines) {
      const of = back.get(line) ?? payout;
      const place = places.get(of.id) ?? {
        payout: of,
        owner: owner.address,
        format,
        attempts: await attemptsOf(em, of.id),
      };
      places.set(of.id, place);
      await write(em, deps, place, line, shown.get(line.hash));
    }
    await tx.enqueue(...settlementWake({ ...payout, network, addressKey }));
    await recordAction(em, deps, {
      action: 'payout.adopt',
      subject: hash,
      merchantId: payout.merchantId,
      mode: payout.mode,
      after: { payout: payout.id, transactions: lines.map((line) => line.hash) },
      reason,
    });
    return {
      payoutId: payout.id,
      depositIds: first?.depositIds ?? [],
      transactions: lines.map((line) => ({
        hash: line.hash,
        purpose: line.purpose,
        blockNumber: shown.get(line.hash)?.blockNumber ?? null,
      })),
    };
  });
}

async function knownAlready(em: Em, network: Network, hash: string): Promise<NotAdopted> {
  const found = await firstRow(
    em,
    sql<{ id: string; state: string }>`select p.id, p.state from sent_transactions s
      join payouts p on p.id = s.payout_id where s.network = ${network} and s.hash = ${hash}`,
  );
  return new NotAdopted(
    `the database knows ${hash} as a transaction of payout ${found?.id ?? '?'}, which is ${found?.state ?? '?'}: there is nothing to take up`,
  );
}

/** Whose money lies at the address: the merchant for whom it was signed. */
async function ownerOf(
  em: Em,
  { network, addressKey }: SignedFor,
  lines: readonly SignedBytes[],
): Promise<{ readonly address: string }> {
  const owner = await firstRow(
    em,
    sql<{ address: string; merchantId: string; mode: string }>`select address, merchant_id, mode
      from deposit_addresses where network = ${network} and address_key = ${addressKey}`,
  );
  if (!owner)
    throw new NotAdopted(
      `the address ${chainOf(network).addresses.format(addressKey)} belongs to no customer here, as one that was made since the backup is lost: what it paid cannot be taken up; let the gas wallet go on with "payout accept"`,
    );
  if (owner.mode === 'live' && lines.every(({ merchantId }) => merchantId === owner.merchantId)) return owner;
  throw new NotAdopted(
    `${owner.address} belongs to another merchant than the journal has it: compare the row with a backup, and find out who wrote it`,
  );
}

/** The attempts that the payout has, by purpose: a number that is taken is not given again. */
async function attemptsOf(em: Em, payoutId: string): Promise<Map<string, number[]>> {
  const found = await rows(
    em,
    sql<{ purpose: string; attempt: number }>`select purpose, attempt from sent_transactions
      where payout_id = ${payoutId}`,
  );
  const taken = new Map<string, number[]>();
  for (const { purpose, attempt } of found) taken.set(purpose, [...(taken.get(purpose) ?? []), attempt]);
  return taken;
}

type Written = {
  readonly payout: Payout;
  /** The address that is paid out, as it is shown. */
  readonly owner: string;
  readonly format: (key: AddressKey) => string;
  readonly attempts: Map<string, number[]>;
};

/** As the signer stores it, and then as the watcher binds it: the database holds each step to its rules. */
async function write(
  em: Em,
  deps: TxDeps,
  { payout, owner, format, attempts }: Written,
  line: SignedBytes,
  shown: Shown | undefined,
): Promise<void> {
  const isPayout = line.purpose === 'payout';
  const taken = attempts.get(line.purpose) ?? [];
  const attempt =
    line.payoutId === payout.id && !taken.includes(line.attempt)
      ? line.attempt
      : Math.max(line.attempt, ...taken) + 1;
  attempts.set(line.purpose, [...taken, attempt]);
  const [id, now] = [deps.newId(), deps.now()];
  await run(
    em,
    sql`insert into sent_transactions (id, network, purpose, payout_id, attempt, state, from_address,
        from_key, to_address, to_key, currency, amount_units, terms, nonce, expires_at, raw, hash, signed_at,
        created_at, updated_at)
      values (${id}, ${payout.network}, ${line.purpose}, ${payout.id}, ${attempt}, 'signed',
        ${isPayout ? owner : format(line.from)}, ${line.from}, ${isPayout ? payout.destination : owner},
        ${line.to}, ${line.currency}, ${line.amountUnits.toString()}::numeric,
        ${JSON.stringify(line.terms)}::jsonb, ${line.nonce}, ${line.expiresAt}::timestamptz, ${line.raw},
        ${line.hash}, ${line.signedAt}, ${now}, ${now})`,
  );
  if (shown?.blockHash == null) return;
  await run(
    em,
    sql`update sent_transactions set state = 'mined', block_number = ${shown.blockNumber}::bigint,
        block_hash = ${shown.blockHash}, ok = ${shown.ok}, fee_units = ${shown.feeUnits}::numeric,
        moves = ${JSON.stringify(shown.moves)}::jsonb where id = ${id}`,
  );
  await run(
    em,
    sql`update sent_transactions set state = 'final', verified_at = ${shown.verifiedAt}::timestamptz
      where id = ${id}`,
  );
}
