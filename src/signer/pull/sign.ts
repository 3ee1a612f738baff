// One row at a time: read under locks, decided, written to the journal, stored.
import type { Logger } from '../../base/log.ts';
import type { Transfers } from '../../chains/transfer.ts';
import type { Em, Orm } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Journal } from '../journal.ts';
import type { SignedLine } from '../journal-lines.ts';
import type { OpenWallet } from '../wallet-file.ts';
import type { Bench, Order } from './bench.ts';
import { decide, replacement } from './checks.ts';
import { noteDestination } from './directions.ts';
import { hashesBefore } from './earlier.ts';
import { type Asked, type Facts, isCalledForeign, lockAsked, readFacts } from './facts.ts';
import { notePauses } from './pauses.ts';
import { forgotten, NotSigned } from './refusal.ts';
import { holdState, noteLine } from './state.ts';

/** What a signer signs with, once it is open. */
export type OpenSigner = Pick<Bench, 'keys' | 'limits' | 'newDestinationAfterMs' | 'resumeAfterMs'> & {
  readonly orm: Orm;
  readonly log: Logger;
  readonly now: () => Date;
  readonly wallet: OpenWallet;
  readonly journal: Journal;
  readonly transfers: Readonly<Record<Network, Transfers>>;
};

export type SignResult =
  | { readonly kind: 'signed'; readonly asked: Asked; readonly hash: string; readonly again: boolean }
  /** `isNews` is false where its row said so before. */
  | { readonly kind: 'refused'; readonly asked: Asked; readonly refusal: NotSigned; readonly isNews: boolean }
  /** Somebody else has it, or it waits no more. */
  | { readonly kind: 'gone' };

/**
 * Signs what waits under an id, or says why not. The bytes are in the journal, on the disk, before the
 * transaction commits: whatever happens then, they are the only ones that are ever signed for it. A row that
 * is refused stays `asked`, and is tried again: only who asked can give it up. Throws `Sealed`, and all that
 * is no refusal; nothing is stored then.
 */
export async function signAsked(the: OpenSigner, id: string): Promise<SignResult> {
  return (await signOnce(the, id)) ?? (await signOnce(the, id)) ?? { kind: 'gone' };
}

/** Undefined where a refusal was taken back, and nothing is signed yet. */
async function signOnce(the: OpenSigner, id: string): Promise<SignResult | undefined> {
  return await the.orm.em.fork().transactional(async (em): Promise<SignResult | undefined> => {
    await holdState(em, the.journal);
    const asked = await lockAsked(em, id);
    if (!asked) return { kind: 'gone' };
    try {
      return await signLocked(the, em, asked);
    } catch (error) {
      if (!(error instanceof NotSigned)) throw error;
      const code = error.room === undefined ? error.code : `${error.code} ${error.room}`;
      const refused = `${code}: ${error.message}`.slice(0, 500);
      const changed = await run(
        em,
        sql`update sent_transactions set refused = ${refused}
          where id = ${id} and refused is distinct from ${refused}`,
      );
      return { kind: 'refused', asked, refusal: error, isNews: changed > 0 };
    }
  });
}

async function signLocked(the: OpenSigner, em: Em, asked: Asked): Promise<SignResult | undefined> {
  const { journal, now } = the;
  const { index } = journal;
  const known = index.ofPayout(asked.purpose, asked.payoutId).find((line) => line.attempt === asked.attempt);
  if (known) {
    requireSame(known, asked);
    if (await isCalledForeign(em, known.network, known.hash)) throw forgotten(known, asked);
    await store(em, journal, asked, known);
    return { kind: 'signed', asked, hash: known.hash, again: true };
  }
  const at = now();
  const place = (index.lastNonce(asked.network, asked.fromKey) ?? -1) + 1;
  const facts = await readFacts(em, asked, (ids) => hashesBefore(index, asked, ids), place);
  const bench = { ...the, index, transfers: the.transfers[asked.network], now: at };
  const again = replacement(bench, facts);
  if (!again) {
    const { payout, destination } = facts;
    const { merchantId, network } = payout;
    // Of another chain than the payout's it is not its merchant's there, and nothing is signed for it.
    if (destination && asked.network === network)
      await noteDestination(journal, bench, { merchantId, network, ...destination });
    await notePauses(em, the, { now: at, merchantId });
  }
  const order = again ?? decide(bench, facts);
  // What stands refused is given up by whoever asked, and bytes that are in the journal alone would keep the
  // wallet's next places waiting for ever: so the refusal is gone, committed, before anything is signed.
  const cleared = await run(
    em,
    sql`update sent_transactions set refused = null where id = ${asked.id} and refused is not null`,
  );
  if (cleared > 0) return undefined;
  const line = await signOrder(the, facts, order, at);
  await store(em, journal, asked, line);
  return { kind: 'signed', asked, hash: line.hash, again: false };
}

async function signOrder(
  { wallet, journal, transfers }: OpenSigner,
  { asked, payout }: Facts,
  { transfer, terms, sender, depositIds }: Order,
  at: Date,
): Promise<SignedLine> {
  const { network } = asked;
  const { raw, hash } = wallet.sign(
    { network, ...sender },
    { transfers: transfers[network], transfer, terms },
  );
  const line = await journal.append(
    {
      kind: 'signed',
      network,
      purpose: asked.purpose,
      payout_id: asked.payoutId,
      attempt: asked.attempt,
      merchant_id: payout.merchantId,
      deposits: [...depositIds],
      from: transfer.from,
      to: transfer.to,
      currency: asked.currency,
      amount: transfer.units.toString(),
      price: terms.price?.toString() ?? null,
      nonce: transfer.nonce,
      expires_at: terms.expiresAt?.toISOString() ?? null,
      hash,
      raw: raw.toString('hex'),
    },
    at,
  );
  if (line.kind !== 'signed') throw new Error('the journal has written another line');
  return line;
}

/** What was signed once is stored again, and nothing else is ever signed in its place. */
function requireSame(line: SignedLine, asked: Asked): void {
  const same =
    line.network === asked.network &&
    line.from === asked.fromKey &&
    line.to === asked.toKey &&
    line.currency === asked.currency &&
    line.amount === asked.amountUnits;
  if (!same) throw forgotten(line, asked);
}

async function store(em: Em, journal: Journal, { id }: Asked, line: SignedLine): Promise<void> {
  const signedAt = new Date(line.at);
  await run(
    em,
    sql`update sent_transactions set state = 'signed', nonce = ${line.nonce}, hash = ${line.hash},
      raw = ${Buffer.from(line.raw, 'hex')}, expires_at = ${line.expires_at}::timestamptz,
      signed_at = ${signedAt}, refused = null where id = ${id}`,
  );
  await noteLine(em, journal, signedAt);
}
