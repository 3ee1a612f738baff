// A wallet of ours with signed bytes in no block: a gas wallet, or an address that is paid out. Its actor
// sends them again, the lowest nonce first, replaces them by fee, and calls a person. Whose payouts they are
// makes no difference.
import { LockMode } from '@mikro-orm/core';
import { Payout, SentTransaction } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, literals, rows, run, sql } from '../../db/sql.ts';
import { assetOf } from '../../domain/assets.ts';
import { BY_ENDPOINTS, BY_PRICE, isTaken } from '../../domain/payouts/taken.ts';
import { decideWallet, LET_BE_PART, type Unmined } from '../../domain/payouts/wallet.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { fitted } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { Outdated } from './plan.ts';
import { asking } from './settle/asking.ts';
import { coinsBeside } from './settle/coins.ts';
import {
  type Assessing,
  type Ready,
  type SettlementDeps,
  type SettlementInput,
  stepOverChain,
} from './settle/context.ts';
import { ask, IS_LOOSE } from './settle/living.ts';
import { ANY_COINS, tooDear } from './settle/top-up.ts';
import { wakeWallet } from './wakes.ts';

/** `addressKey` is the wallet's; `alarmed`: its wait was reported already. */
type WalletInput = SettlementInput;
export type WalletStep =
  /** A step was made: look again at once. `late`: a person is still wanted who was called before. */
  | { readonly kind: 'went'; readonly note: string; readonly late: boolean }
  /** Everything that it signed is in a block, or can land no more. */
  | { readonly kind: 'rest'; readonly note: string }
  | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number; readonly stuck: boolean };

/**
 * One step of a wallet: makes it and says so, or says why it waits and when to look again. Any number of
 * processes may do this at once: bytes that are sent twice are one transaction, and a replacement is asked
 * for under its payout's lock. Throws where no endpoint answers.
 */
export async function advanceWallet(deps: SettlementDeps, input: WalletInput): Promise<WalletStep> {
  const { addressKey, network } = input;
  const name = `a row of what wallet ${addressKey} on ${network} has signed`;
  return await stepOverChain(deps, { ...input, name, turnOf: async () => addressKey }, (assessing) =>
    step(assessing, input),
  );
}

async function step(deps: Assessing, input: WalletInput): Promise<WalletStep> {
  const { spending } = deps;
  const unmined = await unminedOf(deps, input);
  const [first] = unmined;
  const decided = decideWallet(unmined, { now: deps.now(), ...spending });
  if (!first || decided.does === 'rest') return { kind: 'rest', note: 'blocks have all that it has signed' };
  const late = isLate(deps, first);
  if (decided.does === 'send') {
    const { ids } = decided;
    const sent = await asking(deps, () => sendSigned(deps, ids));
    return { kind: 'went', note: `sent ${sent} of ${unmined.length} that are in no block`, late };
  }
  if (decided.does === 'replace') {
    const old = unmined.find(({ id }) => id === decided.id) ?? first;
    const refused = await replace(deps, old);
    if (refused === undefined) return { kind: 'went', note: 'asked for the same at a higher price', late };
    return waits(deps, input, unmined, {
      delayMs: spending.resendMs,
      why: `${old === first ? 'it' : old.hash} cannot be replaced: ${refused}`,
    });
  }
  return waits(deps, input, unmined, { delayMs: decided.delayMs, why: first.refused ?? undefined });
}

/** Whether what all others wait for has waited so long that a person is called. */
const isLate = ({ now, settings }: Assessing, { signedAt }: UnminedRow): boolean =>
  now().getTime() - signedAt.getTime() >= settings.stuckAfterMs;

function waits(
  deps: Assessing,
  { alarmed }: WalletInput,
  unmined: readonly UnminedRow[],
  { delayMs, why }: { readonly delayMs: number; readonly why: string | undefined },
): WalletStep {
  const [first] = unmined;
  if (!first) throw new Error('it waits for nothing');
  const others = unmined.length > 1 ? `, and ${unmined.length - 1} more` : '';
  const reason = `no block has ${first.hash} of ${first.address} yet${others}${why === undefined ? '' : `: ${why}`}; see that the RPC endpoints answer ("doctor"), and "payout show ${first.payoutId}"`;
  return { kind: 'wait', reason, delayMs, stuck: isLate(deps, first) && !alarmed };
}

