// Every reason why a payout waits: who ends it and how, and when a person is told. No other place decides it.

/** Why a payout waits, as rows, metrics and operators name it. */
export const WAIT_CODES = [
  'on_its_way',
  'no_destination',
  'paused',
  'below_minimum',
  'paid_lately',
  'chain_behind',
  'no_price',
  'fee_too_high',
  'gas_price',
  'refuses',
  'waiting_for_gas',
  'signer_away',
  'sealed',
  'limit',
  'new_destination',
  'refused',
  'address_short',
  'foreign_use',
  'contradiction',
  'failed_again',
  'requests',
] as const;
export type WaitCode = (typeof WAIT_CODES)[number];

export type WaitRule = {
  /** Who ends it; what ends by itself may be ended sooner by a person. */
  readonly by: 'itself' | 'merchant' | 'operator';
  /** Listed for an operator as soon as it is so; else from the alarm on. */
  readonly atOnce?: true;
  /**
   * It alarms once it has lasted for `STUCK_AFTER`, and for so long at least; never where this is absent: it
   * is as the merchant or the operator has set it.
   */
  readonly alarmMs?: number;
  /** A planned payout is given up, so that another asset of the address may go; it is planned again later. */
  readonly givenUp?: true;
  /** Only a deposit, the merchant, a command or a setting changes it: nobody has to look again before. */
  readonly rests?: true;
  /** What a person types or does to end it, `ID` being the payout or its address; the next look goes on. */
  readonly ends: string;
};

const SOON = { alarmMs: 0 } as const;
const DAY_MS = 24 * 60 * 60_000;
const AGAIN = 'then "payout retry ID"';

export const WAITS: Readonly<Record<WaitCode, WaitRule>> = {
  on_its_way: {
    by: 'itself',
    ...SOON,
    ends: 'see that the RPC endpoints answer ("doctor"), and look at it with "payout list"',
  },
  no_destination: {
    by: 'merchant',
    rests: true,
    ends: 'the merchant sets a withdraw address, or you do with "merchant set"',
  },
  paused: { by: 'operator', rests: true, ends: 'let payouts go on with "payout resume"' },
  below_minimum: {
    by: 'itself',
    rests: true,
    ends: 'the next deposit ends it, or a lower SETTLE_MIN and then "repair"',
  },
  paid_lately: {
    by: 'itself',
    // As long as SETTLE_EVERY may be.
    alarmMs: 7 * DAY_MS,
    ends: 'it goes once SETTLE_EVERY is over, or at once with "payout retry ID"',
  },
  chain_behind: { by: 'itself', ...SOON, ends: 'see that the RPC endpoints answer ("doctor")' },
  no_price: {
    by: 'itself',
    ...SOON,
    ends: `see that a source of prices answers ("doctor"), ${AGAIN}`,
  },
  fee_too_high: {
    by: 'itself',
    alarmMs: 7 * DAY_MS,
    givenUp: true,
    ends: `a lower fee or the next deposit ends it, or a higher SETTLE_MAX_FEE_PERCENT, ${AGAIN}`,
  },
  gas_price: {
    by: 'itself',
    alarmMs: DAY_MS,
    ends: `a lower price ends it, or a higher limit of the chain's price for workers and signer, ${AGAIN}`,
  },
  refuses: {
    by: 'operator',
    ...SOON,
    givenUp: true,
    ends: `do what the reason says; where the receiver refuses, the merchant sets another withdraw address; ${AGAIN}`,
  },
  waiting_for_gas: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    givenUp: true,
    ends: `send coins to the gas wallet ("wallet xpub"); it goes on by itself then, or with "payout retry ID"`,
  },
  signer_away: { by: 'operator', ...SOON, ends: 'start the signer ("start --role signer")' },
  sealed: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    ends: 'do what the reason says, restart the signer, and see that it signs ("doctor")',
  },
  limit: {
    by: 'itself',
    ...SOON,
    ends: 'it goes when there is room, or with a higher limit in the reason, once the signer was restarted',
  },
  new_destination: {
    by: 'itself',
    atOnce: true,
    ...SOON,
    ends: 'ask the merchant, over another way than the one by which the change came, whether it is theirs; then it is paid to by itself, or sooner with "payout approve-destination" on the signer\'s machine; if it is not theirs, run "payout pause" at once',
  },
  refused: {
    by: 'operator',
    ...SOON,
    ends: `do what the reason says, ${AGAIN}`,
  },
  address_short: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    givenUp: true,
    ends: `"reconcile" names what is missing: where a transaction paid it to the merchant, "payout conclude"; else send it back to the address from the gas wallet by hand, "payout accept" that, ${AGAIN}`,
  },
  foreign_use: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    ends: 'find out who sent it: our signer, before a restore, "payout conclude" with --journal; it paid the merchant, "payout conclude"; for all else "payout accept"',
  },
  contradiction: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    ends: `compare it with an explorer: where that shows the same, "payout conclude"; else take out the RPC endpoint that is wrong, "rescan" its block, ${AGAIN}`,
  },
  failed_again: {
    by: 'operator',
    atOnce: true,
    ...SOON,
    ends: 'find out why from "payout list --state failed", then "payout retry ID"',
  },
  requests: {
    by: 'itself',
    ...SOON,
    givenUp: true,
    ends: `it goes at midnight (UTC), or with the higher limit that the reason names, ${AGAIN}`,
  },
};

/** The codes whose rule fulfils a condition. */
export const codesThat = (is: (rule: WaitRule) => boolean): readonly WaitCode[] =>
  WAIT_CODES.filter((code) => is(WAITS[code]));

/** Whether a person is alarmed of what has lasted so long. */
export function alarms(code: WaitCode, lastedMs: number, stuckAfterMs: number): boolean {
  const { alarmMs } = WAITS[code];
  return alarmMs !== undefined && lastedMs >= Math.max(alarmMs, stuckAfterMs);
}

/** How the signer begins its refusals: what each is called as a wait, and whether it is for good. */
export const REFUSALS = {
  /** Its terms are missing, wrong or above a limit. */
  terms: { code: 'refused', forGood: true },
  /** Its payout or its deposits are not as they have to be. */
  payout: { code: 'refused', forGood: true },
  /** The withdraw address is missing, another one by now, or one that nothing may go to. */
  destination: { code: 'refused', forGood: true },
  /** The withdraw address is too new; it goes by itself. */
  new_destination: { code: 'new_destination', forGood: false },
  /** A limit of an hour or a day is reached; it goes by itself. */
  limit: { code: 'limit', forGood: false },
  /** An operator has paused payouts; it goes by itself once they go on. */
  paused: { code: 'paused', forGood: false },
  /** What it follows is not decided yet; it goes by itself. */
  earlier: { code: 'on_its_way', forGood: false },
  /** The journal knows more than the database. */
  backup: { code: 'refused', forGood: false },
  /** What it depends on is sealed under a SECRETS_KEY that the signer does not have. */
  key: { code: 'refused', forGood: false },
  /** The wallet that has to sign cannot. */
  wallet: { code: 'refused', forGood: false },
} as const satisfies Readonly<Record<string, { readonly code: WaitCode; readonly forGood: boolean }>>;
export type RefusalCode = keyof typeof REFUSALS;
