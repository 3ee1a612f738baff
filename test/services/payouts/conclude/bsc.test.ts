import { createRequire } from 'node:module';
import { expect } from 'chai';
import { Wallet } from 'ethers';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { tokenTransferData } from '../../../../src/chains/transfer.ts';
import { auditLedger } from '../../../../src/services/ledger/audit.ts';
import { denyForeign } from '../../../../src/services/payouts/foreign.ts';
import { forced } from '../../../signer/pull/asking.ts';
import { ownKey } from '../../watcher/test-watcher.ts';
import { MERCHANTS, type SettleStage, startFundedStage, USDT } from '../settle/stage.ts';
import { isPaid, reasonOf, says } from '../settle/steps.ts';
import { shown } from '../stage.ts';
import { type Concluding, concluding } from './concluding.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
const STRANGER = keyOfHex('5e'.repeat(20));
const COIN = 10n ** 16n;
/** Of each transfer a tenth goes to somebody else. */
const FEE_TOKEN = `pragma solidity 0.8.37; contract T {
  uint256 public totalSupply; mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  function decimals() external pure returns (uint8) { return 18; }
  function transfer(address to, uint256 value) external returns (bool) {
    uint256 fee = value / 10; balanceOf[msg.sender] -= value; balanceOf[to] += value - fee;
    balanceOf[address(0xfee)] += fee; emit Transfer(msg.sender, to, value - fee);
    emit Transfer(msg.sender, address(0xfee), fee); return true; } }`;

