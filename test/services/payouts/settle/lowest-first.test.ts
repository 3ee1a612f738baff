import { expect } from 'chai';
import { Transaction } from 'ethers';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { OutboxMessage } from '../../../../src/db/entities/index.ts';
import { wakeWallet } from '../../../../src/services/payouts/wakes.ts';
import { advanceWallet } from '../../../../src/services/payouts/wallet.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';
import { type SignerStage, startSignerStage } from '../../../signer/pull/stage.ts';

const TOP_UPS = 23;

describe('a wallet with many signed transactions that no block has', function () {
  this.timeout(120_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    await the.signer();
  });
  after(() => the?.stop());

  it('sends those with the lowest nonces first, for which all others wait', async () => {
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
    const spending = { resendMs: 15_000, outbidMs: 60_000, broadcast } as Partial<Spending> as Spending;
    const chains = new Map([['bsc', { spending } as Partial<WatchedChain> as WatchedChain]]);
    const input = { network: 'bsc', addressKey: keyOfHex(String(the.gas.bsc), 2), alarmed: false } as const;
    const at = new Date();
    const look = () => advanceWallet({ ...the.deps, now: () => at, chains }, input);
    expect(await look()).to.deep.equal({
      kind: 'went',
      note: 'sent 20 of 22 that are in no block',
      late: false,
    });
    const numbers = Array.from({ length: TOP_UPS }, (_, nonce) => nonce).filter((nonce) => nonce !== 3);
    expect(sent).to.deep.equal(numbers.slice(0, 20));
    await look();
    expect(sent).to.deep.equal(numbers);
    expect(await look()).to.include({ kind: 'wait', stuck: false });
    // Of the thousands that may wait for it, the first one wakes its actor, and the others once that is gone.
    const woken = async (sentId: string | undefined, aheadMs = 0): Promise<number> => {
      const [em, now] = [the.deps.orm.em.fork(), () => new Date(Date.now() + aheadMs)];
      await wakeWallet(em, { now }, { sentId: sentId ?? '', resendMs: 15_000 });
      return await em.count(OutboxMessage, { workflowId: { $like: 'wallet:%' } });
    };
    const last = ids.at(-1);
    expect([await woken(last), await woken(ids[0]), await woken(last, 60_000)]).to.deep.equal([0, 1, 2]);
  });
});
