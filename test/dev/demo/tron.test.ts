import { expect } from 'chai';
import { startDemoTron } from '../../../dev/demo/tron.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { ALICE, ask } from '../tron/asking.ts';

describe('the Tron of the demo', function () {
  this.timeout(60_000);

  it('pays what it is told to, under the hash that it names, and a gateway can be set up for it', async () => {
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(text);
    const chain = await startDemoTron(await tempDir(), { line, stage: line, step: (_, work) => work() });
    try {
      const { tron } = loadConfig({ ...chain.env }).chains;
      expect([tron.enabled, tron.usdtContract, tron.confirmations]).to.deep.equal([
        true,
        chain.env['TRON_USDT_CONTRACT'],
        19,
      ]);
      expect(lines.join('\n')).to.match(/shortened: a block every 0\.5 s instead of 3 s/);

      const to = TRON_ADDRESSES.format(ALICE);
      const [tokens, coins] = [
        await chain.pay({ to, currency: 'USDT', amount: '18.75' }),
        await chain.pay({ to, currency: 'TRX', amount: '64.000001' }),
      ];
      const final = String(chain.env['TRON_SOLIDITY_URLS']);
      const infoOf = async (value: string) => {
        const info = await ask(final, 'walletsolidity/gettransactioninfobyid', { value });
        return info.id === value ? info : undefined;
      };
      const info = await eventually('the transfer of tokens is final', () => infoOf(tokens));
      expect(info.receipt.result).to.equal('SUCCESS');
      expect(BigInt(`0x${info.log[0].data}`)).to.equal(18_750_000n);
      await eventually('the transfer of coins is final', () => infoOf(coins));
      const account = await ask(final, 'walletsolidity/getaccount', { address: `41${ALICE}` });
      expect(account.balance).to.equal(64_000_001);
    } finally {
      await chain.stop();
    }
  });
});
