// What may be wrong with a row that asks to be signed, and what the signer says of it.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { type Asking, DESTINATIONS, GAS_PRICE, termsOf, to } from './asking.ts';
import type { SignerStage } from './stage.ts';

type Payout = Awaited<ReturnType<SignerStage['plan']>>;
type Case = {
  readonly on?: readonly [Network, Currency];
  readonly asking?: Asking | ((payout: Payout) => Asking);
  /** Written past every guard, after the payout was planned and before anything is asked for. */
  readonly force?: string;
};
/** What it is, how its row differs, and what the row of a refusal says. */
type Refusal = readonly [name: string, differs: Case, says: RegExp];

const OTHER = DESTINATIONS.bsc[1];
const NOBODY = 'ab'.repeat(20);
const TRX = 10n ** 6n;
const BNB = ['bsc', 'BNB'] as const;
const TRON = ['tron', 'USDT'] as const;
const COIN = ['tron', 'TRX'] as const;

const payout = (set: string): Case => ({ force: `update payouts set ${set} where id = ?` });
const deposit = (set: string): Case => ({ force: `update deposits set ${set} where payout_id = ?` });
const asking = (one: Case['asking'], on?: Case['on']): Case => ({ asking: one, ...(on && { on }) });
const changed = (change: Asking['change'], more: Asking = {}): Case => asking({ ...more, change });
const terms = (change: Record<string, unknown>): Case => asking({ terms: termsOf('bsc', 'USDT', change) });
/** So much more than all of it, or less. */
const units = (more: bigint, on?: Case['on']): Case =>
  asking(({ grossUnits }) => ({ units: grossUnits + more }), on);

/** More than any limit allows to sign away: no money moves. */
export const LOAN = { purpose: 'delegate', units: 8_000n * TRX } as const;
export const BACK = { ...LOAN, purpose: 'reclaim' } as const;
const BURNING = { ...termsOf('tron', 'TRX'), fee_limit: '1' };

const NO_DEPOSIT_OF_IT: readonly (readonly [name: string, set: string])[] = [
  ['that is not completed', "status = 'confirming'"],
  ['of test mode', "mode = 'test'"],
  ['that was simulated', 'simulated = true'],
  ['in no block', 'block_hash = null'],
  ['that was read once', 'verified_at = null'],
  ['of another address', `address_key = '${NOBODY}'`],
  ['of another asset', "currency = 'BNB'"],
  ['of another token', `contract_address = '0x${'cd'.repeat(20)}'`],
  ['of no token', 'contract_address = null'],
  ['of another merchant', 'merchant_id = gen_random_uuid()'],
  ['on another chain', "network = 'tron'"],
];
const OVER =
  "state = 'settled', net_units = gross_units, fee_units = 0, transaction_hash = 'x', settled_at = now()";

const gas = (more: Asking = {}): Asking => ({ ...more, purpose: 'gas' });
const elsewhere = { from_key: NOBODY };
const MUCH = 1_000_000_000_000_001n;
const TRANSFER = /^payout: .* not the transfer of its payout/;

export const CASES: readonly Refusal[] = [
  ...NO_DEPOSIT_OF_IT.map(
    ([name, set]) => [`a deposit ${name}`, deposit(set), /^payout: deposit .* is not one/] as const,
  ),
  ['a payout of test mode', payout("mode = 'test', simulated = true"), /^payout: .*test mode/],
  ['one that is given up', payout("state = 'cancelled', reason = 'x'"), /^payout: .* is cancelled/],
  ['one that is settled', payout(OVER), /^payout: the payout is settled/],
  ['one of more than its deposits', payout('gross_units = gross_units + 1'), /^payout: .*its deposits are/],
  ['one without deposits', deposit('payout_id = null'), /^payout: the payout covers no deposit/],
  ['one of another token', payout(`contract_address = '0x${'cd'.repeat(20)}'`), /^payout: .* another token/],
  ['one on another chain', changed({ network: 'tron' }), /^payout: the payout is on another chain/],
  ['one of another merchant', payout('merchant_id = gen_random_uuid()'), /^payout: .* another merchant/],
  ['one from an address of nobody', payout(`address_key = '${NOBODY}'`), /^payout: no customer has the/],
  ['another wallet than its address', changed(elsewhere), TRANSFER],
  ['another asset than its deposits', changed({ currency: 'BNB' }), TRANSFER],
  ['another destination than planned', payout(`destination = '${OTHER}'`), /^destination: .* by now/],
  ['another receiver than the destination', asking(to(OTHER)), /^destination: .* goes elsewhere/],
  ['less than the deposits of a token', units(-1n), /^payout: it would keep 1 units/],
  ['more than the deposits of a token', units(1n), /^payout: it would keep -1 units/],
  ['a coin that keeps back too much', units(-21_000n * GAS_PRICE - 1n, BNB), /^payout: .* 21000000000001 /],
  ['a coin that moves more than there is', units(1n, BNB), /^payout: it would keep -1 units/],
  ['TRX that keeps back too much', units(-3_000_001n, COIN), /^payout: it would keep 3000001 units/],
  ['a price above the cap', terms({ gas_price: '5000000001' }), /^terms: .* 5000000001, .* 1 to 5000000000/],
  ['more gas than the cap', terms({ gas_limit: '9000000' }), /^terms: the gas limit is 9000000/],
  ['terms for another chain', terms({ chain_id: 97 }), /^terms: its terms say what nobody knows/],
  ['no terms', changed({ terms: null }), /^terms: it was asked for without terms/],
  ['terms of a hostile kind', terms({ gas_price: '１０' }), /^terms: the gas price .* is not a whole number/],
  [
    'a top-up of too much',
    asking(gas({ units: MUCH })),
    /^terms: a top-up of 1000000000000001 units is more/,
  ],
  ['a top-up of somebody else', asking(gas(to(OTHER))), /^payout: a top-up goes from the gas/],
  ['a top-up in a token', changed({ currency: 'USDT' }, gas()), /^payout: a top-up goes from the gas/],
  ['a top-up from elsewhere', changed(elsewhere, gas()), /^payout: a top-up goes from the gas/],
  ['a loan for a coin', asking(LOAN, COIN), /^payout: a payout of the coin runs no contract/],
  ['a loan on a chain without', asking(LOAN), /^payout: nothing can be lent on bsc/],
  [
    'a loan to another address',
    asking({ ...LOAN, change: { to_key: NOBODY } }, TRON),
    /^payout: energy is lent/,
  ],
  ['a loan from another wallet', asking({ ...LOAN, change: elsewhere }, TRON), /^payout: energy is lent/],
  [
    'a loan that may burn',
    asking({ ...LOAN, terms: BURNING }, TRON),
    /^terms: .* is 1, and may be from 0 to 0/,
  ],
  ['energy back while its payout is planned', asking(BACK, TRON), /^payout: the payout is planned, and/],
];
