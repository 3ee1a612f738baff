import { expect } from 'chai';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { isSent } from './steps.ts';
import { MERCHANT_KEY, startTronSettleStage, TRX, type TronSettleStage } from './tron-stage.ts';

const UNITS = 50n * TRX;
const RESEND_MS = 31_000;
/** Longer than anything that is signed can land. */
const PAST_ITS_TIME_MS = 12 * 60_000;
const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const says =
  (words: string) =>
  (step: SettlementStep): boolean =>
    step.kind === 'wait' && step.reason.includes(words);

/** What a node says of a broadcast, whatever it does with it. */
const SAYS: Readonly<Record<string, object>> = {
  'that it has taken it': { result: true },
  'that it has it already': { code: 'DUP_TRANSACTION_ERROR', message: hexOf('Dup transaction.') },
  'that its time is over': { code: 'TRANSACTION_EXPIRATION_ERROR', message: hexOf('Transaction expired') },
  'that it is busy': { code: 'SERVER_BUSY', message: hexOf('Server busy.') },
};

/** Answers of nodes that prove nothing, as a real node was seen to give them. */
describe('what nodes of Tron say of a payout', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startTronSettleStage({ others: 1 });
    // From now on the destination is an account, and costs no coin.
    await the.node.pay({ to: MERCHANT_KEY, currency: 'TRX', units: TRX });
    await the.finish();
  });
  after(() => the?.stop());
  afterEach(() => everywhere(undefined));

  const everywhere = (fault: TronFault | undefined): void => {
    for (const endpoint of [the.endpoint, ...the.others]) endpoint.fault = fault;
  };
  const states = async (key: AddressKey): Promise<unknown[]> =>
    (await the.payouts(key)).map(({ state }) => state);
  const sent = async (key: AddressKey): Promise<unknown[]> => (await the.sent(key)).map(({ state }) => state);
  const paid = async (act: () => Promise<unknown>): Promise<bigint> => {
    const had = await the.coinsOf(MERCHANT_KEY);
    await act();
    return (await the.coinsOf(MERCHANT_KEY)) - had;
  };

  for (const [what, answer] of Object.entries(SAYS))
    it(`counts for nothing where they say ${what}: it is paid once, whether they took it or not`, async () => {
      let takes = true;
      everywhere(async ({ path }, ask) => {
        if (!path.endsWith('/broadcasthex')) return undefined;
        if (takes) await ask();
        return { json: answer };
      });
      const taken = await the.paid(['TRX', UNITS]);
      expect(await paid(() => the.settle(taken))).to.equal(UNITS);
      expect(await sent(taken)).to.deep.equal(['final']);

      takes = false;
      const lost = await the.paid(['TRX', UNITS]);
      expect(await paid(() => the.settle(lost, says('no block has it yet')))).to.equal(0n);
      expect(await states(lost)).to.deep.equal(['paying']);
      everywhere(undefined);
      the.clock.aheadMs += RESEND_MS;
      expect(await paid(() => the.settle(lost))).to.equal(UNITS);
      expect(await states(lost)).to.deep.equal(['settled']);
      expect(await sent(lost)).to.deep.equal(['final']);
    });

  it('is not believed of what is in no block yet, although they show it as done and the coins as gone', async () => {
    const key = await the.paid(['TRX', UNITS]);
    await the.settle(key, isSent);
    const [row] = await the.sent(key);
    const shown = await the.node.ask('wallet/gettransactionbyid', { value: row?.['hash'] });
    expect(shown).to.have.nested.property('ret[0].contractRet', 'SUCCESS');
    expect(await the.coinsOf(key)).to.equal(0n);
    for (let looks = 0; looks < 3; looks += 1) {
      await the.catchUp();
      expect(await the.step(key)).to.include({ kind: 'wait' });
    }
    expect(await states(key)).to.deep.equal(['paying']);
    expect((await the.deposits(key)).map(({ status }) => status)).to.deep.equal(['completed']);
    await the.settle(key);
    expect(await states(key)).to.deep.equal(['settled']);
  });

  it('is no end of what has landed, where it is sent again after its time before our own reading shows it', async () => {
    const key = await the.paid(['TRX', UNITS]);
    const got = await paid(async () => {
      await the.settle(key, isSent);
      await the.node.mine();
      const { timestampMs } = the.node.head().header;
      const nowMs = the.deps.now().getTime();
      the.clock.aheadMs += Math.max(0, timestampMs - nowMs) + PAST_ITS_TIME_MS;
      await the.node.mine(1, Math.max(nowMs, timestampMs) + PAST_ITS_TIME_MS - timestampMs);
      const [row] = await the.sent(key);
      const again = await the.node.ask('wallet/broadcasthex', {
        transaction: Buffer.from(row?.['raw'] as Buffer).toString('hex'),
      });
      expect(again).to.include({ code: 'TRANSACTION_EXPIRATION_ERROR' });
      for (let looks = 0; looks < 3; looks += 1) await the.step(key);
      expect(await states(key)).to.deep.equal(['paying']);
      await the.settle(key);
    });
    expect(got).to.equal(UNITS);
    expect(await states(key)).to.deep.equal(['settled']);
    expect(await sent(key)).to.deep.equal(['final']);
  });

  it('leaves the books and the chain in agreement', async () => {
    await the.finish();
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
