import { expect } from 'chai';
import { Transaction } from 'ethers';
import { eventually } from '../../../../dev/support/eventually.ts';
import { createCustomer } from '../../../../dev/support/use-cases.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { createMerchant, updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../../src/services/payouts/pauses.ts';
import { lentPage } from '../../../../src/services/repair/settlements.ts';
import { stallingBsc } from '../../../actors/support/stalling.ts';
import { shown } from '../stage.ts';
import { GWEI, MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';
import { says } from './steps.ts';

const OTHERS = keyOfHex('d5'.repeat(20));
const UNITS = 10n * USDT;

describe('the places of a wallet on BNB Chain', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1 });
  });
  after(() => the?.stop());
  afterEach(() => the.everywhere(undefined));

  /** A customer's address of another merchant, on which so much was paid. */
  const paidToOther = async (): Promise<AddressKey> => {
    const withdraw = { bsc: shown('bsc', OTHERS) };
    const { merchantId } = await createMerchant(the.deps, { name: 'B', subscriptionActive: true, withdraw });
    const names = { externalId: 'b1', email: null, name: null, metadata: {} };
    const made = await createCustomer(the.deps, { merchantId, mode: 'live', ...names });
    const key = keyOfHex(String(made.addresses.find(({ network }) => network === 'bsc')?.address), 2);
    await the.pay(key, ['USDT', UNITS]);
    return key;
  };
  const later = async (ms: number): Promise<void> => {
    the.clock.aheadMs += ms;
    await the.rows('update signer_state set seen_at = ?', [the.deps.now()]);
  };

  it('keep nobody waiting behind a merchant who is paused and has another withdraw address by now', async () => {
    let [told, least] = [GWEI, 0n];
    const answer = (id: unknown, more: object) => ({ json: { jsonrpc: '2.0', id, ...more } });
    the.everywhere(({ method, id, params }) => {
      if (method === 'eth_gasPrice') return answer(id, { result: `0x${told.toString(16)}` });
      const price = method === 'eth_sendRawTransaction' && Transaction.from(String(params[0])).gasPrice;
      if (price === false || price === null || price >= least) return undefined;
      return answer(id, { error: { code: -32000, message: 'transaction underpriced' } });
    });
    const [first, second] = [await the.paid(['USDT', UNITS]), await paidToOther()];
    least = 2n * GWEI;
    await the.settle(first, says('no block has them yet'));
    told = 4n * GWEI;
    await the.settle(second, says('no block has them yet'));
    await updateMerchant(the.deps, {
      merchantId: the.api.merchant.id,
      withdraw: { bsc: shown('bsc', keyOfHex('d6'.repeat(20))) },
    });
    await setPaused(the.deps, { merchantId: the.api.merchant.id, paused: true });
    await eventually('the other merchant is paid', async () => {
      for (const key of [first, second]) await the.step(key);
      await the.wallets();
      await the.finish();
      await later(9_000);
      return (await the.tokensOf(OTHERS)) === UNITS ? true : undefined;
    });
    await setPaused(the.deps, { merchantId: the.api.merchant.id, paused: false });
    await updateMerchant(the.deps, { merchantId: the.api.merchant.id, withdraw: { bsc: MERCHANTS } });
    await the.settle(first);
    await the.settle(second);
    await the.agrees();
  });

  it('are sent again where the block of a settled payout was replaced, and a person is told in time', async () => {
    const key = await the.paid(['USDT', UNITS]);
    const had = await the.tokensOf(keyOfHex(MERCHANTS.slice(2).toLowerCase()));
    const paid = async () => (await the.tokensOf(keyOfHex(MERCHANTS.slice(2).toLowerCase()))) - had;
    const ground = Number(await the.chain.mine(0));
    stallingBsc(the.chain, the.proxy).hasty();
    await the.settle(key);
    expect([await the.states(key), await paid()]).to.deep.equal([['settled'], UNITS]);
    the.everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
    );
    await the.rows('delete from outbox');
    await the.chain.reorg(Number(await the.chain.mine(0)) - ground);
    await the.chain.anvil.rpc('anvil_dropAllTransactions');
    await the.chain.mine(20);
    await eventually('the other branch', async () => {
      await the.catchUp();
      return (await the.ways(key)).every((way) => way.endsWith(' sent')) || undefined;
    });
    expect(
      await the.rows('select 1 from outbox where workflow_id = ?', [`settlement:bsc:${key}`]),
    ).to.have.length(1);
    const repaired = await rows(the.deps.orm.em.fork(), lentPage('bsc', '' as AddressKey));
    expect(repaired.map(({ addressKey }) => addressKey)).to.deep.equal([key]);
    expect(await paid()).to.equal(0n);
    await later(16_000);
    await the.settle(key, says('the block that ended it was replaced'));
    expect(await the.rows("select workflow_id from outbox where workflow_id like 'wallet:%'")).to.deep.equal([
      { workflow_id: `wallet:bsc:${the.gas}` },
    ]);
    expect((await the.wallets()).map(({ kind }) => kind)).to.include('went');
    await later(the.deps.settings.stuckAfterMs + 1_000);
    let stuck = false;
    await the.settle(key, (step) => {
      stuck ||= step.kind === 'wait' && step.stuck;
      return stuck;
    });
    // Nothing else is paid out of it meanwhile.
    await the.pay(key, ['USDT', UNITS]);
    await the.settle(key, says('nothing else is paid out of the address'));
    the.everywhere(undefined);
    await later(16_000);
    await the.settle(key);
    expect([await the.states(key), await paid()]).to.deep.equal([['settled', 'settled'], 2n * UNITS]);
    expect(new Set(await the.ways(key))).to.deep.equal(new Set(['gas final', 'payout final']));
    await the.agrees();
  });
});
