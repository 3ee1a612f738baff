import { createFormat } from './format.ts';

const { money, dateTime, clock, count } = createFormat('en-GB');
const confirmations = (n: number) => count(n, 'confirmation', 'confirmations');

/**
 * Everything that a payer reads, in English. The other tables have exactly these entries: one that is missing
 * or too much does not compile. Amounts of coins come in as the API writes them and stay so.
 */
export const EN = {
  /** The language, as those who read it call it. */
  name: 'English',
  usd: (value: number) => `${money(value)} USD`,
  dateTime,
  clock,
  /** The button, and what stands on it, and is said, after it has copied. */
  copy: { copy: 'Copy', copied: 'Copied' },
  /** Of what is copied, for those who only hear the button. */
  copies: {
    amount: 'amount',
    address: 'address',
    contract: 'contract address',
    transaction: (n: number) => `transaction ${n}`,
  },
  states: {
    pending: { title: 'Waiting for your payment' },
    seen: { title: 'Payment seen', wait: 'The network is confirming it. You may close this page.' },
    seenCovered: 'There is nothing to send now.',
    held: {
      title: 'A payment arrived and is not counted',
      text: (amount: string) =>
        `${amount} arrived and is not counted. Do not send it again before you have asked the shop.`,
    },
    replaced: {
      title: 'A payment left the chain again',
      text: (amount: string) =>
        `${amount} was seen, and the network took it back. It often comes back by itself: look in your wallet before you send anything again.`,
    },
    anyway: 'Pay all the same',
    partial: {
      title: 'Part of it has arrived',
      arrived: (part: string, asked: string) => `Arrived: ${part} of ${asked}.`,
    },
    missing: (rest: string | undefined) => `${rest ?? 'A part'} is still missing.`,
    paid: {
      title: 'Paid',
      thanks: 'The payment is confirmed. Thank you.',
      overpaid: 'You sent more than was asked for. Ask the shop about the difference.',
      overpaidBy: (more: string) => `You sent ${more} more than was asked for. Ask the shop about it.`,
      underpaid: 'A little less than asked for has arrived, and is accepted as it is.',
    },
    takenBack: {
      title: 'A payment was taken back',
      confirmed: (now: string, asked: string) => `${now} of ${asked} is confirmed now.`,
      text: 'It was confirmed, and failed afterwards. Ask the shop before you send anything.',
    },
    over: {
      title: 'The time to pay is over',
      text: 'Do not send anything now. A payment that the network took up in time still counts, once it is seen here.',
    },
    unpayable: {
      title: 'This link cannot be paid at the moment',
      text: 'Do not send anything: nobody would see it. Try again later, or ask the shop.',
    },
    expired: { title: 'This payment link has expired' },
    cancelled: { title: 'This payment link was cancelled' },
    late: {
      title: 'Your payment was confirmed too late',
      text: 'It was confirmed after this link had ended. It is not lost: ask the shop what becomes of it. Do not send more.',
    },
    nothingArrived: 'Do not send money for it. The shop can make a new link.',
    somethingArrived:
      'Do not send more money for it. Something has arrived: ask the shop what becomes of it.',
    awaited: 'Is something on its way already? This page shows it when it arrives.',
  },
  timeLeft: 'Time left:',
  until: (time: string) => `until ${time}`,
  confirmations: {
    progress: (done: number, needed: number) => `${done} of ${confirmations(needed)}`,
    /** All are there, and the block is read once more before the money counts. */
    last: (needed: number) => `${confirmations(needed)} reached; one last check`,
    done: 'Confirmed',
    failed: 'Not counted',
  },
  failures: {
    REORGED: 'The network took it back: it is not in any block now.',
    BELOW_MINIMUM: 'It is less than the smallest amount that is credited.',
    other: 'Ask the shop about it.',
  },
  way: {
    title: 'How to pay',
    choose: 'Choose the network',
    /** By the order of magnitude that the chain tells. */
    fee: { cents: 'Fee: a few cents', dollars: 'Fee: a few dollars' },
    takes: (minutes: number) =>
      minutes < 1 ? 'under a minute' : `about ${count(minutes, 'minute', 'minutes')}`,
    send: 'Send exactly',
    to: (network: string) => `To this address on ${network}`,
    testTo: (network: string) => `To this test address on ${network}`,
    code: (address: string, network: string) => `QR code of the address ${address} on ${network}`,
    codeCaption: 'This code holds the address. Enter the amount yourself.',
    wholeCode: 'Code with the amount, for wallets that read it',
    wholeCodeLabel: (amount: string, address: string, network: string) =>
      `QR code for ${amount} to ${address} on ${network}`,
    wholeCodeCaption:
      'Check amount and network in your wallet before you send: not every wallet reads all of it.',
    openWallet: 'Open in a wallet on this device',
  },
  warnings: {
    title: (currency: string, network: string) => `Send only ${currency} on ${network}`,
    wrong: (currency: string) => `Any other coin, or ${currency} on another network, may be lost.`,
    exchange: 'Exchanges often take their fee out of the amount. It must arrive in full, so add the fee.',
    coin: (native: string) => `Your wallet needs some ${native} for the fee.`,
  },
  details: {
    title: 'About the amount, the coin and the time',
    amount: 'If the amount is not exact',
    tolerated: (least: string) =>
      `From ${least} on it counts as paid. If less arrives, this page asks for the rest. If more arrives, ask the shop about the difference.`,
    nothingTolerated:
      'If less arrives, this page asks for the rest. If more arrives, ask the shop about the difference.',
    contract: (currency: string) => `Contract address of ${currency}`,
    counts: 'When it counts',
    confirmations: (needed: number) => `After ${confirmations(needed)} on the network.`,
  },
  transactions: {
    title: (n: number): string => (n === 1 ? 'Transaction' : 'Transactions'),
    amountOn: (amount: string, network: string) => `${amount} on ${network}`,
    firstOnly: (n: number) => `Only the first ${n} are shown.`,
    late: (n: number): string => (n === 1 ? 'Confirmed too late' : 'These were confirmed too late'),
    tooLate: 'too late',
    notCounted: 'It is confirmed, and does not count for this link.',
    firstLate: (n: number) => `Only the first ${n} are shown.`,
  },
  receipt: {
    title: 'Receipt',
    from: 'Paid to',
    purpose: 'For',
    asked: 'Asked for',
    received: 'Received',
    time: 'Paid at',
    network: 'Network',
    keep: 'Print or save this page to keep it.',
  },
  description: 'What it is for',
  /** The page of a customer's permanent addresses. */
  address: {
    title: 'Your deposit address',
    yours: (network: string) => `Your address on ${network}`,
    testYours: (network: string) => `Your test address on ${network}`,
    or: 'or',
    least: (amounts: string) => `Send at least ${amounts}: less is not credited.`,
    codeCaption: 'This code holds the address. Enter coin and amount yourself.',
    walletCaption: 'Check coin and network in your wallet before you send.',
    details: 'About this address, the coin and the time',
    permanent: {
      title: 'How long it is yours',
      text: 'For ever: you may send to it again whenever you like.',
    },
    states: {
      empty: 'Nothing has arrived yet',
      follows: 'This page shows a deposit as soon as the network does.',
      seen: 'Deposit seen',
      arrived: 'Arrived',
      confirmed: (amount: string) => `${amount} is confirmed.`,
      failed: 'A deposit was not counted',
      why: 'The list below says why.',
      unwatched: 'Nothing can be deposited at the moment',
    },
    deposits: 'Deposits so far',
    none: 'There are none.',
    more: 'Show more',
    newestOnly: (n: number) => `Only the newest ${n} are shown. The shop knows all of them.`,
    testWarning: 'It would not be credited: this address is a rehearsal.',
    receive: (amount: string) => `Receive ${amount}`,
    unknown: {
      title: 'Page not found',
      heading: 'There is no such page',
      text: 'Check that the address is complete, or ask the shop for a new one.',
    },
  },
  test: {
    mark: 'TEST',
    title: 'Test mode: no real money',
    warning: {
      title: 'Do not send real money',
      text: 'It would not be credited: this link is a rehearsal.',
    },
    code: 'Stamped, so that no wallet reads it.',
    simulate: {
      title: 'Simulate a payment',
      text: 'Plays through what happens when money arrives. Nothing moves on any network.',
      all: 'Pay all',
      half: 'Pay half',
      more: 'Pay too much',
    },
  },
  ways: {
    onTo: (host: string) => `Continue to ${host}`,
    backTo: (host: string) => `Back to ${host}`,
  },
  refresh: {
    every: (seconds: number) => `This page loads again every ${count(seconds, 'second', 'seconds')}.`,
    stop: 'Stop that',
    now: 'Load again now',
    start: 'Load again by itself',
  },
  language: 'Language',
  /** For a form that was not carried out; `status` is that of the answer, `reason` what the API says. */
  notSimulated: {
    title: 'No payment was simulated',
    foreign: 'The form did not come from this page.',
    incomplete: 'The form is not complete.',
    refused: (_status: number, reason: string) => reason,
    ofToday:
      'Today no more payments can be simulated on pages of this shop. The shop itself can simulate more.',
    back: 'Back to the payment',
  },
  notPossible: {
    title: 'Not possible',
    form: 'This page can only be sent a form',
    read: 'This page can only be read',
  },
  unknown: {
    title: 'Payment link not found',
    heading: 'There is no such payment link',
    text: 'Check that the address is complete, or ask the shop for a new link.',
  },
  tooOften: {
    title: 'One moment, please',
    heading: 'Too many requests come from your network',
    text: 'Nothing that you have sent is lost.',
  },
  unavailable: {
    title: 'Not available at the moment',
    heading: 'This page is not available at the moment',
    text: 'Nothing that you have sent is lost.',
  },
};

/** What every language has: the entries of {@link EN}. */
export type Words = typeof EN;