/** Asks the signer for a replacement; else says why there is none. */
async function replace(deps: Assessing, { id, payoutId }: UnminedRow): Promise<string | undefined> {
  const payout = await deps.orm.em.fork().findOneOrFail(Payout, payoutId);
  const ready = await asking(deps, () => outbid(deps, payout, id));
  if (typeof ready === 'string') {
    await noteRefused(deps.orm.em.fork(), id, `${BY_PRICE}${ready}`);
    return ready;
  }
  await transact(deps, async ({ em }) => {
    const held = await em.findOneOrFail(Payout, payoutId, { lockMode: LockMode.PESSIMISTIC_WRITE_OR_FAIL });
    const same = await firstRow(
      em,
      sql`select 1 from sent_transactions s where s.id = ${id} and ${IS_TO_REPLACE}`,
    );
    if (!LIVING_PAYOUTS.includes(held.state) || held.grossUnits !== payout.grossUnits || !same)
      throw new Outdated('what it was to replace went on meanwhile');
    await ask(em, deps, held, ready);
    await run(
      em,
      sql`update sent_transactions set refused = null where id = ${id} and refused like ${`${BY_PRICE}%`}`,
    );
  });
  return undefined;
}

/**
 * The same transfer for a price that nodes take in the place of an earlier attempt; a payout of coins pays
 * the difference out of what it moves. A sentence where that price is more than is allowed, or more of coins
 * than SETTLE_MAX_FEE_PERCENT: the attempts that were signed are sent on meanwhile. Throws where no endpoint
 * answers.
 */
async function outbid(deps: Assessing, payout: Payout, sentId: string): Promise<Ready | string> {
  const em = deps.orm.em.fork();
  const before = await em.findOneOrFail(SentTransaction, sentId);
  const { purpose, fromKey, fromAddress, toKey, amountUnits, terms } = before;
  if (toKey == null || amountUnits == null) throw new Error(`${sentId} cannot be outbid`);
  const isCoin = purpose === 'gas' || assetOf(payout.network, payout.currency).kind === 'native';
  const { freeUnits, reserveUnits } = await coinsBeside(em, payout);
  const quote = await deps.spending.quote(
    {
      from: fromKey,
      to: toKey,
      kind: isCoin ? 'native' : 'token',
      units: purpose === 'payout' ? payout.grossUnits + (isCoin ? reserveUnits : 0n) : ANY_COINS,
    },
    { above: terms as Readonly<Record<string, string | number>> },
    deps.signal,
  );
  if (quote.kind === 'refused') return quote.reason;
  if (!isCoin && freeUnits < quote.mostUnits) return 'the address has too few coins for a higher price';
  const dear = purpose === 'payout' && isCoin ? await tooDear(deps, payout, quote.mostUnits) : undefined;
  if (dear) return dear.reason;
  const units = quote.units < payout.grossUnits ? quote.units : payout.grossUnits;
  if (purpose === 'payout') return { does: 'pay_out', units, terms: quote.terms };
  const from = { address: fromAddress, addressKey: fromKey };
  return { does: 'top_up', from, units: amountUnits, terms: quote.terms };
}

/** What the column holds. */
const MAX_REFUSED = 500;

/** How many of them are looked at: the lowest nonces, for which all others wait. */
const MOST_UNMINED = 100;

type UnminedRow = Unmined & {
  readonly payoutId: string;
  readonly hash: string;
  readonly address: string;
  readonly refused: string | null;
  /** It can land only behind those before it. */
  readonly hasNonce: boolean;
};

/** Of a transaction `s`: a block has one in its place, be it read once only. */
const HAS_LANDED = sql<boolean>`exists (select 1 from sent_transactions o where o.network = s.network
  and o.from_key = s.from_key and o.nonce = s.nonce and o.block_hash is not null)`;
/** Of a transaction `s`: no other one was asked for after it, in its place or beside it. */
const IS_NEWEST = sql<boolean>`not exists (select 1 from sent_transactions n where n.payout_id = s.payout_id
  and n.purpose = s.purpose and n.attempt > s.attempt and n.state <> 'dead')`;
/** Of a transaction `s`: one in its place may be asked for, as far as it is not for its payout to say. */
const IS_TO_REPLACE = sql<boolean>`(${IS_LOOSE} and not ${HAS_LANDED} and ${IS_NEWEST})`;

/**
 * What a wallet signed and no block has, the lowest nonces first: of those with one nonce the newest, and a
 * loan only while its payout goes on.
 */
