import { expect } from 'chai';
import { refreshMetrics } from '../../../src/app/figures.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { findingsOf } from '../../../src/cli/doctor/conditions.ts';
import type { Network } from '../../../src/domain/assets.ts';
import type { Deps } from '../../../src/services/deps.ts';
import {
  gasWalletOf,
  noteGasLevels,
  publishGasWallets,
  readGasLevels,
} from '../../../src/services/payouts/gas.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { DESTINATION, payOut } from '../../support/payout-rows.ts';
import { valueIn } from '../../support/repository/prometheus.ts';
import { shown } from './stage.ts';

const COIN = 10n ** 18n;
const GAS = keyOfHex('9a'.repeat(20));

/** No chain is here: what a worker would be told of the wallet is said by the test. */
describe('what the wallets that pay for gas hold', function () {
  this.timeout(60_000);
  let shop: Shop;
  let deps: Deps;
  beforeEach(async () => {
    shop = await startShop();
    const payouts = { ...shop.deps.settings.payouts, networks: ['bsc' as const] };
    const usd8 = 600n * 10n ** 8n;
    const price = async () => ({ usd8, source: 'test', at: shop.deps.now(), stale: false });
    deps = { ...shop.deps, settings: { ...shop.deps.settings, payouts }, prices: { price } };
    await publishGasWallets(deps, { bsc: shown('bsc', GAS) });
    await shop.scanned('bsc', shop.clock.now);
    await shop.sql(
      'update chain_cursors set reread_number = scanned_number, anchored_number = scanned_number',
    );
  });
  afterEach(() => shop?.stop());

  const em = () => deps.orm.em.fork();
  /** A worker looks, and is told that so much lies there. */
  const look = (units: bigint | 'away') => {
    const balances = async (keys: readonly AddressKey[]) => {
      expect(keys).to.deep.equal([GAS]);
      if (units === 'away') throw new Error('no endpoint answers');
      return [{ nativeUnits: units, tokenUnits: 0n }];
    };
    return noteGasLevels(deps, new Map<Network, never>([['bsc', { balances } as never]]));
  };
  /** A payout of tokens that is settled, and the top-up that the gas wallet sent for it, with its fee. */
  const toppedUp = async (units: bigint, feeUnits: bigint): Promise<void> => {
    const id = await shop.pay(await shop.customer(), { coins: '1', block: 5 });
    await shop.sql('update deposits set verified_at = now() where id = ?', [id]);
    await payOut(deps, id);
    await deps.orm.em.fork().transactional(async (inTx) => {
      // Past what the database holds of payouts that are over.
      await inTx.execute('set local session_replication_role = replica');
      await inTx.execute(
        `insert into sent_transactions (id, network, hash, purpose, payout_id, attempt, state, from_address,
          from_key, to_address, to_key, currency, amount_units, raw, signed_at, block_number, block_hash, ok,
          fee_units, moves, verified_at, created_at, updated_at)
         select gen_random_uuid(), 'bsc', 'gas' || id, 'gas', id, 1, 'final', 'g', ?, address, address_key,
           'BNB', ?, '\\x00', now(), -1, '0x9', true, ?, '[]', now(), now(), now() from payouts
         where id = (select payout_id from deposits where id = ?)`,
        [GAS, units.toString(), feeUnits.toString(), id],
      );
    });
  };
  const checkGas = async () => (await findingsOf(deps)).find(({ name }) => name === 'gas_bsc');
  const figures = async () => {
    const metrics = createMetrics({ defaults: false });
    await refreshMetrics({ deps, metrics });
    const text = await metrics.registry.metrics();
    return (name: string) => valueIn(text, name);
  };

  it('is unknown until a worker has looked, and stays what it was while no endpoint answers', async () => {
    expect(await readGasLevels(em())).to.containSubset([
      { network: 'bsc', address: shown('bsc', GAS), amount: null, at: null, payoutsLeft: null },
    ]);
    expect(await checkGas()).to.include({ ok: true });
    expect((await figures())('gateway_gas_wallet_balance{network="bsc"}')).to.equal(undefined);
    await look(COIN / 2n);
    const said = await look('away').then(String, (error: Error) => error.message);
    expect(said).to.equal('no endpoint answers');
    const [level] = await readGasLevels(em());
    expect(level).to.deep.include({ amount: '0.5', currency: 'BNB', coinUsd8: 600n * 10n ** 8n });
    expect((await figures())('gateway_gas_wallet_balance{network="bsc"}')).to.equal(0.5);
  });

  it('is enough for as many payouts as it is at what the last ones took, and doctor warns in time', async () => {
    await toppedUp(COIN / 1_000n - 7n, 7n);
    await look((COIN / 1_000n) * 20n);
    expect((await readGasLevels(em()))[0]?.payoutsLeft).to.equal(20);
    // Nobody is paid out on the network.
    await look(0n);
    expect((await readGasLevels(em()))[0]?.payoutsLeft).to.equal(0);
    expect(await checkGas()).to.include({ ok: true });
    const paidOut = "insert into withdraw_addresses (merchant_id, network, address) values (?, 'bsc', ?)";
    await shop.sql(paidOut, [shop.merchantId, DESTINATION]);
    const empty = await checkGas();
    expect(empty?.ok).to.equal(false);
    expect(empty?.action).to.contain(`send BNB to ${shown('bsc', GAS)} before payouts wait for it`);
    await look((COIN / 1_000n) * 20n - 1n);
    expect(await checkGas()).to.include({ ok: false });
    expect((await figures())('gateway_gas_wallet_payouts_left{network="bsc"}')).to.equal(19);
    await look((COIN / 1_000n) * 20n);
    const well = await checkGas();
    expect([well?.ok, well?.detail]).to.deep.equal([
      true,
      `${shown('bsc', GAS)} held 0.02 BNB at 2026-11-20T09:00:00Z: enough for 20 payouts of tokens at what the last ones took`,
    ]);
  });

  it('are those of the wallet whose signer tells it over and over, whatever was written since', async () => {
    const [ours, other] = [shown('bsc', GAS), shown('bsc', keyOfHex('9b'.repeat(20)))];
    const later = () => new Date(deps.now().getTime() + 1_000);
    await publishGasWallets({ ...deps, now: later }, { bsc: other });
    expect((await gasWalletOf(em(), 'bsc'))?.address).to.equal(other);
    await publishGasWallets(deps, { bsc: ours });
    expect((await gasWalletOf(em(), 'bsc'))?.address).to.equal(ours);
    await shop.sql(
      "update gas_wallets set created_at = now() + interval '9 years' where address = ? returning 1",
      [other],
    );
    await publishGasWallets(deps, { bsc: ours });
    expect((await gasWalletOf(em(), 'bsc'))?.address).to.equal(ours);
    const told = () => shop.sql('select created_at from gas_wallets where address = ?', [ours]);
    const before = await told();
    await publishGasWallets(deps, { bsc: ours });
    expect(await told(), 'it is told again').to.deep.equal(before);
  });
});
