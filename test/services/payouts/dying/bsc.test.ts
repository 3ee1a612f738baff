import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { rows } from '../../../../src/db/sql.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { payablePage } from '../../../../src/services/repair/settlements.ts';
import { stallingBsc } from '../../../actors/support/stalling.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { isPaying, says } from '../settle/steps.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();

describe('what a payout on BNB Chain has settled', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());

  /** An endpoint calls final what is replaced afterwards. */
  it('shows the loss in the books where finality breaks, never below nothing, and takes it back when all is mined again', async () => {
    const accounts = async (): Promise<Record<string, bigint>> => {
      const sums = await the.rows(
        "select account, sum(amount_units)::text as sum from ledger_entries where currency = 'USDT' group by account",
      );
      return Object.fromEntries(sums.map((row) => [row['account'], BigInt(String(row['sum']))]));
    };
    const UNITS = 5n * USDT;
    const ground = await the.chain.mine(0);
    stallingBsc(the.chain, the.proxy).hasty();
    const key = await the.paid(['USDT', UNITS]);
    const hash = String((await the.depositsOf(key))[0]?.['transaction_hash']);
    const raws = [String(await the.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]))];
    await the.settle(key);
    for (const row of await the.sent(key))
      raws.push(`0x${Buffer.from(row['raw'] as Buffer).toString('hex')}`);
    // All blocks above are replaced by as many empty ones, which the watcher follows.
    the.proxy.fault = undefined;
    await the.chain.reorg((await the.chain.mine(0)) - ground);
    await the.chain.mine(20);
    // A look that meets the contradiction may end there; the watcher comes again.
    await eventually('the other branch being followed', async () =>
      (await the.catchUp().catch(() => undefined)) === undefined ? undefined : true,
    );
    await the.finish();

    expect((await the.depositsOf(key))[0]).to.include({ status: 'settled', block_hash: null });
    expect(await accounts()).to.deep.include({ shortfall: -UNITS, settled: UNITS });
    expect((await accounts())['available'] ?? 0n).to.equal(0n);
    const { differences } = await auditLedger(the.deps);
    expect(differences.map(({ check, account }) => [check, account])).to.deep.equal([['payout', 'chain']]);
    const signed = (await the.sent(key)).map(({ hash: one }) => one);
    await the.step(key);
    expect(await the.step(key), 'what is signed is sent again').to.include({ kind: 'wait' });
    expect(
      (await the.sent(key)).map(({ hash: one }) => one),
      'and nothing else',
    ).to.deep.equal(signed);

    const had = await the.tokensOf(DESTINATION);
    for (const raw of raws) {
      await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
      await the.chain.mine();
    }
    await the.finish();
    expect((await the.tokensOf(DESTINATION)) - had).to.equal(UNITS);
    expect((await accounts())['shortfall'] ?? 0n).to.equal(0n);
    expect((await auditLedger(the.deps)).differences).to.deep.equal([]);
    await the.agrees();
  });

  it('is what it covers; what came meanwhile is left to its actor, or to a repair where it has none', async () => {
    /** Whether a repair would start the actor of an address that has something to pay out. */
    const isDue = async (key: AddressKey): Promise<boolean | undefined> => {
      const page = payablePage('bsc', '' as AddressKey, new Date(0));
      return (await rows(the.deps.orm.em.fork(), page)).find(({ addressKey }) => addressKey === key)?.due;
    };
    const key = await the.paid(['USDT', 5n * USDT]);
    await the.settle(key, isPaying);
    await the.pay(key, ['USDT', 3n * USDT]);
    await the.settle(key, says('paid out'));
    expect(await isDue(key)).to.equal(true);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled', 'settled']);
    expect(await isDue(key)).to.equal(undefined);
  });
});
