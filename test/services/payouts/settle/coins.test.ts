import { expect } from 'chai';
import { GWEI, MERCHANTS, type SettleStage, startFundedStage } from './stage.ts';
import { says } from './steps.ts';

const UNITS = 10n ** 17n;

describe('a payout of BNB', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ others: 1, payouts: { maxFeeBasisPoints: 500n } });
  });
  after(() => the?.stop());
  afterEach(() => the.everywhere(undefined));
  const codeIs = (code: string) => the.chain.anvil.rpc('anvil_setCode', [MERCHANTS, code]);
  const destinationHas = () => the.coinsOf(MERCHANTS.slice(2));

  const REVERTS = '0x60006000fd';
  const WRITES = '0x600160005500';
  /** Until its block the receiver has become another one, or an endpoint has said something else of it. */
  const FAILURES: readonly (readonly [string, () => unknown, () => unknown, string])[] = [
    ['whose receiver has become a contract that undoes it', () => undefined, () => codeIs(REVERTS), '0x'],
    [
      'whose receiver an endpoint has called no contract',
      async () => {
        await codeIs(WRITES);
        the.everywhere(({ method, id }) =>
          method === 'eth_getCode' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
        );
      },
      () => the.everywhere(undefined),
      WRITES,
    ],
  ];
  for (const [what, first, then, at] of FAILURES)
    it(`${what} is paid once all the same, and the operator pays what the failure burnt`, async () => {
      const [key, had] = [await the.paid(['BNB', UNITS]), await destinationHas()];
      await first();
      await the.settle(key, says(': signed'));
      await then();
      await the.step(key);
      await the.chain.mine();
      await codeIs(at);
      await the.settle(key);
      expect(await the.states(key)).to.deep.equal(['failed', 'settled']);
      expect(await the.ways(key)).to.deep.equal(['payout final', 'gas final', 'payout final']);
      const [failed, topUp] = await the.sent(key);
      expect(topUp?.['amount_units']).to.equal(failed?.['fee_units']);
      const [, paid] = await the.payouts(key);
      expect(BigInt(String(paid?.['net_units'])) + BigInt(String(paid?.['fee_units']))).to.equal(UNITS);
      expect((await destinationHas()) - had).to.equal(BigInt(String(paid?.['net_units'])));
      await codeIs('0x');
      await the.agrees();
    });

  it('to a contract gives back with the next one what it kept for its fee and did not use', async () => {
    await codeIs(WRITES);
    const key = await the.paid(['BNB', UNITS]);
    await the.settle(key);
    const reserve = await the.coinsOf(key);
    expect(reserve > 0n, String(reserve)).to.equal(true);
    await the.pay(key, ['BNB', UNITS]);
    await the.settle(key);
    const [told, taken] = [await the.payouts(key), await the.sent(key)].map((rows) =>
      rows.map(({ fee_units: fee }) => BigInt(String(fee))),
    );
    const terms = (await the.sent(key)).map((row) => row['terms'] as Record<string, string>).at(-1);
    const costs = BigInt(terms?.['gas_limit'] ?? 0) * BigInt(terms?.['gas_price'] ?? 0);
    expect(told?.[1]).to.equal(costs - reserve);
    const sum = (units: readonly bigint[] = []) => units.reduce((total, one) => total + one, 0n);
    expect(sum(told) - sum(taken)).to.equal(await the.coinsOf(key));
    await codeIs('0x');
    await the.agrees();
  });

  it('is not replaced by one that costs more of it than it may, and what is signed is sent on', async () => {
    const price = (gwei: bigint, takes: boolean) =>
      the.everywhere(({ method, id }) => {
        const answer = (result: string) => ({ json: { jsonrpc: '2.0', id, result } });
        if (method === 'eth_gasPrice') return answer(`0x${(gwei * GWEI).toString(16)}`);
        return method === 'eth_sendRawTransaction' && !takes ? answer('0x') : undefined;
      });
    const key = await the.paid(['BNB', 6n * 10n ** 14n]);
    price(1n, false);
    await the.settle(key, says('no block has it yet'));
    price(4n, false);
    the.clock.aheadMs += 61_000;
    await the.wallets();
    the.clock.aheadMs += 6_000;
    await the.wallets();
    await the.settle(
      key,
      says(/cannot be replaced: it would cost up to .* SETTLE_MAX_FEE_PERCENT allows 5.00 %/),
    );
    expect(await the.ways(key)).to.deep.equal(['payout sent']);
    price(4n, true);
    the.clock.aheadMs += 16_000;
    await the.settle(key);
    const [payout] = await the.payouts(key);
    expect(payout?.['state']).to.equal('settled');
    expect(Number(payout?.['fee_units']) / Number(payout?.['gross_units'])).to.be.below(0.05);
  });
});
