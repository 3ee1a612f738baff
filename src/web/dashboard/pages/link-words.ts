import type { PaymentLinkView } from '../../../contract/payment-link.ts';
import type { FailureCode } from '../../../domain/deposit.ts';
import { isOpenLink, neverCompletes } from '../../../domain/payment-link.ts';
import type { Tone } from '../../parts/notice.ts';
import { dateTime } from '../../parts/time.ts';

type Stand = { readonly tone: Tone; readonly title: string; readonly text: string };

/** What is so with a link, in the merchant's words. `now`: a link may be over and not closed yet. */
export function standOf(view: PaymentLinkView, now: Date): Stand {
  const stand = countedStand(view, now);
  const held = isOpenLink(view.status) ? heldPayments(view) : undefined;
  if (held === undefined) return stand;
  const title = view.paid_amount_usd === 0 && view.status !== 'processing' ? held.title : stand.title;
  return { tone: 'warn', title, text: `${held.text} ${stand.text}` };
}

const WHY: Readonly<Record<FailureCode, string>> = {
  MONTHLY_LIMIT: 'your monthly limit is used up',
  BELOW_MINIMUM: 'it is less than the smallest amount that is credited',
  REJECTED_BY_OPERATOR: 'the operator of this gateway rejected it',
  REORGED: 'the network took it back',
};

/** What was sent for the link and does not count, with who can change that; undefined where nothing was. */
function heldPayments({ transactions }: PaymentLinkView): Pick<Stand, 'title' | 'text'> | undefined {
  const failed = transactions.filter(({ status }) => status === 'failed');
  const held = failed.filter(({ failure_code: code }) => code !== 'REORGED');
  const first = held.find(({ failure_code: code }) => code !== 'BELOW_MINIMUM') ?? held[0] ?? failed[0];
  if (!first) return undefined;
  const why = `${first.amount} USDT: ${WHY[first.failure_code ?? 'REJECTED_BY_OPERATOR']}.`;
  return held.length > 0
    ? {
        title: 'A payment arrived and is not counted',
        text: `${why} The operator of this gateway can release it: name the deposit, which stands below.`,
      }
    : {
        title: 'A payment left the chain again',
        text: `${why} It counts by itself if it is mined again.`,
      };
}

function countedStand(view: PaymentLinkView, now: Date): Stand {
  const asked = dollars(view.amount_usd);
  switch (view.status) {
    case 'pending':
      return { tone: 'plain', title: `Nothing has been paid of ${asked}`, text: untilWhen(view, now) };
    case 'processing':
      return {
        tone: 'info',
        title: 'A payment was seen and is not confirmed yet',
        text: `${soFar(view)} Nothing has to be done: the network confirms it.`,
      };
    case 'partially_paid':
      return {
        tone: 'warn',
        title: `${dollars(view.remaining_amount_usd)} of ${asked} is missing`,
        text: `${soFar(view)} ${untilWhen(view, now)}`,
      };
    case 'completed':
      return paid(view);
    case 'expired':
      return ended(view, 'The time to pay it is over');
    case 'cancelled':
      return ended(view, 'It was cancelled');
  }
}

function dollars(value: number): string {
  return `${value.toFixed(2)} USD`;
}

function soFar(view: PaymentLinkView): string {
  return view.paid_amount_usd === 0
    ? `Nothing of ${dollars(view.amount_usd)} is confirmed yet.`
    : `${dollars(view.paid_amount_usd)} of ${dollars(view.amount_usd)} is confirmed.`;
}

function untilWhen(view: PaymentLinkView, now: Date): string {
  return Date.parse(view.expires_at) > now.getTime()
    ? `It can be paid until ${dateTime(view.expires_at)}.`
    : 'The time to pay it is over. A payment that was sent in time still counts once the network shows it.';
}

/** A link stays paid, also where one of its payments is taken back by the network or the operator. */
function paid(view: PaymentLinkView) {
  const [title, asked] = [`Paid: ${dollars(view.paid_amount_usd)}`, dollars(view.amount_usd)];
  if (view.amount_status === 'overpaid')
    return {
      tone: 'good' as const,
      title,
      text: `That is ${dollars(view.overpaid_amount_usd)} more than was asked for. Decide with the customer what becomes of it.`,
    };
  if (view.amount_status === 'exact')
    return { tone: 'good' as const, title, text: 'Exactly what was asked for is confirmed.' };
  const [paidCents, askedCents] = [view.paid_amount_usd, view.amount_usd].map((usd) => Math.round(usd * 100));
  const isShort = neverCompletes(BigInt(paidCents ?? 0), BigInt(askedCents ?? 0));
  if (isShort || view.amount_status === 'none')
    return {
      tone: 'warn' as const,
      title: `It was paid, and now ${dollars(view.paid_amount_usd)} of ${asked} is confirmed`,
      text: 'A payment of it failed afterwards: look at the payments below. Mined again, it is a deposit of the customer, and no part of the link.',
    };
  return {
    tone: 'good' as const,
    title,
    text: `It is short of ${asked} by no more than what is tolerated, so it counts as paid.`,
  };
}

/** A link that is over without being paid: money that arrived all the same is never passed over. */
function ended(view: PaymentLinkView, title: string) {
  if (view.amount_status === 'late')
    return {
      tone: 'warn' as const,
      title: `${title}, and money was confirmed afterwards`,
      text: 'It counts as a deposit of the customer and not for this link. Look at the deposits of the customer, and decide with them.',
    };
  if (view.paid_amount_usd > 0)
    return {
      tone: 'warn' as const,
      title: `${title}, and a part was paid`,
      text: `${soFar(view)} It counts as a deposit of the customer. Decide with them what becomes of it.`,
    };
  if (view.transactions.some(({ status }) => status !== 'failed'))
    return {
      tone: 'warn' as const,
      title: `${title}, and a payment was seen`,
      text: `${soFar(view)} If it is confirmed, it counts as a deposit of the customer: wait for that before you make a new link.`,
    };
  if (view.transactions.some(({ failure_code: code }) => code !== null && code !== 'REORGED'))
    return {
      tone: 'warn' as const,
      title: `${title}, and what arrived is not counted`,
      text: `${heldPayments(view)?.text} Released now, it comes too late for this link, and is a deposit of the customer.`,
    };
  return {
    tone: 'plain' as const,
    title,
    text: 'Nothing was paid. Make a new link if it is still wanted.',
  };
}
