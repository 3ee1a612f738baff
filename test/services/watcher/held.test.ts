import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { DecisionRefused } from '../../../src/services/deposits/decisions.ts';
import { decideToFail, releaseDeposit } from '../../../src/services/deposits/operator.ts';
import { bscStage, ledgerOf } from './asked.ts';
import { lying } from './lies.ts';
import type { Row } from './test-watcher.ts';

/**
 * Failed deposits and their money while blocks are replaced:
 * what the ledger holds must be what lies on our addresses.
 */
describe('the money of a failed deposit on a chain that replaces blocks', () => {
  const { live } = bscStage();

  const rowOf = async (address: string): Promise<Row> => (await live.deposits(address))[0] ?? {};
  const rawOf = async (hash: string) =>
    String(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
  const send = (raw: string) => live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
  const ledger = (address: string) => ledgerOf(live, address);
  const postings = async (address: string) =>
    (
      await live.rows(
        'select t.kind from ledger_transactions t join deposits d on d.id = t.deposit_id where d.address_key = ? order by t.number',
        [address.slice(2)],
      )
    ).map((row) => row['kind']);
  const reject = (row: Row) =>
    decideToFail(live.deps, { depositId: String(row['id']), by: 'Ann', reason: 'a sanctioned sender' });
  const release = (row: Row) =>
    releaseDeposit(live.deps, { depositId: String(row['id']), by: 'Ann', reason: 'it was a mistake' });

  /** A transfer in the newest block, seen by the watcher and then rejected. */
  async function rejected(amount: bigint): Promise<{ address: string; raw: string }> {
    const address = await live.newAddress();
    const hash = await live.chain.usdt.call('transfer', [address, amount]);
    await live.chain.mine();
    await live.catchUp();
    await reject(await rowOf(address));
    return { address, raw: await rawOf(hash) };
  }

  it('is held while the transaction is in a block, and not while it is in none, however often that changes', async () => {
    const { address, raw } = await rejected(9n);
    expect(await ledger(address)).to.deep.equal({ chain: -9n, held: 9n });
    for (let times = 0; times < 2; times++) {
      await live.chain.reorg(1);
      await live.catchUp();
      expect(await rowOf(address)).to.include({
        status: 'failed',
        failure_code: 'REJECTED_BY_OPERATOR',
        block_hash: null,
      });
      expect(await ledger(address), 'on no address of ours any more').to.deep.equal({});
      await live.catchUp();
      await send(raw);
      await live.chain.mine();
      await live.catchUp();
      expect((await rowOf(address))['block_hash']).to.not.equal(null);
      expect(await ledger(address)).to.deep.equal({ chain: -9n, held: 9n });
    }
    expect((await postings(address)).slice(2)).to.deep.equal([
      'deposit.withdrawn',
      'deposit.restored',
      'deposit.withdrawn',
      'deposit.restored',
    ]);
  });

  it('is never credited by a release while it is gone, and is when it is back and final', async () => {
    const { address, raw } = await rejected(10n);
    await live.chain.reorg(1);
    await live.finish();
    const refused = await release(await rowOf(address)).catch((error: unknown) => error as Error);
    expect(refused).to.be.instanceOf(DecisionRefused);
    expect((refused as Error).message).to.match(
      /was replaced: nothing is there to release; try again when the transaction is mined again$/,
    );
    expect(await ledger(address)).to.deep.equal({});
    expect(await rowOf(address), 'it stays failed for what it failed for').to.include({
      failure_code: 'REJECTED_BY_OPERATOR',
    });
    await send(raw);
    await live.finish();
    await release(await rowOf(address));
    expect(await ledger(address)).to.deep.equal({ chain: -10n, available: 10n });
  });

  it('is not held when the deposit is rejected while its block is replaced, and is from its return on', async () => {
    const address = await live.newAddress();
    const hash = await live.chain.usdt.call('transfer', [address, 11n]);
    await live.chain.mine();
    await live.catchUp();
    const raw = await rawOf(hash);
    await live.chain.reorg(1);
    await live.catchUp();
    expect(await ledger(address), 'finality has not decided yet').to.deep.equal({
      chain: -11n,
      pending: 11n,
    });
    await reject(await rowOf(address));
    expect(await ledger(address)).to.deep.equal({});
    await send(raw);
    await live.finish();
    expect(await ledger(address)).to.deep.equal({ chain: -11n, held: 11n });
    expect(await rowOf(address)).to.include({ status: 'failed', generation: 1 });
  });

  it('is what the new execution of the transaction paid, where that is another amount', async () => {
    const address = await live.newAddress();
    const payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 50n });
    await live.chain.mine();
    const hash = await payer.call('payAll', [address], { from: live.chain.accounts[5] ?? '' });
    await live.chain.mine();
    await live.catchUp();
    await reject(await rowOf(address));
    expect(await ledger(address)).to.deep.equal({ chain: -50n, held: 50n });
    const raw = await rawOf(hash);
    // The database itself holds the rule: the amount changes only together with the return into a block.
    const changed = () =>
      live.rows('update deposits set amount_units = 1 where address_key = ?', [address.slice(2)]).then(
        () => 'it was changed',
        (error: unknown) => String(error),
      );
    expect(await changed()).to.contain('never changes');
    await live.chain.reorg(1);
    await live.catchUp();
    expect(await changed()).to.contain('never changes');
    await live.chain.send({ to: payer.address, valueUnits: 20n });
    await live.chain.mine();
    await send(raw);
    await live.finish();
    expect(await ledger(address)).to.deep.equal({ chain: -70n, held: 70n });
    expect((await rowOf(address))['amount_units']).to.equal('70');
  });

  it('is taken back when the final block does not hold it, though its first read showed it', async () => {
    const { address } = await rejected(12n);
    // The endpoint had shown a transfer that its block never held; from now on it shows the block as it is.
    live.proxy.fault = lying(address, { logs: () => [] });
    await live.finish();
    live.proxy.fault = undefined;
    expect(await rowOf(address)).to.include({ block_hash: null, status: 'failed' });
    expect(await ledger(address)).to.deep.equal({});
  });
});
