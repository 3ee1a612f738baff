import { expect } from 'chai';
import { claimTransaction } from '../../src/services/chain/claim.ts';
import type { Word } from '../../src/services/chain/claim-unshown.ts';
import { rescan } from '../../src/services/chain/rescan.ts';
import { advanceDeposit } from '../../src/services/deposits/advance.ts';
import type { Contract } from '../support/chain.ts';
import { testContracts } from '../support/chain-contracts.ts';
import { type Following, NO_TRACES, startFollowing, without } from './following.ts';

const { signal } = new AbortController();
const COIN = 10n ** 18n;

describe('a claim', function () {
  this.timeout(60_000);
  let live: Following;
  let payer: Contract;
  let keepsOldBalances = false;
  let traces = false;

  before(async () => {
    const noTraces = without(...NO_TRACES);
    live = await startFollowing({
      fault: async (call, forward) => {
        const asked = call.method === 'eth_getBalance' || call.method === 'eth_call' ? call.params[1] : undefined;
        if (!keepsOldBalances && typeof asked === 'string' && asked.startsWith('0x')) {
          const head = Number(await live.chain.anvil.rpc('eth_blockNumber'));
          if (Number(asked) < head - 4)
            return { json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'missing trie node' } } };
        }
        return traces ? undefined : await noTraces(call, forward);
      },
    });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 100n * COIN });
    await live.chain.mine();
  });
  after(() => live?.stop());
  afterEach(() => {
    keepsOldBalances = false;
    traces = false;
    live.restart();
  });

  const credited = async (address: string) =>
    (await live.deposits(address))
      .filter((row) => row['status'] !== 'failed')
      .reduce((sum, row) => sum + BigInt(String(row['amount_units'])), 0n);
  const claim = (txHash: string, word?: Word) => claimTransaction(live.deps, live.followed, { txHash, word, signal });
  const refusal = (txHash: string, word?: Word) =>
    claim(txHash, word).then(
      () => 'nothing was refused',
      (error: Error) => error.message,
    );
  const complete = async (address: string) => {
    for (const row of await live.deposits(address))
      for (let steps = 0; steps < 3; steps++) await advanceDeposit(live.deps, { depositId: String(row['id']), alarmed: false });
  };
  const readAgain = async (from: number) => {
    const [cursor] = await live.rows('select verified_number from chain_cursors');
    const to = Number(cursor?.['verified_number']);
    await rescan(live.deps, live.followed, { from, to, signal, progress: () => undefined });
  };

  it('never credits 300 with the 200 of another transaction, nor the 200 twice when a trace shows them', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const first = await payer.call('passOn', [address], { valueUnits: 300n });
    const from = await live.chain.mine();
    const second = await payer.call('passOn', [address], { valueUnits: 200n });
    await live.chain.mine(15);
    await live.finish();
    await live.reconcile();
    const said = await refusal(first);
    await complete(address);
    expect((await live.deposits(address)).map((row) => row['amount_units'])).to.deep.equal([]);
    expect(said).to.match(/--amount/);
    traces = true;
    live.restart();
    await readAgain(from);
    expect(await credited(address)).to.equal(500n);
    const found = await live.deposits(address);
    expect(found.map((row) => [row['transaction_hash'], row['amount_units']])).to.have.deep.members([
      [first, '300'],
      [second, '200'],
    ]);
  });
});
