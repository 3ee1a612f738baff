import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { HDNodeWallet } from 'ethers';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { DepositAddress, type Payout } from '../../../src/db/entities/index.ts';
import { sealDirection } from '../../../src/domain/payouts/direction.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../src/services/payouts/pauses.ts';
import { shownBy } from '../../support/shown-transaction.ts';
import { DESTINATIONS } from './asking.ts';
import { CASES } from './cases.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

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
  // It goes as soon as nobody asks any more, as the worker will have it.
  afterEach(() => the.sql("update sent_transactions set state = 'dead' where state = 'asked'"));

  for (const [name, { on, asking, force }, says] of CASES)
    it(`${name}: it stays asked, with a sentence, and unsigned`, async () => {
      const payout = on ? await the.planned(...on) : await the.planned();
      if (force) await the.force(force, [payout.id]);
      const id = await the.ask(payout, typeof asking === 'function' ? asking(payout) : asking);
      expect(await the.refused(id, says)).to.include({ nonce: null });
      expect(await the.state()).to.include({ sealed_code: null });
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
      await forceDestination(the, address);
      await the.refused(await the.ask(await the.planned()), says);
    }
    await the.setDestination('bsc', DESTINATIONS.bsc[0]);
  });

  it('a merchant without a withdraw address, and signs once there is the planned one', async () => {
    const { merchantId } = await createMerchant(the.deps, { name: 'None', subscriptionActive: true });
    const place = await the.place('bsc', merchantId);
    await the.deposit(place, 'USDT', 5n);
    const id = await the.ask(await the.plan(place, 'USDT', merchantId, DESTINATIONS.bsc[0]));
    await the.refused(id, /^destination: merchant .* has no withdraw address/);
    await the.setDestination('bsc', DESTINATIONS.bsc[0], merchantId);
    await the.signed(id);
  });

  it('an address of test mode, whoever says that it is paid out', async () => {
    const payout = await the.planned();
    const names = { externalId: 'test', email: null, name: null, metadata: {} };
    const { merchantId } = the;
    const { id: customerId } = await createCustomer(the.deps, { merchantId, mode: 'test', ...names });
    const place = await the.deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network: 'bsc' });
    await the.force('update payouts set address_key = ?, address = ? where id = ?', [
      place.addressKey,
      place.address,
      payout.id,
    ]);
    const id = await the.ask(payout, { change: { from_key: place.addressKey } });
    await the.refused(id, /^payout: the address belongs to another merchant or to test mode/);
  });

  it('what a wallet sends that somebody else has used, until an operator accepted it', async () => {
    const payout = await the.planned();
    await foreign(payout);
    const id = await the.ask(payout);
    await the.refused(id, /^wallet: the wallet sent [0-9a-f]{32}, .*payout accept/);
    await the.sql(
      "update sent_transactions set decided_at = now(), decided_by = 'x', decided_reason = 'x' where state = 'foreign'",
    );
    expect(Number((await the.signed(id))['nonce'])).to.equal(1);
  });

  /** What somebody sent from the address of a payout, in a final block. */
  const foreign = async ({ address, addressKey }: Payout) => {
    const transaction = { chainId: 56, nonce: 0, gasLimit: 21_000, gasPrice: 1, to: the.gas.bsc };
    const [{ index } = { index: 0 }] = await the.sql<{ index: number }>(
      'select c.wallet_index as index from deposit_addresses a join customers c on c.id = a.customer_id where a.address_key = ?',
      [addressKey],
    );
    const wallet = HDNodeWallet.fromPhrase(TEST_PHRASE, '', `m/44'/60'/0'/0/${index}`);
    const proof = JSON.stringify(shownBy(await wallet.signTransaction(transaction)));
    await the.sql(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, proof, block_number,
         block_hash, verified_at, ok, fee_units, moves, created_at, updated_at)
       values (gen_random_uuid(), 'bsc', ?, 'foreign', ?, ?, 0, ?, 1, 'b', now(), true, 0, '[]', now(), now())`,
      [randomUUID().replaceAll('-', ''), address, addressKey, proof],
    );
  };

  it('top-ups from a gas wallet that no watcher has noted', async () => {
    await the.sql('update gas_wallets set noted_at = null');
    const id = await the.ask(await the.planned('tron'), { purpose: 'gas' });
    await the.refused(id, /^wallet: no watcher counts the gas wallet/);
    await the.sql('update gas_wallets set noted_at = now()');
    await the.signed(id);
  });

  it('more coins for an address than two payouts cost, however often, while it pays nothing out', async () => {
    const place = await the.place('bsc');
    await the.deposit(place, 'BNB', 10n ** 18n);
    let [payout, attempt] = [await the.plan(place, 'BNB'), 0];
    const given = async (units: bigint) => {
      attempt += 1;
      return await the.ask(payout, { purpose: 'gas', attempt, units });
    };
    for (const milli of [1n, 2n, 3n, 4n, 990n, 1_000n]) {
      await the.signed(await given(milli * 10n ** 12n));
      await the.force(`update sent_transactions set state = 'final', ok = true, fee_units = 0, block_number = 1,
        block_hash = 'b', moves = '[]', verified_at = now() where state = 'signed'`);
    }
    // Whatever payouts they are for.
    await the.force('update deposits set payout_id = null where payout_id = ?', [payout.id]);
    await the.force("update payouts set state = 'cancelled', reason = 'x' where id = ?", [payout.id]);
    [payout, attempt] = [await the.plan(place, 'BNB'), 0];
    const more = await given(1n);
    await the.refused(more, /^payout: with it the address would have been given 2000000000000001 units/);
    await the.sql("update sent_transactions set state = 'dead' where id = ?", [more]);
    await the.signed(await the.ask(payout));
    await the.force("update sent_transactions set state = 'dead' where state = 'signed'");
    await the.signed(await given(1n));
  });

  for (const whose of ['all', 'one'] as const)
    it(`while payouts are paused (${whose}), and signs once they go on`, async () => {
      const merchantId = whose === 'one' ? the.merchantId : null;
      const payout = await the.planned();
      await setPaused(the.deps, { merchantId, paused: true });
      const ids = [await the.ask(payout, { purpose: 'gas' }), await the.ask(payout)];
      for (const id of ids)
        await the.refused(id, /^paused: (all|payouts of the merchant).* paused.*"payout resume/);
      await setPaused(the.deps, { merchantId, paused: false });
      for (const id of ids) await the.signed(id);
    });

  it('nothing of others while one merchant is paused', async () => {
    const { merchantId } = await createMerchant(the.deps, { name: 'Other', subscriptionActive: true });
    await setPaused(the.deps, { merchantId, paused: true });
    await the.signed(await the.ask(await the.planned()));
  });
});

/** Sets a withdraw address that no use case takes, with a seal as one that was always there. */
async function forceDestination({ deps, merchantId, sql }: SignerStage, address: string): Promise<void> {
  const direction = { kind: 'destination', network: 'bsc', merchantId, address } as const;
  const seal = sealDirection(deps.secretBox, direction, new Date());
  await sql("update withdraw_addresses set address = ?, seal = ? where merchant_id = ? and network = 'bsc'", [
    address,
    seal,
    merchantId,
  ]);
}
