import { CREDITED_STATES, WAITING_STATES } from '../../domain/deposit.ts';
import type { AddressPageView, ShownDeposit } from '../../services/address-pages/view.ts';
import type { StateNotice } from '../checkout/frame.ts';
import { progressOf, type Required } from '../checkout/progress.ts';
import type { Words } from '../words/index.ts';

/** What the page says first: of what is on its way, else of the newest deposit. */
export function addressState(view: AddressPageView, required: Required, words: Words): StateNotice {
  const { address, states } = words;
  const room = roomFor(view, required, words);
  const notice = (status: string, state: Omit<StateNotice['state'], 'counts'>): StateNotice => ({
    status,
    state: { ...state, counts: false },
    room,
  });
  const waiting = view.deposits.filter(({ status }) => WAITING_STATES.includes(status));
  // The one that needs the longest decides when all is there.
  const [slowest] = waiting
    .map((row) => progressOf(row, required, words))
    .sort((a, b) => a.done / a.needed - b.done / b.needed);
  if (slowest)
    return notice('seen', {
      tone: 'info',
      title: address.states.seen,
      texts: [states.seen.wait],
      bar: slowest,
    });
  if (view.methods.length === 0)
    return notice('unwatched', {
      tone: 'warn',
      title: address.states.unwatched,
      texts: [states.unpayable.text],
    });
  const [newest] = view.deposits;
  if (!newest)
    return notice('empty', { tone: 'info', title: address.states.empty, texts: [address.states.follows] });
  return CREDITED_STATES.includes(newest.status)
    ? notice('arrived', {
        tone: 'good',
        title: address.states.arrived,
        texts: [address.states.confirmed(coins(newest))],
      })
    : notice('failed', { tone: 'warn', title: address.states.failed, texts: [address.states.why] });
}

/** "10 USDT". */
export function coins({ amount, currency }: Pick<ShownDeposit, 'amount' | 'currency'>): string {
  return `${amount} ${currency}`;
}

/** The most that is said while money is on its way. */
function roomFor({ methods }: AddressPageView, required: Required, words: Words): StateNotice['room'] {
  if (methods.length === 0) return undefined;
  const needed = Math.max(...methods.map(({ network }) => required[network]));
  return {
    title: words.address.states.seen,
    texts: [words.states.seen.wait],
    bar: { done: 0, needed, text: words.confirmations.last(needed) },
  };
}
