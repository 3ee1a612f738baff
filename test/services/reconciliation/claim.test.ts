import { expect } from 'chai';
import type { Contract } from '../../../dev/support/chain.ts';
import { type Fault, firstOf } from '../../../dev/support/fault-proxy.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import type { Word } from '../../../src/services/reconciliation/claim-unshown.ts';
import { listMisattributed } from '../../../src/services/reconciliation/explained.ts';
import { advancedTo, readAgain, verifiedOf } from '../watcher/asked.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';
import { differencesAt, forgetful, fundedPayer, halvingTraces, priced } from './support.ts';

const { signal } = new AbortController();

describe('a claim', () => {
  let live: TestWatcher;
  let payer: Contract;
  let keepsOldBalances = false;
  /**
   * What of traces the first endpoint shows, and whether
   * the second one shows the same, or half of each amount.
   */
  let traces: 'none' | 'of transactions' | 'all' = 'none';
  let second: 'none' | 'the same' | 'half' = 'none';

  before(async () => {
    const noTraces = without(...NO_TRACES);
    const noBlockTraces = without('trace_block', 'debug_traceBlockByHash');
    const forgets = forgetful(() => live);
    const forgotten: Fault = (call, forward) => (keepsOldBalances ? undefined : forgets(call, forward));
    live = await startTestWatcher({
      others: 1,
      fault: firstOf(
        (call, forward) =>
          traces === 'all' ? undefined : (traces === 'none' ? noTraces : noBlockTraces)(call, forward),
        forgotten,
      ),
    });
    const [other] = live.others;
    if (!other) throw new Error('no second endpoint');
    other.fault = firstOf(
      (call, forward) => (second === 'none' ? noTraces : noBlockTraces)(call, forward),
      (call, forward) => (second === 'half' ? halvingTraces(call, forward) : undefined),
      forgotten,
    );
    payer = await fundedPayer(live);
  });
  after(() => live?.stop());
  afterEach(() => {
    keepsOldBalances = false;
    [traces, second] = ['none', 'none'];
    live.restart();
  });

  const said = async (address: string) =>
    (await live.deposits(address)).map((row) => [row['transaction_hash'], row['amount_units']]);
  const credited = async (address: string) =>
    (await live.deposits(address))
      .filter((row) => row['status'] !== 'failed')
      .reduce((sum, row) => sum + BigInt(String(row['amount_units'])), 0n);
  /** The amounts that were recorded, or why it was refused. */
  const claim = (txHash: string, word?: Word) =>
    claimTransaction(live.deps, live.watchedChain, { txHash, word, signal }).then(
      ({ deposits }) => deposits.map((deposit) => deposit.amountUnits),
      (error: Error) => error.message,
    );
  const complete = async (address: string) => {
    for (const { id } of await live.deposits(address)) await advancedTo(priced(live.deps), id);
  };
  const rescanned = async (from: number) => await readAgain(live, from, await verifiedOf(live));
  /** An endpoint that traces is put first, and the operator reads the blocks again. */
  const traced = async (from: number) => {
    traces = 'all';
    live.restart();
    await rescanned(from);
  };
  const word = (carriedUnits: bigint): Word => {
    return { carriedUnits, decider: { by: 'Ann', reason: 'seen in an explorer' } };
  };
  /** 300 and 200 in one window, which is all that the endpoints can tell. */
  const twoPayments = async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const first = await payer.call('passOn', [address], { valueUnits: 300n });
    const from = await live.chain.mine();
    const other = await payer.call('passOn', [address], { valueUnits: 200n });
    await live.chain.mine(15);
    await live.finish();
    await live.reconcile();
    return { address, first, second: other, from };
  };
  const open = (address: string) => differencesAt(live, address);
  const reasons = async (address: string) =>
    await live.rows(
      'select basis, before_units, carried_units, by_name, reason from deposit_attributions where address_key = ? order by at',
      [address.slice(2)],
    );

  it('never credits 300 with the 200 of another transaction, nor the 200 twice when a trace shows them', async () => {
    const { address, first, second: other, from } = await twoPayments();
    const refused = await claim(first);
    await complete(address);
    expect(await said(address)).to.deep.equal([]);
    expect(refused).to.match(
      /nothing proves what transaction 0x\w+ brought .* 2 transactions of blocks \d+ to \d+ name that address; .*--amount AMOUNT --by NAME --reason TEXT/,
    );
    await traced(from);
    expect(await credited(address)).to.equal(500n);
    expect(await said(address)).to.have.deep.members([
      [first, '300'],
      [other, '200'],
    ]);
    expect(await open(address)).to.have.length(1);
    await live.reconcile();
    expect(await open(address)).to.deep.equal([]);
  });

  for (const where of ['the first endpoint', 'any other endpoint'] as const)
    it(`credits what the trace of the transaction alone shows, from ${where}`, async () => {
      const { address, first, second: other } = await twoPayments();
      if (where === 'the first endpoint') traces = 'of transactions';
      else second = 'the same';
      live.restart();
      expect(await claim(first)).to.deep.equal([300n]);
      expect(await claim(first)).to.match(/is recorded already; look at it with "deposit show/);
      await claim(other);
      expect(await said(address)).to.have.deep.members([
        [first, '300'],
        [other, '200'],
      ]);
      expect((await live.deposits(address)).every((row) => row['verified_at'] !== null)).to.equal(true);
      expect(await open(address)).to.deep.equal([]);
      expect((await reasons(address)).map((row) => row['basis'])).to.deep.equal(['trace', 'trace']);
    });

  it('refuses where two endpoints trace a transaction differently, and where a trace shows more than lies on the address', async () => {
    const { address, first } = await twoPayments();
    traces = 'of transactions';
    second = 'half';
    live.restart();
    expect(await claim(first)).to.match(
      /trace transaction 0x\w+ differently; take the wrong one out of the RPC URLs and run it again/,
    );
    [traces, second] = ['none', 'the same'];
    live.restart();
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x64']);
    await live.finish();
    expect(await claim(first)).to.match(
      /shows more than the balance of the address has room for; compare both with an explorer/,
    );
    expect(await live.deposits(address)).to.deep.equal([]);
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x1f4']);
  });

  it('credits what the balances of the block prove, where they are kept', async () => {
    const { address, first } = await twoPayments();
    keepsOldBalances = true;
    await claim(first);
    expect(await said(address)).to.deep.equal([[first, '300']]);
    expect((await reasons(address))[0]).to.include({
      basis: 'balance',
      before_units: '0',
      carried_units: '300',
    });
  });

  it("takes an operator's word for an amount, never above what is missing, and keeps who said so and why", async () => {
    const { address, first, second: other } = await twoPayments();
    expect(await claim(first, word(501n))).to.match(
      /only 0\.0+5 BNB are missing on the address: name at most/,
    );
    await claim(first, word(300n));
    expect(await claim(first, word(300n))).to.match(
      /are recorded already; --amount is the whole that it brought/,
    );
    expect(await claim(other, word(201n))).to.match(/only 0\.0+2 BNB are missing/);
    expect(await claim(other)).to.match(/nothing proves what transaction/);
    await claim(other, word(200n));
    expect(await said(address)).to.have.deep.members([
      [first, '300'],
      [other, '200'],
    ]);
    expect(await open(address)).to.deep.equal([]);
    expect(
      (await reasons(address)).map((row) => [
        row['basis'],
        row['carried_units'],
        row['by_name'],
        row['reason'],
      ]),
    ).to.deep.equal([
      ['operator', '300', 'Ann', 'seen in an explorer'],
      ['operator', '200', 'Ann', 'seen in an explorer'],
    ]);
    await complete(address);
    expect((await live.deposits(address)).map((row) => row['status'])).to.deep.equal([
      'completed',
      'completed',
    ]);
  });

  it('adds nothing twice where claims and a round of the reconciliation meet', async () => {
    const { address, first, second: other } = await twoPayments();
    const all = [
      claim(first, word(500n)),
      claim(other, word(500n)),
      claim(first, word(400n)),
      live.reconcile(),
    ];
    const outcomes = await Promise.all(all);
    expect(outcomes.slice(0, 3).some(Array.isArray), outcomes.join()).to.equal(true);
    expect(await credited(address)).to.equal(500n);
  });

  it('lets the proven amount win until the deposit is completed', async () => {
    const { address, first, second: other, from } = await twoPayments();
    await claim(other, word(500n));
    await traced(from);
    expect(await said(address)).to.have.deep.members([
      [first, '300'],
      [other, '200'],
    ]);
    await complete(address);
    expect(await credited(address)).to.equal(500n);
  });

  it('keeps a proven amount beside the one that was credited, shows both, and credits the rest to nobody twice', async () => {
    const { address, first, second: other, from } = await twoPayments();
    await claim(first, word(400n));
    await complete(address);
    await traced(from);
    await complete(address);
    expect(await said(address)).to.have.deep.members([
      [first, '400'],
      [other, '100'],
    ]);
    const [aside] = await live.rows(
      `select * from unrecognised_transfers where address_key = ? and transaction_hash <> ''`,
      [address.slice(2)],
    );
    expect(aside).to.include({
      transaction_hash: other,
      amount_units: '100',
      reason: 'its money is credited already, with another deposit of this address',
    });
    await live.reconcile();
    expect(await open(address)).to.deep.equal([]);
    const [shown] = (await listMisattributed(live.deps)).filter((row) => row.addressKey === address.slice(2));
    expect(shown).to.include({ transactionHash: first, creditedUnits: 400n, provenUnits: 300n });
    await rescanned(from);
    expect(await credited(address)).to.equal(500n);
  });

  it('takes back, before it is completed, what a trace shows that the transaction never paid', async () => {
    const { address, first, second: other, from } = await twoPayments();
    const mention = await payer.call('payCoinAndSwallow', [address, 31n]);
    await live.chain.mine(4);
    await live.finish();
    await live.reconcile();
    await live.rows(
      'update balance_differences set found_number = (select verified_number from chain_cursors) where address_key = ? returning network',
      [address.slice(2)],
    );
    await claim(mention, word(500n));
    await traced(from);
    expect(await credited(address)).to.equal(500n);
    expect(
      (await live.deposits(address)).map((row) => [
        row['transaction_hash'],
        row['status'],
        row['failure_code'],
      ]),
    ).to.have.deep.members([
      [first, 'detected', null],
      [other, 'detected', null],
      [mention, 'failed', 'REORGED'],
    ]);
  });
});
