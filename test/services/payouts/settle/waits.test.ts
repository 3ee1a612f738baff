import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { ownKey } from '../../watcher/test-watcher.ts';
import { shown } from '../stage.ts';
import { GWEI, MERCHANTS, type SettleStage, startSettleStage, USDT } from './stage.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
const ELSEWHERE = keyOfHex('d2'.repeat(20));
const MIN = new Map([['USDT.bsc', 5n * USDT]]);

describe('a payout that cannot go', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startSettleStage({ payouts: { minUnits: MIN, maxFeeBasisPoints: 500n }, signs: false });
  });
  after(() => the?.stop());
  afterEach(() => {
    the.proxy.fault = undefined;
  });
  const isWait = ({ kind }: SettlementStep): boolean => kind === 'wait';
  const fund = async (units = 10n ** 17n): Promise<void> => {
    await the.chain.send({ to: `0x${the.gas}`, valueUnits: units });
    await the.finish();
  };
  const gasPrice = (wei: bigint): void => {
    the.proxy.fault = ({ method, id }) =>
      method === 'eth_gasPrice'
        ? { json: { jsonrpc: '2.0', id, result: `0x${wei.toString(16)}` } }
        : undefined;
  };

  it('rests below the minimum, says so, and goes with the next deposit', async () => {
    const key = await the.paid(['USDT', 2n * USDT]);
    expect(await the.step(key)).to.include({ kind: 'rest' });
    expect(await the.wait(key)).to.include({ code: 'below_minimum', currency: 'USDT' });
    await the.pay(key, ['USDT', 3n * USDT]);
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'waiting_for_gas' });
  });

  it('rests without a withdraw address, and says so', async () => {
    await the.rows('delete from withdraw_addresses');
    const key = await the.paid(['USDT', 5n * USDT]);
    expect(await the.step(key)).to.include({ kind: 'rest' });
    expect(await the.wait(key)).to.include({ code: 'no_destination' });
    await updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { bsc: MERCHANTS } });
  });

  it('waits for exactly the coins that the gas wallet lacks, and plans nothing', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    gasPrice(GWEI);
    const step = await the.step(key);
    expect(step).to.include({ kind: 'wait' });
    const wait = await the.wait(key);
    expect(wait?.['needs_address']).to.equal(shown('bsc', the.gas));
    expect(await the.payouts(key)).to.deep.equal([]);
    await fund(BigInt(String(wait?.['needs_units'])) - 1n);
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(BigInt(String((await the.wait(key))?.['needs_units']))).to.equal(1n);
    await fund(1n);
    expect(await the.step(key)).to.include({ kind: 'went', state: 'planned' });
    await fund();
  });

  it('waits for cheaper gas, and for a fee that is worth it', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    gasPrice(6n * GWEI);
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'gas_price' });
    // 60,000 gas at 4.5 gwei are about 0.16 USD, and a top-up besides: more than 5 % of 5 USD.
    gasPrice((4n * GWEI * 9n) / 8n);
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'fee_too_high' });
    gasPrice(GWEI);
    expect(await the.step(key)).to.include({ kind: 'went', state: 'planned' });
  });

  it('waits where the token refuses, before any gas is spent', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    const usdt = the.chain.usdt.address;
    the.proxy.fault = ({ method, id, params }) =>
      method === 'eth_call' &&
      (params[0] as { to: string; from?: string }).to === usdt &&
      'from' in (params[0] as object)
        ? { json: { jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted: blacklisted' } } }
        : undefined;
    const step = await the.step(key);
    expect(step).to.include({ kind: 'wait' });
    expect('reason' in step && step.reason).to.include('blacklisted');
    expect(await the.wait(key)).to.include({ code: 'refuses' });
    expect(await the.payouts(key)).to.deep.equal([]);
  });

  it('says that no signer is there, and is told to a person once it has waited long', async () => {
    gasPrice(GWEI);
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isWait);
    expect(await the.wait(key)).to.include({ code: 'signer_away' });
    the.clock.aheadMs += the.deps.settings.stuckAfterMs + 1_000;
    expect(await the.step(key)).to.include({ kind: 'wait', stuck: true });
    expect(await the.step(key, true)).to.include({ kind: 'wait', stuck: false });
    expect((await the.wait(key))?.['alarmed_at']).to.not.equal(null);
  });

  it('goes nowhere but to the withdraw address of this moment', async () => {
    gasPrice(GWEI);
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isWait);
    await updateMerchant(the.deps, {
      merchantId: the.api.merchant.id,
      withdraw: { bsc: shown('bsc', ELSEWHERE) },
    });
    await the.signer.start();
    await the.settle(key);
    expect((await the.payouts(key)).map(({ state }) => state)).to.deep.equal(['cancelled', 'settled']);
    expect(await the.tokensOf(ELSEWHERE)).to.equal(5n * USDT);
    expect(await the.tokensOf(DESTINATION)).to.equal(0n);
  });

  it('touches no address that sent what nobody signed here', async () => {
    gasPrice(GWEI);
    const key = await the.paid(['USDT', 6n * USDT]);
    const { Wallet } = await import('ethers');
    await the.chain.send({ to: `0x${key}`, valueUnits: 10n ** 16n });
    await the.chain.mine();
    const thief = new Wallet(`0x${ownKey('bsc', key)}`);
    const raw = await thief.signTransaction({
      chainId: 56,
      nonce: 0,
      gasPrice: 5n * GWEI,
      gasLimit: 100_000n,
      to: the.chain.usdt.address,
      data: the.chain.usdt.data('transfer', [thief.address.replace(/..$/, '00').toLowerCase(), USDT]),
    });
    await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await the.finish();
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'foreign_use' });
    await the.rows(
      "update sent_transactions set decided_at = now(), decided_by = 'x', decided_reason = 'x' where state = 'foreign'",
    );
    expect(await the.step(key)).to.include({ kind: 'wait' });
    expect(await the.wait(key)).to.include({ code: 'address_short' });
    expect(await the.payouts(key)).to.deep.equal([]);
  });
});