async function unminedOf(
  deps: Pick<Deps, 'orm'>,
  { network, addressKey }: Pick<SettlementInput, 'network' | 'addressKey'>,
): Promise<readonly UnminedRow[]> {
  type Times = 'signedAt' | 'sentAt';
  const isLiving = sql<boolean>`p.state in ${literals(LIVING_PAYOUTS)}`;
  const found = await rows(
    deps.orm.em.fork(),
    sql<Omit<UnminedRow, Times> & { signedAt: string; sentAt: string | null }>`
      select id, payout_id, hash, address, refused, signed_at, sent_at, may_be_replaced,
        nonce is not null as has_nonce from (
        select distinct on (s.nonce, case when s.nonce is null then s.id end) s.nonce, s.id, s.payout_id,
          s.hash, s.from_address as address, s.refused, s.signed_at, s.sent_at,
          ${isLiving} and ${IS_NEWEST} as may_be_replaced
        from sent_transactions s join payouts p on p.id = s.payout_id
        where s.network = ${network} and s.from_key = ${addressKey} and s.raw is not null and ${IS_LOOSE}
          and (s.purpose <> 'delegate' or ${isLiving})
          and not ${HAS_LANDED}
        order by s.nonce, case when s.nonce is null then s.id end, s.attempt desc
      ) newest order by nonce, signed_at limit ${MOST_UNMINED}`,
  );
  return found.map((row) => ({
    ...row,
    signedAt: new Date(row.signedAt),
    sentAt: row.sentAt === null ? null : new Date(row.sentAt),
  }));
}

/**
 * Sends a transaction for the first time, and before it what its wallet has signed earlier and is to be sent:
 * it can land only behind that.
 */
export async function sendFirst(deps: Sending, id: string): Promise<void> {
  const { spending } = deps;
  const { network, fromKey: addressKey } = await deps.orm.em.fork().findOneOrFail(SentTransaction, id);
  const unmined = await unminedOf(deps, { network, addressKey });
  const at = unmined.findIndex((one) => one.id === id);
  const decided = decideWallet(unmined.slice(0, Math.max(0, at)), { now: deps.now(), ...spending });
  const before = decided.does === 'send' && unmined[at]?.hasNonce === true ? decided.ids : [];
  const late = unmined.find((one) => one.sentAt !== null && before.includes(one.id));
  // Whoever waits for one that was sent a moment ago takes it that the wallet's actor did so.
  if (late) await wakeWallet(deps.orm.em.fork(), deps, { sentId: late.id, resendMs: spending.resendMs });
  await sendSigned(deps, before);
  await sendSigned(deps, [id]);
}

type Sending = Deps & Pick<Assessing, 'spending' | 'signal'>;

/**
 * Sends signed bytes to every endpoint, the lowest nonce first. What endpoints say is logged and proves
 * nothing; where none takes it, it is kept as the reason why no block has it. That one was sent is written
 * just before, because it may be in a block a moment later, and of no other: who is killed then has called
 * nothing sent that waited. Returns how many were sent: where an endpoint hangs, which each of them waits
 * for, those of a few seconds, and the others are left to the next step.
 */
async function sendSigned(deps: Sending, ids: readonly string[]): Promise<number> {
  const { spending, signal } = deps;
  const em = deps.orm.em.fork();
  const until = deps.now().getTime() + spending.resendMs / LET_BE_PART;
  let sent = 0;
  const due = await rows(
    em,
    sql<{ id: string; raw: Buffer; hash: string; network: string }>`
      select id, raw, hash, network from sent_transactions where id = any(${[...ids]}::uuid[])
        and state in ('signed', 'sent') and raw is not null order by nonce, signed_at`,
  );
  for (const { id, raw, hash, network } of due) {
    if (sent > 0 && deps.now().getTime() >= until) break;
    sent += 1;
    await run(
      em,
      sql`update sent_transactions set state = 'sent', sent_at = ${deps.now()}, updated_at = ${deps.now()}
        where id = ${id} and state in ('signed', 'sent')`,
    );
    const said = await spending.broadcast(raw, signal);
    await noteRefused(em, id, isTaken(said) ? null : `${BY_ENDPOINTS}${said.join('; ')}`);
    deps.log.info({ network, transaction: hash, said }, 'a transaction of ours was sent');
  }
  return sent;
}

/** Keeps, beside what was sent, why no block has it; null takes back what endpoints said before. */
async function noteRefused(em: Em, id: string, why: string | null): Promise<void> {
  const refused = why === null ? null : fitted(why, MAX_REFUSED);
  const isOther =
    why === null ? sql`refused like ${`${BY_ENDPOINTS}%`}` : sql`refused is distinct from ${refused}`;
  await run(
    em,
    sql`update sent_transactions set refused = ${refused} where id = ${id} and state = 'sent' and ${isOther}`,
  );
}
