// One row at a time: read under locks, decided, written to the journal, stored.
import type { Logger } from '../../base/log.ts';
import type { Transfers } from '../../chains/transfer.ts';
import type { Em, Orm } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Journal } from '../journal.ts';
import type { SignedLine } from '../journal-lines.ts';
import type { OpenWallet } from '../wallet-file.ts';
import { decide, type Order, replacement } from './checks.ts';
import { noteDestination } from './directions.ts';
import { isSameWay } from './earlier.ts';
import { type Asked, type Bench, isCalledForeign, lockAsked, readFacts, type SignCase } from './facts.ts';
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
export async function signAsked(signer: OpenSigner, id: string): Promise<SignResult> {
  return (await signOnce(signer, id)) ?? (await signOnce(signer, id)) ?? { kind: 'gone' };
}

/** Undefined where a refusal was taken back, and nothing is signed yet. */
async function signOnce(signer: OpenSigner, id: string): Promise<SignResult | undefined> {
  return await signer.orm.em.fork().transactional(async (em): Promise<SignResult | undefined> => {
    await holdState(em, signer.journal);
    const asked = await lockAsked(em, id);
    if (!asked) return { kind: 'gone' };
    try {
      return await signLocked(signer, em, asked);
    } catch (error) {
      if (!(error instanceof NotSigned)) throw error;
      const code = error.room === undefined ? error.code : `${error.code} ${error.room}`;
      const refused = `${code}: ${error.message}`.slice(0, 500);
      const noted = sql`update sent_transactions set refused = ${refused}
        where id = ${id} and refused is distinct from ${refused}`;
      return { kind: 'refused', asked, refusal: error, isNews: (await run(em, noted)) > 0 };
    }
  });
}

async function signLocked(signer: OpenSigner, em: Em, asked: Asked): Promise<SignResult | undefined> {
  const { journal, now } = signer;
  const { index } = journal;
  const known = index.ofPayout(asked.purpose, asked.payoutId).find((line) => line.attempt === asked.attempt);
  if (known) {
    // What was signed once is stored again, and nothing else is ever signed in its place.
    const isSame = isSameWay(known, asked) && known.amount === asked.amountUnits;
    if (!isSame || (await isCalledForeign(em, known))) throw forgotten(known, asked);
    await store(em, journal, asked, known);
    return { kind: 'signed', asked, hash: known.hash, again: true };
  }
  const bench = { ...signer, index, transfers: signer.transfers[asked.network], now: now() };
  const facts = await readFacts(em, bench, asked);
  const again = replacement(facts);
  if (!again) {
    if (facts.destination) await noteDestination(journal, bench, facts.destination);
    await notePauses(em, signer, { now: bench.now, merchantId: facts.payout.merchantId });
  }
  const order = again ?? decide(facts);
  // What stands refused is given up by whoever asked, and bytes that are in the journal alone would keep the
  // wallet's next places waiting for ever: so the refusal is gone, committed, before anything is signed.
  const cleared = sql`update sent_transactions set refused = null
    where id = ${asked.id} and refused is not null`;
  if ((await run(em, cleared)) > 0) return undefined;
  const line = await signOrder(signer, facts, order);
  await store(em, journal, asked, line);
  return { kind: 'signed', asked, hash: line.hash, again: false };
}

async function signOrder(
  { wallet, journal }: OpenSigner,
  { asked, payout, transfers, now }: SignCase,
  { transfer, terms, sender, depositIds }: Order,
): Promise<SignedLine> {
  const { network, purpose, payoutId, attempt, currency } = asked;
  const { raw, hash } = wallet.sign({ network, ...sender }, { transfers, transfer, terms });
  const line = await journal.append(
    {
      kind: 'signed',
      network,
      purpose,
      payout_id: payoutId,
      attempt,
      merchant_id: payout.merchantId,
      deposits: [...depositIds],
      from: transfer.from,
      to: transfer.to,
      currency,
      amount: transfer.units.toString(),
      price: terms.price?.toString() ?? null,
      nonce: transfer.nonce,
      expires_at: terms.expiresAt?.toISOString() ?? null,
      hash,
      raw: raw.toString('hex'),
    },
    now,
  );
  if (line.kind !== 'signed') throw new Error('the journal has written another line');
  return line;
}

async function store(em: Em, journal: Journal, { id }: Asked, line: SignedLine): Promise<void> {
  const signedAt = new Date(line.at);
  const stored = sql`update sent_transactions set state = 'signed', nonce = ${line.nonce},
    hash = ${line.hash}, raw = ${Buffer.from(line.raw, 'hex')}, signed_at = ${signedAt},
    expires_at = ${line.expires_at}::timestamptz, refused = null where id = ${id}`;
  await run(em, stored);
  await noteLine(em, journal, signedAt);
}
