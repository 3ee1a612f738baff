import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { acceptForeign } from '../../../../src/services/payouts/foreign.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { GWEI, MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';
import { says } from './steps.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const MINUTE = 61_000;
const ELSEWHERE = 'c0'.repeat(20);

describe('a payout that something stands in the way of', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());
  afterEach(() => {
    the.proxy.fault = undefined;
  });
  const isPaying = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'paying';
  const gasPrice = (wei: bigint): void => {
    the.proxy.fault = ({ method, id }) =>
      method === 'eth_gasPrice'
        ? { json: { jsonrpc: '2.0', id, result: `0x${wei.toString(16)}` } }
        : undefined;
  };
  /** It waits with this code; when what stood in the way is gone, the destination gets it once. */
  const goesOn = async (key: AddressKey, units: bigint, code: string, away: () => Promise<void> | void) => {
    expect(await the.wait(key)).to.include({ code });
    const had = await the.tokensOf(DESTINATION);
    await away();
    await the.settle(key);
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(units);
    expect((await the.payouts(key)).map(({ state }) => state).at(-1)).to.equal('settled');
    expect(await the.wait(key)).to.equal(undefined);
  };

  it('waits for cheaper gas before it is planned, and goes on by itself', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    gasPrice(6n * GWEI);
    await the.settle(key, says('goes by itself once gas is cheaper'));
    expect(await the.payouts(key)).to.deep.equal([]);
    await goesOn(key, 5n * USDT, 'gas_price', () => gasPrice(GWEI));
  });

  it('waits for cheaper gas with its coins on the address, and needs no further ones', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, (step) => step.kind === 'went' && step.note.endsWith(': sent'));
    gasPrice(6n * GWEI);
    await the.settle(key, says('goes by itself once gas is cheaper'));
    await goesOn(key, 5n * USDT, 'gas_price', () => gasPrice(GWEI));
    expect((await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas final',
      'payout final',
    ]);
  });

  it('is not outbid above the cap: what was signed is sent on until it is mined', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isPaying);
    the.proxy.fault = ({ method, id }) => {
      if (method === 'eth_gasPrice') return { json: { jsonrpc: '2.0', id, result: '0x2540be400' } };
      return method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined;
    };
    await the.settle(key, says('no block has it yet'));
    await the.outbids(key, 'cannot be replaced');
    await goesOn(key, 5n * USDT, 'on_its_way', () => {
      gasPrice(10n * GWEI);
      the.clock.aheadMs += MINUTE;
    });
    expect((await the.sent(key)).map(({ attempt }) => attempt)).to.deep.equal([1, 1]);
  });

  for (const [when, until] of [
    ['before it is planned', undefined],
    ['with its coins on the address', says(': sent')],
  ] as const)
    it(`waits ${when} where the token itself refuses, before anything is spent on it`, async () => {
      const key = await the.paid(['USDT', 5n * USDT]);
      if (until) await the.settle(key, until);
      const { usdt, anvil } = the.chain;
      const code = await anvil.rpc('eth_getCode', [usdt.address, 'latest']);
      await anvil.rpc('anvil_setCode', [`0x${ELSEWHERE}`, code]);
      await anvil.rpc('anvil_setCode', [usdt.address, refusing(ELSEWHERE)]);
      await the.settle(key, says('the token refuses the transfer'));
      const sent = (await the.sent(key)).filter(({ purpose }) => purpose === 'payout');
      expect(sent).to.deep.equal([]);
      await goesOn(key, 5n * USDT, 'refuses', async () => {
        await anvil.rpc('anvil_setCode', [usdt.address, code]);
      });
    });

  it('has no gas wallet that somebody else has used, until an operator has accepted that', async () => {
    const key = await the.paid(['USDT', 5n * USDT]);
    const thief = `0x${the.gas}`;
    await the.chain.anvil.rpc('anvil_impersonateAccount', [thief]);
    const hash = await the.chain.send({
      from: thief,
      to: `0x${'ee'.repeat(20)}`,
      valueUnits: 10n ** 15n,
    });
    await the.finish();
    await the.settle(key, says('which nobody signed here'));
    expect((await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`)).to.deep.equal([
      'gas asked',
    ]);
    await goesOn(key, 5n * USDT, 'refused', async () => {
      await acceptForeign(the.deps, { network: 'bsc', hash, by: 'Ann', reason: 'it was me' });
    });
  });
});

/** Code that undoes every transfer, and leaves all else to the code at another address. */
function refusing(elsewhere: string): string {
  const isTransfer = '5f3560e01c63a9059cbb14603b57';
  const asBefore = `365f5f375f5f365f73${elsewhere}5af43d5f5f3e6037573d5ffd5b3d5ff3`;
  return `0x${isTransfer}${asBefore}5b5f5ffd`;
}
