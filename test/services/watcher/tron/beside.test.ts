// Several workers, rescans and claims at work on the same blocks of Tron, while these are replaced and become
// final: whatever is the first, each payment is one deposit.
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../../dev/tron/contracts.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import { DecisionRefused } from '../../../../src/services/deposits/decisions.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { claimTransaction } from '../../../../src/services/reconciliation/claim.ts';
import { BranchUnclear } from '../../../../src/services/watcher/branch.ts';
import { CursorMoved } from '../../../../src/services/watcher/cursor.ts';
import { pollChain } from '../../../../src/services/watcher/poll.ts';
import { RescanStopped, rescan } from '../../../../src/services/watcher/rescan.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';
import { watchedBy } from '../test-watcher.ts';
import { advanced, states, tronStage } from './scenes.ts';

const { signal } = new AbortController();
const ROUNDS = 4;

describe('workers, rescans and claims beside each other on Tron', function () {
  this.timeout(120_000);
  const live = tronStage({ others: 1, solidDistance: 6 });
  let payer: TronContract;
  before(async () => {
    payer = await live.node.deploy(testContracts().Payer);
    await live.node.trigger({ contract: payer.key, data: '', valueSun: 1_000_000n });
    await live.finish();
  });

  const another = (): WatchedChain =>
    watchedBy(live.newReader(), { foundLate: 0, differences: [], heights: 0 });
  const look = (chain: WatchedChain) => pollChain(live.deps, chain, signal);
  const again = (chain: WatchedChain) => {
    const to = live.node.head().header.number;
    return rescan(live.deps, chain, { from: Math.max(1, to - 12), to, signal, progress: () => undefined });
  };
  const claim = (chain: WatchedChain, txHash: string) =>
    claimTransaction(live.deps, chain, { txHash, signal });
  /** What those say that come second, too early, or while the block is being replaced. */
  const EXPECTED = [CursorMoved, RescanStopped, DecisionRefused, BranchUnclear, RpcUnavailable];
  const isExpected = (error: unknown): boolean => EXPECTED.some((one) => error instanceof one);

  it('make one deposit of each payment, and no error but that another was first', async () => {
    const chains = [live.watchedChain, another(), another(), another()];
    const [first, second, third, fourth] = chains as [WatchedChain, WatchedChain, WatchedChain, WatchedChain];
    const payments: { readonly address: AddressKey; readonly txHash: string; readonly is: string }[] = [];
    const unexpected: unknown[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const [units, address] = [BigInt(round), await live.newAddress()];
      payments.push(
        {
          address,
          txHash: await live.node.pay({ to: address, currency: 'USDT', units }),
          is: `${units} USDT`,
        },
        { address, txHash: await payer.call('payCoin', [address, units]), is: `${units} TRX` },
      );
      await live.node.mine(2);
      const hashes = payments.slice(-6).map(({ txHash }) => txHash);
      const done = await Promise.allSettled([
        look(first),
        look(second),
        again(third),
        again(fourth),
        ...hashes.flatMap((txHash) => [claim(third, txHash), claim(fourth, txHash.toUpperCase())]),
        // Under their hands.
        ...(round % 3 === 0 ? [live.node.replace(2, { keep: 'moved' })] : []),
        look(second),
      ]);
      for (const one of done)
        if (one.status === 'rejected' && !isExpected(one.reason)) unexpected.push(one.reason);
      live.later(61_000);
    }
    expect(unexpected).to.deep.equal([]);
    await live.tryToCatchUp();
    await live.finish();
    await live.node.mine(25);
    await live.catchUp();
    for (const { address, txHash, is } of payments) {
      const rows = (await live.deposits(address)).filter((row) => row['transaction_hash'] === txHash);
      expect(states(rows), `${is} by ${txHash}`).to.deep.equal([`${is} verified`]);
    }
    for (const address of new Set(payments.map((one) => one.address)))
      expect(await advanced(live, address)).to.deep.equal(['completed', 'completed']);
    const { total, differences } = await auditLedger(live.deps);
    expect(differences, `${total} differences`).to.deep.equal([]);
  });
});
