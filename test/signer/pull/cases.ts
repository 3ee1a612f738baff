// What may be wrong with a row that asks to be signed, and what the signer says of it.
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import type { DepositAddress } from '../../../src/db/entities/index.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { type Asking, DESTINATIONS, GAS_PRICE, type SignerStage, termsOf } from './stage.ts';

type Payout = Awaited<ReturnType<SignerStage['plan']>>;
type Case = {
  /** What the row of a refusal says. */
  readonly says: RegExp;
  readonly network?: Network;
  readonly currency?: Currency;
  readonly asking?: Asking | ((payout: Payout) => Asking);
  /** Written past every guard, after the payout was planned and before anything is asked for. */
  readonly force?: (payout: Payout, place: DepositAddress) => readonly [string, unknown[]];
};

const ofDeposits =
  (set: string): Case['force'] =>
  ({ id }) => [`update deposits set ${set} where payout_id = ?`, [id]];
const ofPayout =
  (set: string): Case['force'] =>
  ({ id }) => [`update payouts set ${set} where id = ?`, [id]];
const to = (address: string): Asking => ({
  change: { to_address: address, to_key: addressKeyOf('bsc', address) },
});
const OTHER = DESTINATIONS.bsc[1];

export const CASES: Readonly<Record<string, Case>> = {
  'a payout of test mode': {
    says: /^payout: .*test mode/,
    force: ofPayout("mode = 'test', simulated = true"),
  },
  'a payout that is given up': {
    says: /^payout: the payout is cancelled/,
    force: ofPayout("state = 'cancelled', reason = 'x'"),
  },
  'a payout that is settled': {
    says: /^payout: the payout is settled/,
    force: ofPayout(
      "state = 'settled', net_units = gross_units, fee_units = 0, transaction_hash = 'x', settled_at = now()",
    ),
  },
  'a payout of more than its deposits': {
    says: /^payout: .*its deposits are/,
    force: ofPayout('gross_units = gross_units + 1'),
  },
  'a deposit that is not completed': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits("status = 'confirming'"),
  },
  'a deposit of test mode': { says: /^payout: deposit .* is not one/, force: ofDeposits("mode = 'test'") },
  'a simulated deposit': { says: /^payout: deposit .* is not one/, force: ofDeposits('simulated = true') },
  'a deposit in no block': { says: /^payout: deposit .* is not one/, force: ofDeposits('block_hash = null') },
  'a deposit that was read once': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits('verified_at = null'),
  },
  'a deposit of another address': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits(`address_key = '${'ab'.repeat(20)}'`),
  },
  'a deposit of another asset': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits("currency = 'BNB'"),
  },
  'a deposit of another token': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits(`contract_address = '0x${'cd'.repeat(20)}'`),
  },
  'a deposit of no token': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits('contract_address = null'),
  },
  'a payout of another token': {
    says: /^payout: the payout names another token/,
    force: ofPayout(`contract_address = '0x${'cd'.repeat(20)}'`),
  },
  'a deposit of another merchant': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits('merchant_id = gen_random_uuid()'),
  },
  'a deposit on another chain': {
    says: /^payout: deposit .* is not one/,
    force: ofDeposits("network = 'tron'"),
  },
  'a payout on another chain': {
    says: /^payout: the payout is on another chain/,
    asking: { change: { network: 'tron' } },
  },
  'a payout of another merchant': {
    says: /^payout: the address belongs to another merchant or to test mode/,
    force: ofPayout('merchant_id = gen_random_uuid()'),
  },
  'a payout from another wallet than its address': {
    says: /^payout: what was asked for is not the transfer of its payout/,
    asking: { change: { from_key: 'ab'.repeat(20) } },
  },
  'a payout in another asset than its deposits': {
    says: /^payout: what was asked for is not the transfer of its payout/,
    asking: { change: { currency: 'BNB' } },
  },
  'a payout without deposits': {
    says: /^payout: the payout covers no deposit/,
    force: ofDeposits('payout_id = null'),
  },
  'a payout from an address of nobody': {
    says: /^payout: no customer has the address/,
    force: ofPayout(`address_key = '${'ab'.repeat(20)}'`),
  },
  'another destination than planned': {
    says: /^destination: the merchant's withdraw address is .* by now/,
    force: ofPayout(`destination = '${OTHER}'`),
  },
  'another receiver than the destination': {
    says: /^destination: what was asked for goes elsewhere/,
    asking: to(OTHER),
  },
  'less than the deposits of a token': {
    says: /^payout: it would keep 1 units/,
    asking: ({ grossUnits }) => ({ units: grossUnits - 1n }),
  },
  'more than the deposits of a token': {
    says: /^payout: it would keep -1 units/,
    asking: ({ grossUnits }) => ({ units: grossUnits + 1n }),
  },
  'a coin that keeps back more than its fee': {
    currency: 'BNB',
    says: /^payout: it would keep 21000000000001 units/,
    asking: ({ grossUnits }) => ({ units: grossUnits - 21_000n * GAS_PRICE - 1n }),
  },
  'a coin that leaves nothing for its fee': {
    currency: 'BNB',
    says: /^payout: it would keep 0 units/,
    asking: ({ grossUnits }) => ({ units: grossUnits }),
  },
  'a coin of Tron that keeps back too much': {
    network: 'tron',
    currency: 'TRX',
    says: /^payout: it would keep 3000001 units/,
    asking: ({ grossUnits }) => ({ units: grossUnits - 3_000_001n }),
  },
  'a price above the cap': {
    says: /^terms: the gas price in wei is 5000000001, and may be from 1 to 5000000000/,
    asking: { terms: termsOf('bsc', 'USDT', { gas_price: '5000000001' }) },
  },
  'more gas than the cap': {
    says: /^terms: the gas limit is 9000000/,
    asking: { terms: termsOf('bsc', 'USDT', { gas_limit: '9000000' }) },
  },
  'terms for another chain': {
    says: /^terms: its terms say what nobody knows/,
    asking: { terms: { ...termsOf('bsc', 'USDT'), chain_id: 97 } },
  },
  'no terms': { says: /^terms: it was asked for without terms/, asking: { change: { terms: null } } },
  'terms of a hostile kind': {
    says: /^terms: the gas price in wei is not a whole number/,
    asking: { terms: termsOf('bsc', 'USDT', { gas_price: '１０' }) },
  },
  'a top-up for a coin that pays its own fee': {
    currency: 'BNB',
    says: /^payout: a payout of the coin pays its own fee/,
    asking: { purpose: 'gas' },
  },
  'a top-up of more than a transfer can cost': {
    says: /^terms: a top-up of 1000000000000001 units is more/,
    asking: { purpose: 'gas', units: 1_000_000_000_000_001n },
  },
  'a top-up of somebody else': {
    says: /^payout: a top-up goes from the gas wallet/,
    asking: { ...to(OTHER), purpose: 'gas' },
  },
  'a top-up from another address than the gas wallet': {
    says: /^payout: a top-up goes from the gas wallet/,
    asking: { purpose: 'gas', change: { from_key: 'ab'.repeat(20) } },
  },
};
