import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { NATIVE_CURRENCY, NETWORKS } from '../../../src/domain/assets.ts';
import { readAlarms } from '../../../src/services/alarms/alarms.ts';
import { acceptForeign, listForeign } from '../../../src/services/payouts/foreign.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas-wallets.ts';
import { noteSigned, type SendingStage, shown, startSendingStage } from './stage.ts';

const STRANGER = keyOfHex('5e'.repeat(20));
const GAS_SECRET = '6a'.repeat(32);
const GAS = keyOfHex(new Wallet(`0x${GAS_SECRET}`).address, 2);
/** Enough for many fees on either chain, in base units of its coin. */
const PLENTY = { bsc: 10n ** 18n, tron: 10n ** 9n } as const;
const A_BIT = { bsc: 10n ** 16n, tron: 10n ** 7n } as const;

for (const network of NETWORKS)
  describe(`what our wallets send on ${network}`, function () {
    this.timeout(60_000);
    let the: SendingStage;
    beforeEach(async () => {
      the = await startSendingStage(network);
    });
    afterEach(() => the?.stop());

    const coin = NATIVE_CURRENCY[network];
    const sent = async (hash: string) =>
      (await the.rows('select * from sent_transactions where hash = ?', [hash]))[0];
    const funded = async (): Promise<AddressKey> => {
      const address = await the.newAddress();
      await the.pay(address, PLENTY[network]);
      await the.mine();
      await the.finish();
      return address;
    };
    const signed = (hash: string, row: Parameters<typeof noteSigned>[2]) => noteSigned(the, hash, row);
    const differences = () =>
      the.rows('select address_key, difference_units as units from balance_differences');

    it('and nobody signed here is foreign: it alarms, names wallet and hash, and stays a difference', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await the.mine();
      await the.catchUp();
      expect(await sent(hash)).to.include({ state: 'foreign', purpose: null, ok: true, verified_at: null });
      const [one] = await listForeign(the.deps);
      expect(one).to.include({ network, wallet: shown(network, address), transaction_hash: hash });
      expect(one?.reason).to.contain(shown(network, address)).and.contain(hash);
      const alarm = (await readAlarms(the.deps)).find(({ kind }) => kind === 'wallets');
      expect([alarm?.count, alarm?.reason]).to.deep.equal([1, one?.reason]);
      await the.finish();
      const row = await sent(hash);
      expect(row).to.include({ state: 'foreign' });
      expect(row?.['verified_at']).not.to.equal(null);
      expect(row?.['moves']).to.deep.equal([
        { to: spelled(network), currency: coin, units: A_BIT[network].toString() },
      ]);
      await the.reconcile();
      await the.reconcile();
      const fee = BigInt(String(row?.['fee_units']));
      expect(
        (await differences()).map((found) => [found['address_key'], String(found['units'])]),
      ).to.deep.equal([[address, String(-(A_BIT[network] + fee))]]);
    });

    it('and we signed follows its block: mined, in no block, mined again, final', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await signed(hash, { purpose: 'payout', from: address, to: STRANGER, units: A_BIT[network] });
      await the.mine();
      await the.catchUp();
      expect(await sent(hash)).to.include({ state: 'mined', ok: true });
      await the.replace(1);
      await the.mine(2);
      await the.catchUp();
      expect(await sent(hash)).to.include({ state: 'sent', block_hash: null, ok: null, fee_units: null });
      expect(await listForeign(the.deps)).to.deep.equal([]);
      await the.again(hash);
      await the.mine();
      await the.catchUp();
      expect(await sent(hash)).to.include({ state: 'mined', ok: true });
      await the.finish();
      expect(await sent(hash)).to.include({ state: 'final', ok: true });
    });

    it('as a payout explains the balance that is left, to the unit, and its fee too', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await signed(hash, { purpose: 'payout', from: address, to: STRANGER, units: A_BIT[network] });
      await the.mine();
      await the.finish();
      const row = await sent(hash);
      expect(row).to.include({ state: 'final', ok: true });
      expect(row?.['verified_at']).not.to.equal(null);
      await the.reconcile();
      await the.reconcile();
      expect(await differences()).to.deep.equal([]);
    });

    it('from a gas wallet that was told while it runs is no deposit, nothing set aside and no difference', async () => {
      const address = await funded();
      await publishGasWallets(the.deps, { [network]: shown(network, GAS) });
      expect(await the.rows('select noted_at from gas_wallets')).to.deep.equal([{ noted_at: null }]);
      await the.pay(GAS, PLENTY[network]);
      await the.mine();
      await the.catchUp();
      expect((await the.rows('select noted_at from gas_wallets'))[0]?.['noted_at']).not.to.equal(null);
      const hash = await the.send(GAS_SECRET, address, A_BIT[network]);
      await signed(hash, { purpose: 'gas', from: GAS, to: address, units: A_BIT[network] });
      await the.mine();
      await the.finish();
      expect(await sent(hash)).to.include({ state: 'final', ok: true });
      expect(await the.rows('select id from deposits where transaction_hash = ?', [hash])).to.deep.equal([]);
      await the.reconcile();
      await the.reconcile();
      expect(await the.rows('select * from unrecognised_transfers')).to.deep.equal([]);
      expect(await differences()).to.deep.equal([]);
    });

    it('from one customer’s address to another’s is nobody’s deposit, and is explained where it arrived', async () => {
      const [one, other] = [await funded(), await funded()];
      const hash = await the.send(the.secretOf(one), other, A_BIT[network]);
      await the.mine();
      await the.finish();
      expect(await the.rows('select id from deposits where transaction_hash = ?', [hash])).to.deep.equal([]);
      await the.reconcile();
      await the.reconcile();
      const [aside, ...more] = await the.rows('select * from unrecognised_transfers');
      expect(more).to.deep.equal([]);
      expect(aside).to.include({ address_key: other, transaction_hash: hash });
      expect([String(aside?.['amount_units']), aside?.['reason']]).to.deep.equal([
        A_BIT[network].toString(),
        'from one of our own wallets',
      ]);
      const fee = BigInt(String((await sent(hash))?.['fee_units']));
      expect((await differences()).map((row) => [row['address_key'], String(row['units'])])).to.deep.equal([
        [one, String(-(A_BIT[network] + fee))],
      ]);
      expect((await listForeign(the.deps)).map((row) => row.wallet)).to.deep.equal([shown(network, one)]);
    });

    it('and one read alone has shown is forgotten with its block; what was read twice stays', async () => {
      const address = await funded();
      const once = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await the.mine();
      await the.catchUp();
      expect(await sent(once)).to.include({ state: 'foreign' });
      await the.replace(1);
      await the.mine(2);
      await the.catchUp();
      expect(await sent(once)).to.equal(undefined);
    });

    it('is accepted once, with name and reason, and only where it is foreign', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await the.mine();
      await the.finish();
      const actor = { kind: 'operator', name: 'ann', from: null } as const;
      const deps = { ...the.deps, actor };
      const accept = (of: string) => acceptForeign(deps, { network, hash: of, by: 'ann', reason: 'ours' });
      await refused(
        accept(hash.replace(/.$/, hash.endsWith('0') ? '1' : '0')),
        /^no wallet of ours is known/,
      );
      const decisions = await Promise.allSettled([accept(hash), accept(hash)]);
      expect(decisions.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
      const decided = decisions.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(decided).to.deep.equal([{ wallets: [shown(network, address)] }]);
      expect(await listForeign(the.deps)).to.deep.equal([]);
      await refused(accept(hash), /^ann has accepted .* already/);
      expect(
        await the.rows("select subject, reason from operator_actions where action = 'payout.accept'"),
      ).to.deep.equal([{ subject: hash, reason: 'ours' }]);
    });

    it('keeps its terms, and never becomes ours: the database refuses it', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, A_BIT[network]);
      await the.mine();
      await the.finish();
      const change = (text: string) =>
        the.rows(`update sent_transactions set ${text} where hash = ?`, [hash]).then(
          () => undefined,
          (error: Error) => error.message,
        );
      expect(await change("hash = 'x'")).to.contain('keeps what it is');
      expect(await change("state = 'final'")).to.contain('does not become ours');
      expect(await change('fee_units = -1')).to.contain('sent_transactions_fee_check');
    });
  });

function spelled(network: (typeof NETWORKS)[number]): string {
  return network === 'bsc' ? `0x${STRANGER}` : shown(network, STRANGER);
}

async function refused(work: Promise<unknown>, words: RegExp): Promise<void> {
  const said = await work.then(
    () => 'nothing',
    (error: Error) => error.message,
  );
  expect(said).to.match(words);
}
