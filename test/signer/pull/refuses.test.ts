import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { DepositAddress } from '../../../src/db/entities/index.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { sealDirection } from '../../../src/domain/payouts/direction.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { CASES } from './cases.ts';
import { DESTINATIONS, type SignerStage, startSignerStage } from './stage.ts';

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
      await forceDestination(the, 'bsc', address);
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

  it('an address of test mode, whoever says that it is paid out', async () => {
    const { payout } = await planned();
    const names = { externalId: 'test', email: null, name: null, metadata: {} };
    const { merchantId } = the;
    const { id: customerId } = await createCustomer(the.deps, { merchantId, mode: 'test', ...names });
    const place = await the.deps.orm.em.fork().findOneOrFail(DepositAddress, { customerId, network: 'bsc' });
    await the.force('update payouts set address_key = ?, address = ? where id = ?', [
      place.addressKey,
      place.address,
      payout.id,
    ]);
    const row = await the.decided(await the.ask(payout, { change: { from_key: place.addressKey } }));
    expect(row['refused']).to.match(/^payout: the address belongs to another merchant or to test mode/);
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
});

/** Sets a withdraw address that no use case takes, with a seal as one that was always there. */
async function forceDestination(the: SignerStage, network: Network, address: string): Promise<void> {
  const { merchantId } = the;
  const direction = { kind: 'destination', network, merchantId, address } as const;
  const seal = sealDirection(the.deps.secretBox, direction, { at: new Date(), found: false });
  await the.sql('update withdraw_addresses set address = ?, seal = ? where merchant_id = ? and network = ?', [
    address,
    seal,
    merchantId,
    network,
  ]);
}
