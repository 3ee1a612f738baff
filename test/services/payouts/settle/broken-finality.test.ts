import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { stallingBsc } from '../../../actors/support/stalling.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from './stage.ts';

const DESTINATION = MERCHANTS.slice(2).toLowerCase();
const UNITS = 5n * USDT;

/** An endpoint calls final what is replaced afterwards, and a payout was settled by it. */
describe('a settled deposit under which finality breaks', function () {
  this.timeout(300_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage();
  });
  after(() => the?.stop());
  afterEach(() => {
    the.proxy.fault = undefined;
  });

  const height = async (): Promise<number> => await the.chain.mine(0);
  const accounts = async (): Promise<Record<string, bigint>> => {
    const rows = await the.rows(
      "select account, sum(amount_units)::text as sum from ledger_entries where currency = 'USDT' group by account",
    );
    return Object.fromEntries(rows.map((row) => [row['account'], BigInt(String(row['sum']))]));
  };
  /** All blocks above this one are replaced by as many empty ones, which the watcher follows. */
  const replaceAbove = async (number: number): Promise<void> => {
    the.proxy.fault = undefined;
    await the.chain.reorg((await height()) - number);
    await the.chain.mine(20);
    // A look that meets the contradiction may end there; the watcher comes again.
    await eventually('the other branch being followed', async () =>
      (await the.catchUp().catch(() => undefined)) === undefined ? undefined : true,
    );
    await the.finish();
  };
  const paidNow = (): Promise<bigint> => the.tokensOf(DESTINATION);

  it('shows the loss in the books, never below nothing, and takes it back when all is mined again', async () => {
    const before = await accounts();
    const ground = await height();
    stallingBsc(the.chain, the.proxy).hasty();
    const key = await the.paid(['USDT', UNITS]);
    const [deposit] = await the.depositsOf(key);
    const hash = String(deposit?.['transaction_hash']);
    const raws = [String(await the.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]))];
    await the.settle(key);
    const sent = await the.sent(key);
    for (const row of sent) raws.push(`0x${Buffer.from(row['raw'] as Buffer).toString('hex')}`);
    await replaceAbove(ground);

    expect((await the.depositsOf(key))[0]).to.include({ status: 'settled', block_hash: null });
    const now = await accounts();
    const moved = (account: string): bigint => (now[account] ?? 0n) - (before[account] ?? 0n);
    expect(moved('shortfall')).to.equal(-UNITS);
    expect(moved('settled')).to.equal(UNITS);
    expect(now['available'] ?? 0n).to.equal(before['available'] ?? 0n);
    const [difference, ...others] = (await auditLedger(the.deps)).differences;
    expect(difference, 'its transaction is in no block').to.include({ check: 'payout', account: 'chain' });
    expect(others).to.deep.equal([]);
    expect(await the.step(key), 'nothing is paid for it once more').to.include({ kind: 'rest' });

    const had = await paidNow();
    for (const raw of raws) {
      await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
      await the.chain.mine();
    }
    await the.finish();
    expect((await paidNow()) - had).to.equal(UNITS);
    expect((await accounts())['shortfall'] ?? 0n).to.equal(before['shortfall'] ?? 0n);
    expect((await auditLedger(the.deps)).differences).to.deep.equal([]);
    await the.reconcile();
    expect(the.seen.differences).to.deep.equal([]);
  });
});
