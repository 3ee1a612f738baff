// A wallet of ours with signed bytes in no block: a gas wallet, or an address that is paid out. Its actor
// sends them again, the lowest nonce first, replaces them by fee, and calls a person. Whose payouts they are
// makes no difference.
import { LockMode } from '@mikro-orm/core';
import { Payout, SentTransaction } from '../../../db/entities/index.ts';
import { firstRow, run, sql } from '../../../db/sql.ts';
import { assetOf } from '../../../domain/assets.ts';
import { BY_PRICE } from '../../../domain/payouts/taken.ts';
import { decideWallet } from '../../../domain/payouts/wallet.ts';
import { LIVING_PAYOUTS } from '../../../domain/settlement.ts';
import { transact } from '../../transact.ts';
import { stepOverChain } from '../settle/advance.ts';
import { asking } from '../settle/asking.ts';
import { coinsBeside } from '../settle/coins.ts';
import type { Assessing, Ready, SettlementDeps, SettlementInput } from '../settle/context.ts';
import { ask, Outdated } from '../settle/living.ts';
import { ANY_COINS, tooDear } from '../settle/top-up.ts';
import { IS_TO_REPLACE, noteRefused, sendSigned, type UnminedRow, unminedOf } from './send.ts';

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
