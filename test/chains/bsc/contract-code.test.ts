import { expect } from 'chai';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { hasCodeOver } from '../../../src/chains/bsc/contract-code.ts';
import { bscScene, STRANGER, signal } from '../bsc-scene.ts';
import { failureOf } from '../conformance/scene.ts';

describe('whether code runs at an address', () => {
  const the = bscScene();
  const ask = (hex: string) => hasCodeOver(the.poolOf())(keyOfHex(hex, 2), signal);

  it('is what an endpoint says of it, and no answer where it gives none', async () => {
    expect([await ask(the.chain.usdt.address), await ask(STRANGER)]).to.deep.equal([true, false]);
    for (const [result, isContract] of [
      [`0xef0100${'ab'.repeat(20)}`, false],
      [`0xEF0100${'AB'.repeat(20)}`, false],
      [`0xef0100${'ab'.repeat(21)}`, true],
      [`0xef0101${'ab'.repeat(20)}`, true],
    ] as const) {
      for (const proxy of the.proxies)
        proxy.fault = ({ method, id }) => (method === 'eth_getCode' ? { json: { id, result } } : undefined);
      expect(await ask(STRANGER), result).to.equal(isContract);
    }
    for (const result of ['', null, 7, '0x1', {}, 'code']) {
      for (const proxy of the.proxies)
        proxy.fault = ({ method, id }) => (method === 'eth_getCode' ? { json: { id, result } } : undefined);
      expect((await failureOf(ask(STRANGER))) as Error, String(result))
        .to.have.property('name')
        .that.matches(/Unavailable|Failure/);
    }
  });
});
