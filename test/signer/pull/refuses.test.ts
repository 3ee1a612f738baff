import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import type { DepositAddress } from '../../../src/db/entities/index.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import {
  type Asking,
  DESTINATIONS,
  GAS_PRICE,
  type SignerStage,
  startSignerStage,
  termsOf,
} from './stage.ts';

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

const CASES: Readonly<Record<string, Case>> = {
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

describe('the signer refuses', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    // What the database holds as well is taken away, so that the signer's own check is seen.
    await the.sql('alter table deposits drop constraint deposits_payout_check');
    await the.signer();
  });
  after(() => the?.stop());

  const planned = async (network: Network = 'bsc', currency: Currency = 'USDT') => {
    const place = await the.place(network);
    await the.deposit(place, currency, 10n ** 18n);
    return { place, payout: await the.plan(place, currency) };
  };

  for (const [name, { says, network, currency, asking, force }] of Object.entries(CASES))
    it(`${name}: it stays asked, with a sentence, and unsigned`, async () => {
      const { place, payout } = await planned(network, currency);
      if (force) await the.force(...(force(payout, place) as [string, unknown[]]));
      const id = await the.ask(payout, typeof asking === 'function' ? asking(payout) : asking);
      const row = await the.decided(id);
      expect(row).to.include({ state: 'asked', raw: null, hash: null, signed_at: null, nonce: null });
      expect(row['refused']).to.match(says);
      expect(await the.sql('select sealed_code from signer_state')).to.deep.equal([{ sealed_code: null }]);
      // It goes as soon as nobody asks any more, as the worker will have it.
      await the.sql("update sent_transactions set state = 'dead' where id = ?", [id]);
    });

  it('a destination that is ours, the token or nobody’s, however it came to be set', async () => {
    const ours = await the.place('bsc');
    const wrong: Record<string, RegExp> = {
      [ours.address]: /^destination: .* is a wallet of this gateway/,
      [the.gas.bsc]: /^destination: .* is a wallet of this gateway/,
      '0x55d398326f99059fF775485246999027B3197955': /^destination: .* is the contract of the token/,
      '0x0000000000000000000000000000000000000000': /^destination: .* is the address zero/,
    };
    for (const [address, says] of Object.entries(wrong)) {
      await the.setDestination('bsc', address);
      const { payout } = await planned();
      expect((await the.decided(await the.ask(payout)))['refused']).to.match(says);
    }
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
  });

  it('a merchant without a withdraw address, and signs once there is the planned one', async () => {
    const { merchantId } = await createMerchant(the.deps, { name: 'None', subscriptionActive: true });
    const place = await the.place('bsc', merchantId);
    await the.deposit(place, 'USDT', 5n);
    const payout = await the.plan(place, 'USDT', merchantId, DESTINATIONS.bsc[0]);
    const id = await the.ask(payout);
    expect((await the.decided(id))['refused']).to.match(/^destination: merchant .* has no withdraw address/);
    await the.setDestination('bsc', DESTINATIONS.bsc[0], merchantId);
    const row = await eventually('the signature', async () => {
      const now = await the.row(id);
      return now['state'] === 'signed' ? now : undefined;
    });
    expect(row['refused']).to.equal(null);
  });

  it('what a wallet sends that somebody else has used, until an operator accepted it', async () => {
    const { place, payout } = await planned();
    const foreign = randomUUID();
    await the.sql(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, created_at, updated_at)
       values (?, 'bsc', ?, 'foreign', ?, ?, 4, now(), now())`,
      [foreign, `0x${'f0'.repeat(32)}`, place.address, place.addressKey],
    );
    const id = await the.ask(payout);
    expect((await the.decided(id))['refused']).to.match(/^wallet: the wallet sent 0xf0f0.*payout accept/);
    await the.sql(
      "update sent_transactions set decided_at = now(), decided_by = 'x', decided_reason = 'x' where id = ?",
      [foreign],
    );
    const row = await eventually('the signature', async () => {
      const now = await the.row(id);
      return now['state'] === 'signed' ? now : undefined;
    });
    expect(Number(row['nonce'])).to.equal(5);
  });

  it('top-ups from a gas wallet that no watcher has noted, and more than three for a payout', async () => {
    const { payout } = await planned('tron');
    await the.sql('update gas_wallets set noted_at = null');
    const id = await the.ask(payout, { purpose: 'gas' });
    expect((await the.decided(id))['refused']).to.match(/^wallet: no watcher counts the gas wallet/);
    await the.sql('update gas_wallets set noted_at = now()');
    await eventually('the signature', async () => (await the.row(id))['state'] === 'signed');
    for (const attempt of [2, 3, 4]) {
      await the.force(
        `update sent_transactions set state = 'final', ok = true, fee_units = 0, block_number = 1, block_hash = 'b',
          moves = '[]' where payout_id = ? and state = 'signed'`,
        [payout.id],
      );
      const next = await the.decided(await the.ask(payout, { purpose: 'gas', attempt }));
      if (attempt < 4) expect(next, `${next['refused']}`).to.include({ state: 'signed' });
      else expect(next['refused']).to.match(/^payout: the address was given coins 3 times/);
    }
  });

  it('what is above the limit of an hour or a day, and signs it when there is room', async () => {
    const one = await startSignerStage();
    try {
      const units = 600n;
      let now = Date.now();
      const limits = {
        perHour: ({ currency }: { currency: Currency }) => (currency === 'USDT' ? 1_000n : undefined),
        perDay: ({ currency }: { currency: Currency }) => (currency === 'USDT' ? 1_500n : undefined),
      };
      await one.signer({ limits, now: () => new Date(now) });
      const asked = async (amount: bigint) => {
        const place = await one.place('bsc');
        await one.deposit(place, 'USDT', amount);
        return await one.ask(await one.plan(place, 'USDT'));
      };
      const signed = (id: string) =>
        eventually('room', async () => (await one.row(id))['state'] === 'signed');
      await signed(await asked(units));
      const second = await asked(units);
      expect((await one.decided(second))['refused']).to.match(
        /^limit: with it 1200 units of USDT .* within 1 h.*SIGN_MAX_PER_HOUR allows 1000/,
      );
      now += 61 * 60_000;
      await signed(second);
      now += 61 * 60_000;
      const third = await asked(units);
      expect((await one.decided(third))['refused']).to.match(
        /^limit: with it 1800 units .* within 24 h.*SIGN_MAX_PER_DAY/,
      );
      now += 23 * 60 * 60_000;
      await signed(third);
      const huge = await asked(10n ** 30n);
      expect((await one.decided(huge))['refused']).to.match(
        /^limit: .* are more than SIGN_MAX_PER_HOUR allows at all/,
      );
    } finally {
      await one.stop();
    }
  });
});
