import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { NATIVE_CURRENCY, NETWORKS } from '../../../src/domain/assets.ts';
import { readAlarms } from '../../../src/services/operations/conditions/conditions.ts';
import { acceptForeign, listForeign } from '../../../src/services/payouts/foreign.ts';
import { publishGasWallets } from '../../../src/services/payouts/gas.ts';
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
    before(async () => {
      the = await startSendingStage(network);
    });
    after(() => the?.stop());

    const units = A_BIT[network];
    const sent = async (hash: string) =>
      (await the.rows('select * from sent_transactions where hash = ?', [hash]))[0];
    const funded = async (): Promise<AddressKey> => {
      const address = await the.newAddress();
      await the.pay(address, PLENTY[network]);
      await the.mine();
      await the.finish();
      return address;
    };
    const seen = async () => {
      await the.mine();
      await the.catchUp();
    };
    const foreign = async (address: AddressKey) =>
      (await listForeign(the.deps)).filter(({ wallet }) => wallet === shown(network, address));
    const depositsOf = (hash: string) =>
      the.rows('select id from deposits where transaction_hash = ?', [hash]);
    /** What the second pass finds amiss on these addresses. */
    const differences = async (...keys: AddressKey[]) => {
      await the.reconcile();
      await the.reconcile();
      const found = await the.rows('select address_key, difference_units as units from balance_differences');
      return found
        .filter((row) => keys.includes(row['address_key'] as AddressKey))
        .map((row) => [row['address_key'], BigInt(String(row['units']))]);
    };
    const costOf = async (hash: string) => units + BigInt(String((await sent(hash))?.['fee_units']));

    it('and nobody signed here is foreign: it alarms, stays a difference, and is accepted once by a person', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, units);
      await seen();
      expect(await sent(hash)).to.include({ state: 'foreign', purpose: null, ok: true, verified_at: null });
      const [one, ...others] = await listForeign(the.deps);
      expect(others).to.deep.equal([]);
      expect(one).to.include({ network, wallet: shown(network, address), transaction_hash: hash });
      expect(one?.reason).to.contain(shown(network, address)).and.contain(hash);
      const alarm = (await readAlarms(the.deps)).find(({ kind }) => kind === 'wallets');
      expect([alarm?.count, alarm?.reason]).to.deep.equal([1, one?.reason]);
      await the.finish();
      const row = await sent(hash);
      expect(row).to.include({ state: 'foreign' });
      expect(row?.['verified_at']).not.to.equal(null);
      const to = network === 'bsc' ? `0x${STRANGER}` : shown(network, STRANGER);
      const moves = [{ to, currency: NATIVE_CURRENCY[network], units: units.toString() }];
      expect(row?.['moves']).to.deep.equal(moves);
      expect(await differences(address)).to.deep.equal([[address, -(await costOf(hash))]]);
      // The database keeps it what it is.
      const change = (text: string) =>
        failure(the.rows(`update sent_transactions set ${text} where hash = ?`, [hash]));
      expect(await change("hash = 'x'")).to.contain('keeps what it is');
      expect(await change("state = 'final'")).to.contain('does not become ours');
      expect(await change('fee_units = -1')).to.contain('sent_transactions_fee_check');
      const actor = { kind: 'operator', name: 'ann', from: null } as const;
      const accept = (of: string) =>
        acceptForeign({ ...the.deps, actor }, { network, hash: of, by: 'ann', reason: 'ours' });
      const other = hash.replace(/.$/, hash.endsWith('0') ? '1' : '0');
      expect(await failure(accept(other))).to.match(/^no wallet of ours is known/);
      const decisions = await Promise.allSettled([accept(hash), accept(hash)]);
      expect(decisions.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
      const decided = decisions.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(decided).to.deep.equal([{ wallets: [shown(network, address)] }]);
      expect(await foreign(address)).to.deep.equal([]);
      expect(await failure(accept(hash))).to.match(/^ann has accepted .* already/);
      const actions = "select subject, reason from operator_actions where action = 'payout.accept'";
      expect(await the.rows(actions)).to.deep.equal([{ subject: hash, reason: 'ours' }]);
    });

    it('and we signed follows its block: mined, in no block, mined again, final; and explains what is left', async () => {
      const address = await funded();
      const hash = await the.send(the.secretOf(address), STRANGER, units);
      await noteSigned(the, hash, { purpose: 'payout', from: address, to: STRANGER, units });
      await seen();
      expect(await sent(hash)).to.include({ state: 'mined', ok: true });
      await the.replace(1);
      await the.mine(2);
      await the.catchUp();
      expect(await sent(hash)).to.include({ state: 'sent', block_hash: null, ok: null, fee_units: null });
      expect(await foreign(address)).to.deep.equal([]);
      await the.again(hash);
      await seen();
      expect(await sent(hash)).to.include({ state: 'mined', ok: true });
      await the.finish();
      const row = await sent(hash);
      expect(row).to.include({ state: 'final', ok: true });
      expect(row?.['verified_at']).not.to.equal(null);
      expect(await differences(address)).to.deep.equal([]);
    });

    it('from one customer’s address to another’s is nobody’s deposit, and is explained where it arrived', async () => {
      const [one, other] = [await funded(), await funded()];
      const hash = await the.send(the.secretOf(one), other, units);
      await seen();
      await the.finish();
      expect(await depositsOf(hash)).to.deep.equal([]);
      expect(await differences(one, other)).to.deep.equal([[one, -(await costOf(hash))]]);
      const aside = await the.rows(
        `select transaction_hash, amount_units::text as units, reason from unrecognised_transfers
          where address_key = ?`,
        [other],
      );
      expect(aside).to.deep.equal([
        { transaction_hash: hash, units: units.toString(), reason: 'from one of our own wallets' },
      ]);
      expect(await foreign(one)).to.have.length(1);
    });

    it('from a gas wallet that was told while it runs is no deposit, nothing set aside and no difference', async () => {
      const address = await funded();
      await publishGasWallets(the.deps, { [network]: shown(network, GAS) });
      const noted = async () => (await the.rows('select noted_at from gas_wallets'))[0]?.['noted_at'];
      expect(await noted()).to.equal(null);
      await the.pay(GAS, PLENTY[network]);
      await seen();
      expect(await noted()).not.to.equal(null);
      const hash = await the.send(GAS_SECRET, address, units);
      await noteSigned(the, hash, { purpose: 'gas', from: GAS, to: address, units });
      await the.mine();
      await the.finish();
      expect(await sent(hash)).to.include({ state: 'final', ok: true });
      expect(await depositsOf(hash)).to.deep.equal([]);
      expect(await differences(address)).to.deep.equal([]);
      const aside = 'select * from unrecognised_transfers where address_key = ?';
      expect(await the.rows(aside, [address])).to.deep.equal([]);
    });
  });

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  );