describe('concluding a payout on BNB Chain by what blocks show', function () {
  this.timeout(300_000);
  let the: SettleStage;
  let conclude: Concluding;
  before(async () => {
    the = await startFundedStage({ others: 1 });
    conclude = concluding(the);
  });
  after(() => the?.stop());
  /** What whoever holds the key of an address sends from it, past the signer. */
  const sendsPast = async (key: AddressKey, to: AddressKey, units: bigint): Promise<string> => {
    const wallet = new Wallet(`0x${ownKey('bsc', key)}`);
    const raw = await wallet.signTransaction({
      type: 0,
      to: the.chain.usdt.address,
      data: `0x${tokenTransferData(to, units)}`,
      nonce: Number(await the.chain.anvil.rpc('eth_getTransactionCount', [wallet.address, 'latest'])),
      gasLimit: 100_000,
      gasPrice: 2_000_000_000,
      chainId: 56,
    });
    const hash = String(await the.chain.anvil.rpc('eth_sendRawTransaction', [raw]));
    await the.chain.mine(20);
    await the.finish();
    return hash;
  };
  const statesOf = async (key: AddressKey) =>
    (await the.depositsOf(key)).map(
      ({ currency, status, settled_units: net }) => `${currency} ${status} ${net}`,
    );

  it('one that the database has forgotten: once, and the ledger and the chain agree', async () => {
    const key = await the.paid(['BNB', COIN], ['USDT', 10n * USDT]);
    const hash = await sendsPast(key, DESTINATION, 10n * USDT);
    expect(reasonOf(await the.step(key))).to.match(/"payout conclude", "payout accept" or "payout deny"/);
    const address = shown('bsc', key);
    const other = the.others[0] ?? expect.fail('there is one endpoint alone');
    other.fault = ({ method, params, id }) =>
      method.startsWith('eth_getBlockBy') && params[0] !== 'finalized'
        ? { json: { jsonrpc: '2.0', id, result: null } }
        : undefined;
    expect(await conclude.refused(address, hash)).to.match(/1 of 2 RPC endpoints show .* \(2 have to\)/);
    other.fault = undefined;
    const done = await conclude(address, hash);
    expect(done).to.include({ kind: 'concluded', netUnits: 10n * USDT, grossUnits: 10n * USDT });
    expect(await statesOf(key)).to.include(`USDT settled ${10n * USDT}`);
    const [payout] = (await the.payouts(key)).filter(({ currency }) => currency === 'USDT');
    expect(payout).to.include({ state: 'settled', destination: MERCHANTS, transaction_hash: hash });
    expect(await conclude.refused(address, hash)).to.match(/is settled: there is nothing to conclude/);
    // Its block may be replaced, or every endpoint deny it: what the books stand on stays.
    const { signal } = new AbortController();
    const denied = denyForeign(
      the.deps,
      { spending: undefined, signal },
      { network: 'bsc', hash, reason: 'x' },
    );
    expect(await denied.catch((error: Error) => error.message)).to.match(/has paid payout .* not forgotten/);
    expect((await auditLedger(the.deps)).differences).to.deep.equal([]);
    await the.agrees();
  });

  it('settles by itself what moved as signed, by what rows say under the lock', async () => {
    const key = await the.paid(['USDT', 3n * USDT]);
    await the.settle(key, isPaid);
    await the.chain.mine(20);
    await the.finish();
    const units = (value: bigint) =>
      forced(
        the.deps,
        "update sent_transactions set moves = jsonb_set(moves, '{0,units}', ?::jsonb) where from_key = ?",
        [`"${value}"`, key],
      );
    const over: Spending = {
      ...the.spending,
      // What a "rescan" writes while endpoints are asked.
      async outcomes(...question) {
        const said = await the.spending.outcomes(...question);
        await units(1n);
        return said;
      },
    };
    expect(reasonOf(await the.step(key, false, over))).to.match(/another process went on/);
    expect(await the.states(key)).to.deep.equal(['paying']);
    await units(3n * USDT);
    await the.settle(key);
    expect(await the.states(key)).to.deep.equal(['settled']);
  });

  it('once nothing is on its way to the address that only a payout which has to make room sends on', async () => {
    const key = await the.paid(['BNB', COIN], ['USDT', 10n * USDT]);
    the.everywhere(({ method, id }) =>
      method === 'eth_sendRawTransaction' ? { json: { jsonrpc: '2.0', id, result: '0x' } } : undefined,
    );
    await the.settle(key, says('no block has them yet'));
    const hash = await sendsPast(key, DESTINATION, 10n * USDT);
    const address = shown('bsc', key);
    expect(await conclude.refused(address, hash)).to.match(/another payout .* is on its way: wait/);
    the.everywhere(undefined);
    the.clock.aheadMs += 16_000;
    await the.wallets();
    await the.chain.mine(20);
    await the.finish();
    expect(await conclude(address, hash)).to.include({ kind: 'concluded', netUnits: 10n * USDT });
    expect((await the.states(key)).toSorted()).to.deep.equal(['cancelled', 'settled']);
    await the.agrees();
  });

  it('of a token that takes a fee what arrived; meanwhile no other address pays for the same', async () => {
    const keys = [await the.paid(['USDT', 10n * USDT]), await the.paid(['USDT', 20n * USDT])];
    const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
    const sources = { T: { content: FEE_TOKEN } };
    const outputSelection = { '*': { '*': ['evm.deployedBytecode.object'] } };
    const settings = { evmVersion: 'paris', outputSelection };
    const made = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })));
    const code = `0x${made.contracts.T.T.evm.deployedBytecode.object}`;
    await the.chain.anvil.rpc('anvil_setCode', [the.chain.usdt.address, code]);
    const [first, second] = keys as [AddressKey, AddressKey];
    await the.settle(first, (step) => reasonOf(step).includes('another amount or receiver'));
    const [{ id, hash } = {}] = await the.rows(
      "select p.id, s.hash from payouts p join sent_transactions s on s.payout_id = p.id where p.address_key = ? and s.purpose = 'payout'",
      [first],
    );
    expect(reasonOf(await the.step(second))).to.include(`"payout conclude ${id} --tx ${hash}`);
    expect((await the.wait(second))?.['code']).to.equal('contradiction');
    expect(await conclude(String(id), String(hash))).to.include({
      netUnits: 9n * USDT,
      grossUnits: 10n * USDT,
    });
    expect(await statesOf(first)).to.deep.equal([`USDT settled ${9n * USDT}`]);
    const fees = await the.rows(
      "select sum(e.amount_units)::text as units from ledger_entries e where account = 'fees' and currency = 'USDT'",
    );
    expect(fees).to.deep.equal([{ units: String(USDT) }]);
    await the.settle(second, (step) => reasonOf(step).includes('another amount or receiver'));
    expect((await auditLedger(the.deps)).differences).to.deep.equal([]);
    await the.agrees();
  });

  it('nothing that was not paid to a destination which somebody with the key has sealed', async () => {
    const key = await the.paid(['BNB', COIN], ['USDT', 5n * USDT]);
    const hash = await sendsPast(key, STRANGER, 4n * USDT);
    const address = shown('bsc', key);
    const none = /no such withdraw address was sealed for merchant/;
    expect(await conclude.refused(address, hash)).to.match(none);
    const redirect = 'update withdraw_addresses set address = ? where address = ?';
    await forced(the.deps, redirect, [shown('bsc', STRANGER), MERCHANTS]);
    expect(await conclude.refused(address, hash)).to.match(none);
    await forced(the.deps, redirect, [MERCHANTS, shown('bsc', STRANGER)]);
    expect(await statesOf(key)).to.include('USDT completed null');
  });
});
