// What a merchant is told of payouts: in words of their own, without what operators write to each other.

import { isoSeconds } from '../../domain/events.ts';
import type { SentPurpose } from '../../domain/payouts/purpose.ts';
import { WAITS, type WaitCode } from '../../domain/payouts/waits.ts';
import type { PayoutState, SentState } from '../../domain/settlement.ts';

/** Who has to do something before a payout goes on; `nobody` where it goes on by itself. */
export type WaitsFor = 'you' | 'operator' | 'nobody';

/** Why something is not paid out yet, as its merchant is told. */
export type WaitWords = {
  readonly code: WaitCode;
  readonly words: string;
  readonly who: WaitsFor;
  readonly since: string;
};

const WHO = { itself: 'nobody', merchant: 'you', operator: 'operator' } as const;

const WORDS: Readonly<Record<WaitCode, string>> = {
  on_its_way: 'The payment is on its way: it waits for a final block.',
  no_destination: 'No withdraw address is set for this network. Set one, and it is paid out.',
  paused: 'Payouts are paused by the operator of the gateway.',
  below_minimum: 'The address holds less than the smallest payout. It waits for more deposits.',
  paid_lately: 'The address was paid out a moment ago. The next payment follows in a few minutes.',
  chain_behind: 'The gateway is catching up with the chain.',
  no_price: 'There is no price for the network’s coin at the moment, so the fee cannot be weighed.',
  fee_too_high: 'The fee would be too large a part of the amount. It waits for more or a lower fee.',
  gas_price: 'Fees on the network are dear at the moment. It waits until they are lower.',
  refuses: 'The token refuses the transfer at the moment. The operator has to look at it.',
  waiting_for_gas: 'The gateway has no coins left for the fee. The operator has to send some.',
  signer_away: 'The part of the gateway that signs payouts does not answer.',
  sealed: 'The part of the gateway that signs payouts has shut itself. The operator has to open it.',
  limit: 'The gateway has paid out as much as its limits allow for now. It goes on when there is room.',
  new_destination:
    'The withdraw address is new. It is paid to after a waiting time, or once the operator approves it.',
  refused: 'The payout was not signed. The operator has to look at it.',
  address_short: 'The address holds less than was deposited. The operator has to look at it.',
  foreign_use:
    'Something moved on the address that the gateway did not send. The operator has to look at it.',
  contradiction: 'The chain shows something else than was sent. The operator has to look at it.',
  failed_again: 'The payout has failed several times. The operator has to look at it.',
  requests: 'The gateway has asked the chain as often as it may for now. It goes on by itself.',
};

/** Why an address or a payout waits, as its merchant is told. */
export function waitWords(code: WaitCode, since: Date | string): WaitWords {
  const who = WHO[WAITS[code].by];
  return { code, words: WORDS[code], who, since: isoSeconds(new Date(since)) };
}

const STATES: Readonly<Record<PayoutState, string>> = {
  planned: 'Planned: nothing is signed yet.',
  paying: 'Signed, and on its way to your withdraw address.',
  settled: 'Paid to your withdraw address.',
  cancelled: 'Given up before anything was signed. Its deposits are free for another payout.',
  failed: 'Nothing was paid by it. Its deposits are free for another payout.',
};

/** What has become of a payout. */
export const payoutWords = (state: PayoutState): string => STATES[state];

const PURPOSES: Readonly<Record<SentPurpose, string>> = {
  payout: 'The payment to your withdraw address',
  gas: 'Coins for the fee, sent to the deposit’s address',
  delegate: 'Energy for the transfer, lent to the deposit’s address',
  reclaim: 'The lent energy, taken back',
};

/** What a transaction of a payout is for. */
export const purposeWords = (purpose: SentPurpose): string => PURPOSES[purpose];

const SENT: Readonly<Record<Exclude<SentState, 'foreign'>, string>> = {
  asked: 'to be signed',
  signed: 'signed',
  sent: 'sent, in no block yet',
  mined: 'in a block that is not final yet',
  final: 'final',
  dead: 'given up: it can land no more',
};

/** How far a transaction of a payout is; one that landed and failed on the chain says so. */
export function sentWords(state: SentState, ok: boolean | null): string {
  if (state === 'foreign') throw new Error('what the gateway did not sign belongs to no payout');
  const words = SENT[state];
  return ok === false && (state === 'mined' || state === 'final')
    ? `${words}, and failed on the chain`
    : words;
}
