import { expect } from 'chai';
import { HDNodeWallet, Wallet } from 'ethers';
import { eventually } from '../../../../dev/support/eventually.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { acceptForeign, denyForeign } from '../../../../src/services/payouts/foreign.ts';
import { setPaused } from '../../../../src/services/payouts/pauses.ts';
import { OWN_PHRASE, ownKey } from '../../watcher/test-watcher.ts';
import { shown } from '../stage.ts';
import { GWEI, MERCHANTS, type SettleStage, startSettleStage, USDT } from './stage.ts';
import { isPaying, isSent, says } from './steps.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
const ELSEWHERE = keyOfHex('d2'.repeat(20));

describe('paying out on BNB Chain', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    const minUnits = new Map([['USDT.bsc', 5n * USDT]]);
    the = await startSettleStage({ payouts: { minUnits, maxFeeBasisPoints: 500n }, signs: false });
  });
  after(() => the?.stop());
  afterEach(() => gasPrice(GWEI));
  const fund = async (units: bigint): Promise<void> => {
    await the.chain.send({ to: `0x${the.gas}`, valueUnits: units });
    await the.finish();
  };
  const gasPrice = (wei: bigint): void => {
    the.proxy.fault = ({ method, id }) =>
      method === 'eth_gasPrice'
        ? { json: { jsonrpc: '2.0', id, result: `0x${wei.toString(16)}` } }
        : undefined;
  };
  const withdraw = (bsc: string | null) =>
    updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { bsc } });
  const waits = async (key: AddressKey, kind: 'rest' | 'wait', code: string) => {
    expect(await the.step(key)).to.include({ kind });
    expect(await the.wait(key)).to.include({ code });
  };

  it('rests below the minimum or without a withdraw address, says so, and goes with the next deposit', async () => {
    const key = await the.paid(['USDT', 2n * USDT]);
    await waits(key, 'rest', 'below_minimum');
    await the.pay(key, ['USDT', 3n * USDT]);
    await withdraw(null);
    await waits(key, 'rest', 'no_destination');
    await withdraw(MERCHANTS);
    await waits(key, 'wait', 'waiting_for_gas');
  });

  it('waits for exactly the coins that the gas wallet lacks, and plans nothing', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    gasPrice(GWEI);
    await waits(key, 'wait', 'waiting_for_gas');
    const wait = await the.wait(key);
    expect(wait?.['needs_address']).to.equal(shown('bsc', the.gas));
    expect(await the.payouts(key)).to.deep.equal([]);
    await fund(BigInt(String(wait?.['needs_units'])) - 1n);
    await waits(key, 'wait', 'waiting_for_gas');
    expect(BigInt(String((await the.wait(key))?.['needs_units']))).to.equal(1n);
    await fund(1n);
    expect(await the.step(key)).to.include({ kind: 'went', state: 'planned' });
    await fund(10n ** 18n);
  });

  it('waits for cheaper gas, and for a fee that is worth it; then for a signer, of which a person is told in time', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    gasPrice(6n * GWEI);
    await waits(key, 'wait', 'gas_price');
    // 60,000 gas at 4.5 gwei are about 0.16 USD, and a top-up besides: more than 5 % of 5 USD.
    gasPrice((4n * GWEI * 9n) / 8n);
    await waits(key, 'wait', 'fee_too_high');
    expect(await the.payouts(key)).to.deep.equal([]);
    gasPrice(GWEI);
    await the.settle(key, ({ kind }) => kind === 'wait');
    expect(await the.wait(key)).to.include({ code: 'signer_away' });
    the.clock.aheadMs += the.deps.settings.stuckAfterMs + 1_000;
    expect(await the.step(key)).to.include({ kind: 'wait', stuck: true });
    expect(await the.step(key, true)).to.include({ kind: 'wait', stuck: false });
    expect((await the.wait(key))?.['alarmed_at']).to.not.equal(null);
  });

  it('goes nowhere but to the withdraw address of this moment', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, ({ kind }) => kind === 'wait');
    await withdraw(shown('bsc', ELSEWHERE));
    await the.signer.start();
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['cancelled', 'settled']);
    expect([await the.tokensOf(ELSEWHERE), await the.tokensOf(DESTINATION)]).to.deep.equal([5n * USDT, 0n]);
    await withdraw(MERCHANTS);
  });

  it('pays tokens out once, with gas from the gas wallet, and settles every deposit', async () => {
    const key = await the.paid(['USDT', 10n * USDT], ['USDT', 5n * USDT + 1n]);
    const had = await the.tokensOf(DESTINATION);
    await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(15n * USDT + 1n);
    expect(await the.tokensOf(key)).to.equal(0n);
    expect(
      (await the.depositsOf(key)).map(({ status, settled_units: units }) => [status, BigInt(String(units))]),
    ).to.deep.equal([
      ['settled', 10n * USDT],
      ['settled', 5n * USDT + 1n],
    ]);
    expect(await the.ways(key)).to.deep.equal(['gas final', 'payout final']);
    const fees = (await the.sent(key)).reduce((sum, { fee_units: fee }) => sum + BigInt(String(fee)), 0n);
    const [payout, ...others] = await the.payouts(key);
    expect(others).to.deep.equal([]);
    expect(payout).to.include({ state: 'settled', fee_units: fees.toString() });
  });

  it('pays an address that was paid out a moment ago later, and what is a hundred times the least at once', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key);
    Object.assign(the.deps.settings.payouts, { everyMs: 600_000 });
    await the.pay(key, ['USDT', 5n * USDT]);
    await waits(key, 'wait', 'paid_lately');
    await the.pay(key, ['USDT', 495n * USDT]);
    await the.settle(key);
    await the.pay(key, ['USDT', 5n * USDT]);
    await waits(key, 'wait', 'paid_lately');
    the.clock.aheadMs += 600_000;
    await the.rows('update signer_state set seen_at = ?', [the.deps.now()]);
    await the.settle(key);
    const paid = (await the.payouts(key)).map(({ gross_units: units }) => BigInt(String(units)) / USDT);
    expect(paid).to.deep.equal([5n, 500n, 5n]);
    Object.assign(the.deps.settings.payouts, { everyMs: 0 });
  });

  it('pays coins out to the unit, less their own fee, and takes no gas for tokens from them', async () => {
    const key = await the.paid(['BNB', 10n ** 17n], ['BNB', 3n], ['USDT', 5n * USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.state === 'settled');
    const left = await the.coinsOf(key);
    expect(left >= 10n ** 17n + 3n, String(left)).to.equal(true);
    const had = await the.coinsOf(DESTINATION);
    await the.settle(key);
    const [tokens, coins] = await the.payouts(key);
    expect(tokens).to.include({ currency: 'USDT', state: 'settled' });
    expect(coins).to.include({ currency: 'BNB', state: 'settled' });
    const net = BigInt(String(coins?.['net_units']));
    expect((await the.coinsOf(DESTINATION)) - had).to.equal(net);
    expect(net + BigInt(String(coins?.['fee_units']))).to.equal(10n ** 17n + 3n);
    expect((await the.depositsOf(key)).map(({ status }) => status)).to.deep.equal(Array(3).fill('settled'));
  });

  it('is told when a block that holds its transaction is final, and not by any other block', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isSent);
    const told = async () =>
      await the.rows('delete from outbox where workflow_id = ? returning id', [`settlement:bsc:${key}`]);
    await told();
    await the.finish();
    expect(await told()).to.have.length(1);
    await the.finish();
    expect(await told()).to.have.length(0);
    await the.settle(key);
  });

  /** It waits with this code; when what stood in the way is gone, the destination gets it once. */
  const goesOn = async (key: AddressKey, code: string, away: () => unknown) => {
    expect(await the.wait(key)).to.include({ code });
    const had = await the.tokensOf(DESTINATION);
    await away();
    await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(5n * USDT);
    expect((await the.states(key)).at(-1)).to.equal('settled');
    expect(await the.wait(key)).to.equal(undefined);
  };

  it('has no gas wallet that somebody else has used, until an operator has accepted that', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    const nonce = Number(await the.chain.anvil.rpc('eth_getTransactionCount', [`0x${the.gas}`, 'latest']));
    const spends = { chainId: 56, nonce, gasPrice: 5n * GWEI, gasLimit: 21_000n };
    const raw = await HDNodeWallet.fromPhrase(OWN_PHRASE, '', "m/44'/60'/2'/0/0").signTransaction({
      ...spends,
      to: `0x${'ee'.repeat(20)}`,
      value: 10n ** 15n,
    });
    const hash = String(await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]));
    await the.finish();
    await the.settle(key, says('which nobody signed here'));
    expect(await the.ways(key)).to.deep.equal(['gas asked']);
    expect(await denied(hash)).to.match(/is shown with 0x.* by 1 and denied by 0: .*"payout accept"/);
    await goesOn(key, 'refused', () =>
      acceptForeign(the.deps, { network: 'bsc', hash, by: 'Ann', reason: 'it was me' }),
    );
  });

  const denied = (hash: string): Promise<unknown> => {
    const { spending } = the.watchedChain;
    const actor = { kind: 'operator', name: 'Ann', from: null } as const;
    const { signal } = new AbortController();
    const what = { network: 'bsc', hash, reason: 'no explorer has it' } as const;
    return denyForeign({ ...the.deps, actor }, { spending, signal }, what).catch(
      (error: Error) => error.message,
    );
  };

  it('goes on where somebody wrote what a wallet never sent, once endpoints and an operator deny it', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    const hash = `0x${'f0'.repeat(32)}`;
    await the.rows(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, block_number,
         block_hash, ok, fee_units, moves, created_at, updated_at)
       values (gen_random_uuid(), 'bsc', ?, 'foreign', ?, ?, 900000, 1, 'x', true, 1, '[]', now(), now()) returning id`,
      [hash, the.signer.gas.bsc, the.gas],
    );
    await the.settle(key, says('which nobody signed here'));
    the.proxy.fault = () => 'reset';
    expect(await denied(hash)).to.match(/denied by 0: .* see that they answer/);
    the.proxy.fault = undefined;
    await goesOn(key, 'refused', async () =>
      expect(await denied(hash)).to.deep.equal({ wallets: [the.signer.gas.bsc] }),
    );
    expect(await denied(hash)).to.match(/^no wallet of ours is known to have sent/);
    const actions = "select subject, by_name, reason from operator_actions where action = 'payout.deny'";
    expect(await the.rows(actions)).to.deep.equal([
      { subject: hash, by_name: 'Ann', reason: 'no explorer has it' },
    ]);
  });

  it('touches no address that sent what nobody signed here', async () => {
    const key = await the.paid(['USDT', 6n * USDT]);
    await the.chain.send({ to: `0x${key}`, valueUnits: 10n ** 16n });
    await the.chain.mine();
    const raw = await new Wallet(`0x${ownKey('bsc', key)}`).signTransaction({
      chainId: 56,
      nonce: 0,
      gasPrice: 5n * GWEI,
      gasLimit: 100_000n,
      to: the.chain.usdt.address,
      data: the.chain.usdt.data('transfer', [`0x${'77'.repeat(20)}`, USDT]),
    });
    await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await the.finish();
    await waits(key, 'wait', 'foreign_use');
    await the.rows(
      "update sent_transactions set decided_at = now(), decided_by = 'x', decided_reason = 'x' where state = 'foreign'",
    );
    await waits(key, 'wait', 'address_short');
    expect(await the.payouts(key)).to.deep.equal([]);
  });

  it('is not planned, asked for or signed while payouts are paused, and goes on where it was signed before', async () => {
    const pause = (paused: boolean) => setPaused(the.deps, { merchantId: null, paused });
    const [planned, asked, signed] = [
      await the.paid(['USDT', 5n * USDT]),
      await the.paid(['USDT', 6n * USDT]),
      await the.paid(['BNB', 10n ** 17n]),
    ];
    await the.settle(signed, isPaying);
    await the.signer.stop();
    for (const key of [planned, asked])
      expect(await the.step(key)).to.include({ kind: 'went', state: 'planned' });
    // As where the signer has refused it before, and it is not asked for again yet.
    await the.rows(
      "update sent_transactions set state = 'dead', refused = 'terms: x' where to_key = ? returning id",
      [planned],
    );
    await pause(true);
    await the.signer.start();
    const fresh = await the.paid(['USDT', 7n * USDT]);
    await waits(fresh, 'rest', 'paused');
    expect((await the.wait(fresh))?.['reason']).to.match(
      /all payouts are paused by .* since .*"payout resume"/,
    );
    await waits(planned, 'wait', 'paused');
    await eventually('the refusal', async () =>
      String((await the.sent(asked))[0]?.['refused']).startsWith('paused: '),
    );
    await waits(asked, 'wait', 'paused');
    expect([await the.payouts(fresh), await the.ways(planned), await the.ways(asked)]).to.deep.equal([
      [],
      ['gas dead'],
      ['gas asked'],
    ]);
    await the.settle(signed);
    expect(await the.states(signed)).to.deep.equal(['settled']);
    await pause(false);
    for (const key of [fresh, planned, asked]) {
      await the.settle(key);
      expect([await the.states(key), await the.wait(key)]).to.deep.equal([['settled'], undefined]);
    }
  });
});
