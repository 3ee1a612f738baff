import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas-wallets.ts';
import { gasWalletOf } from '../../../../src/services/payouts/settle/coins.ts';
import { holdStep } from '../../../../src/services/payouts/settle/living.ts';
import { shown } from '../stage.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';
import { isPaid, isSent, says } from './steps.ts';

const hostOf = ({ url }: { readonly url: string }): string => new URL(url).host;

describe('a payout at the worst of moments', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(async () => {
    everywhere(undefined);
    await the.signer.stop();
    await the.signer.start();
  });
  const everywhere = (fault: SettleStage['proxy']['fault']): void => the.everywhere(fault);
  const nobodyTakesIt = (): void =>
    everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction'
        ? { json: { jsonrpc: '2.0', id, error: { code: -32000, message: 'nonce too low' } } }
        : undefined,
    );
  const states = async (key: AddressKey): Promise<unknown[]> =>
    (await the.payouts(key)).map(({ state }) => state);
  const sent = async (key: AddressKey, purpose: string) =>
    (await the.sent(key)).filter((row) => row['purpose'] === purpose);

  /** Its transfer is signed, and no node takes what is sent from then on. */
  const signedFor = async (key: AddressKey): Promise<void> => {
    await the.settle(key, says(': signed'));
    nobodyTakesIt();
  };
  /** The first attempt reaches a block nevertheless. */
  const lands = async (key: AddressKey): Promise<void> => {
    const [first] = (await sent(key, 'payout')).filter(({ attempt }) => attempt === 1);
    const raw = Buffer.from((first?.['raw'] ?? '') as Buffer).toString('hex');
    await the.chain.anvil.rpc('eth_sendRawTransaction', [`0x${raw}`]);
    await the.chain.mine();
  };

  it('fails although another attempt was asked for, which the signer refuses', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await signedFor(key);
    await the.settle(key, isPaid);
    await the.signer.stop();
    await the.outbids(key);
    await the.rows("update sent_transactions set refused = 'new_destination: wait' where state = 'asked'");
    const { usdt, anvil } = the.chain;
    const code = await anvil.rpc('eth_getCode', [usdt.address, 'latest']);
    await anvil.rpc('anvil_setCode', [usdt.address, '0x60006000fd']);
    await lands(key);
    await anvil.rpc('anvil_setCode', [usdt.address, code]);
    everywhere(undefined);
    await the.settle(key, says('failed on the chain'));
    await the.signer.start();
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['failed', 'settled']);
    expect(await the.tokensOf(key)).to.equal(0n);
  });

  it('does not fail by the word of blocks alone that somebody else took its place', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await signedFor(key);
    await the.settle(key, isPaid);
    const [payout] = await sent(key, 'payout');
    const hash = 'ee'.repeat(32);
    await the.rows(
      `insert into sent_transactions (id, network, hash, state, from_address, from_key, nonce, block_number,
        block_hash, ok, fee_units, moves, verified_at, created_at, updated_at)
       values (?, 'bsc', ?, 'foreign', ?, ?, ?, 1, 'x', true, 1, '[]', now(), now(), now())`,
      [randomUUID(), hash, shown('bsc', key), key, payout?.['nonce']],
    );
    expect(says('took the place')(await the.step(key))).to.equal(true);
    await lands(key);
    const hosts = [the.proxy, ...the.others].map(hostOf).join(' and ');
    expect(says(`the RPC endpoints ${hosts} say that it succeeded`)(await the.step(key))).to.equal(true);
    expect(await states(key)).to.deep.equal(['paying']);
    await the.rows('delete from sent_transactions where hash = ?', [hash]);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('is told to a person where no node ever takes what is sent, however often it is outbid', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    nobodyTakesIt();
    await the.settle(key, says('no block has them yet'));
    const isTold = async (): Promise<boolean> => {
      for (let taken = 0; taken < 6; taken += 1) {
        const step = await the.step(key);
        if (step.kind === 'wait' && step.stuck) return true;
      }
      return false;
    };
    let rounds = 0;
    for (; !(await isTold()); rounds += 1) {
      expect(rounds, 'nobody is told').to.be.lessThan(200);
      // By turns it is to be sent again, and to be outbid.
      the.clock.aheadMs += rounds % 2 === 0 ? 50_000 : 11_000;
      // The signer, which is there, has not looked since by this clock.
      await the.rows('update signer_state set seen_at = ?', [the.deps.now()]);
    }
    expect(await the.wait(key)).to.include({ code: 'on_its_way' });
    expect((await the.wait(key))?.['alarmed_at']).to.not.equal(null);
    everywhere(undefined);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
    expect(await the.wait(key)).to.equal(undefined);
  });

  it('that is cancelled leaves no top-up behind that counts against the gas wallet', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    nobodyTakesIt();
    await the.settle(key, says('no block has them yet'));
    await the.outbids(key);
    const usdt = the.chain.usdt.address;
    everywhere(({ method, id, params }) =>
      method === 'eth_call' && (params[0] as { to: string }).to === usdt && 'from' in (params[0] as object)
        ? { json: { jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted: blacklisted' } } }
        : undefined,
    );
    await the.settle(key, says('blacklisted'));
    expect(await states(key)).to.deep.equal(['cancelled']);
    const topUps = (await sent(key, 'gas')).map(({ state }) => state);
    expect(topUps.toSorted()).to.deep.equal(['dead', 'final']);
    everywhere(undefined);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['cancelled', 'settled']);
    expect((await sent(key, 'gas')).length).to.equal(2);
  });

  it('is given coins again where somebody took those that it was given', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isSent);
    await the.finish();
    await the.chain.anvil.rpc('anvil_setBalance', [`0x${key}`, '0x0']);
    await the.finish();
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
    expect((await sent(key, 'gas')).map(({ state }) => state)).to.deep.equal(['final', 'final']);
  });

  it('is asked for nothing by a worker that stood still while another one asked', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isSent);
    await the.finish();
    const payoutId = String((await the.payouts(key))[0]?.['id']);
    const { resendMs, outbidMs, finalLookMs: blockLookMs } = the.spending;
    const held = (rows: number): Promise<unknown> =>
      the.deps.orm.em.fork().transactional(async (em) => {
        const step = { does: 'prepare' } as const;
        return (
          await holdStep(em, the.deps, { payoutId, step, rows, pace: { resendMs, outbidMs, blockLookMs } })
        ).id;
      });
    // The first one decided the same step before the coins were asked for.
    expect(await held(0).catch((error: Error) => error.name)).to.equal('Outdated');
    expect(await held(1)).to.equal(payoutId);
    await the.settle(key);
    expect((await sent(key, 'gas')).length).to.equal(1);
  });

  it('is told to a person where no endpoint says what it takes', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    everywhere(({ method, id }) =>
      method === 'eth_gasPrice' ? { json: { jsonrpc: '2.0', id, result: 'none' } } : undefined,
    );
    expect(says('the endpoints do not say what it takes')(await the.step(key))).to.equal(true);
    the.clock.aheadMs += the.deps.settings.stuckAfterMs;
    expect(await the.step(key)).to.include({ kind: 'wait', stuck: true });
    everywhere(undefined);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('is not settled by the word of blocks alone, where an endpoint that has read as far denies it', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isPaid);
    await the.chain.mine(20);
    await the.finish();
    const [other] = the.others;
    if (!other) throw new Error('no second endpoint');
    other.fault = ({ method, id }) =>
      method === 'eth_getTransactionReceipt' ? { json: { jsonrpc: '2.0', id, result: null } } : undefined;
    const denies = `the RPC endpoint ${hostOf(other)} says that it failed or is in no block`;
    expect(says(denies)(await the.step(key))).to.equal(true);
    // What is to be done stands at its end, and is not cut off where it is noted.
    expect((await the.wait(key))?.['reason']).to.match(/ read again with "rescan"$/);
    expect(await states(key)).to.deep.equal(['paying']);
    // One that does not answer denies nothing.
    other.fault = () => 'reset';
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('is given coins by the wallet that was told last, also where its file was put back', async () => {
    const em = the.deps.orm.em.fork();
    const tell = async (address: string): Promise<unknown> => {
      the.clock.aheadMs += 1_000;
      await publishGasWallets(the.deps, { bsc: address });
      return (await gasWalletOf(em, 'bsc'))?.address;
    };
    const other = shown('bsc', keyOfHex('ab'.repeat(20)));
    expect(await tell(other)).to.equal(other);
    expect(await tell(the.signer.gas.bsc)).to.equal(the.signer.gas.bsc);
    const told = await the.rows('select created_at from gas_wallets order by address');
    await tell(the.signer.gas.bsc);
    expect(await the.rows('select created_at from gas_wallets order by address')).to.deep.equal(told);
  });

  it('burns gas once where an endpoint understates it', async () => {
    const withdraw = (address: string): Promise<unknown> =>
      updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { bsc: address } });
    // What failed in the tests before is a day ago: nothing is tried with care.
    the.clock.aheadMs += 25 * 3_600_000;
    // A first balance takes more than the margin has room for.
    await withdraw(shown('bsc', keyOfHex('d7'.repeat(20))));
    const key = await the.paid(['USDT', 5n * USDT]);
    the.proxy.fault = ({ method, id }) =>
      method === 'eth_estimateGas' ? { json: { jsonrpc: '2.0', id, result: '0x5208' } } : undefined;
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['failed', 'settled']);
    await withdraw(MERCHANTS);
  });
});
