import { expect } from 'chai';
import { Transaction } from 'ethers';
import type { Spending } from '../../../../src/chains/spending.ts';
import { sendSigned } from '../../../../src/services/payouts/settle/send.ts';
import { type SignerStage, startSignerStage } from '../../../signer/pull/stage.ts';

const TOP_UPS = 23;

describe('signed bytes of a wallet with many places that no block has', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    await the.signer();
  });
  after(() => the?.stop());

  it('are sent with the lowest places, for which all others wait, and the newest attempt of each', async () => {
    const ids: string[] = [];
    for (let n = 0; n < TOP_UPS; n += 1) {
      const payout = await the.planned();
      ids.push(await the.ask(payout, { purpose: 'gas' }));
      await the.signed(ids.at(-1) ?? '');
      // Whatever became of its payout.
      await the.force("update payouts set state = 'failed', reason = 'x' where id = ?", [payout.id]);
    }
    // The transfer of a failed payout: another payout pays its deposits.
    await the.force("update sent_transactions set purpose = 'payout' where id = ?", [ids[3]]);
    const sent: number[] = [];
    const broadcast: Spending['broadcast'] = async (raw) => {
      sent.push(Transaction.from(`0x${Buffer.from(raw).toString('hex')}`).nonce);
      return [];
    };
    const spending = { resendMs: 15_000, broadcast } as Partial<Spending> as Spending;
    const signal = new AbortController().signal;
    await sendSigned(the.deps, { id: ids.at(-1) ?? '', spending, signal });
    const lowest = Array.from({ length: 21 }, (_, nonce) => nonce).filter((nonce) => nonce !== 3);
    expect(sent).to.deep.equal([...lowest, TOP_UPS - 1]);
  });
});
