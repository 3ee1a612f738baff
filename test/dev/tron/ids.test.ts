import { expect } from 'chai';
import { TronWeb } from 'tronweb';
import { contractArtifact } from '../../../dev/contracts.ts';
import { blockId, transactionBytes, transactionRoot } from '../../../dev/tron/ids.ts';
import { decode, encode, RAW } from '../../../dev/tron/messages.ts';
import { startTronNode, type TronNode } from '../../../dev/tron/node.ts';
import { showRaw } from '../../../dev/tron/transactions.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { ALICE, type Answer, ask, BOB, creditedAt } from './asking.ts';
import { ALL, recordedAs } from './recorded.ts';

const blocks = [...ALL].flatMap(([name, { response }]) => {
  const sent: Answer[] = [response.block ?? response].flat();
  const isHex = !name.endsWith('visible');
  return isHex ? sent.filter((block) => block?.blockID).map((block) => ({ name, block })) : [];
});
const transactions = blocks.flatMap(({ block }) => (block.transactions ?? []) as Answer[]);

describe('the ids that the double makes', function () {
  this.timeout(60_000);

  it('are those of recorded blocks, from their headers', () => {
    expect(blocks).to.have.length.above(20);
    for (const { name, block } of blocks) {
      const raw = block.block_header.raw_data;
      const header = {
        number: raw.number ?? 0,
        timestampMs: raw.timestamp ?? 0,
        root: raw.txTrieRoot,
        parentHash: raw.parentHash,
        witness: raw.witness_address,
        version: raw.version ?? 0,
      };
      expect(blockId(header), name).to.equal(block.blockID);
    }
  });

  it('cover the transactions of recorded blocks', () => {
    const whole = blocks.filter(({ block }) => block.transactions);
    expect(whole).to.have.length.above(5);
    for (const { name, block } of whole) {
      const bytes = block.transactions.map(({ raw_data_hex, signature = [], ret }: Answer) =>
        transactionBytes(Buffer.from(raw_data_hex, 'hex'), signature, ret?.[0].contractRet),
      );
      expect(transactionRoot(bytes), name).to.equal(block.block_header.raw_data.txTrieRoot);
    }
  });

  it('stand for what recorded transactions say, both ways', () => {
    expect(transactions).to.have.length.above(30);
    for (const { raw_data, raw_data_hex, txID } of transactions) {
      const message = decode(RAW, Buffer.from(raw_data_hex, 'hex'));
      expect(encode(RAW, message).toString('hex'), txID).to.equal(raw_data_hex);
      const shown = JSON.parse(JSON.stringify(showRaw(message, false), (_, value) => plain(value)));
      expect(shown, txID).to.deep.equal(JSON.parse(JSON.stringify(raw_data, (_, value) => plain(value))));
    }
  });
});

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

describe('the double before a client that knows nothing of it', function () {
  this.timeout(60_000);
  let node: TronNode;
  let tron: TronWeb;
  before(async () => {
    node = await startTronNode();
    tron = new TronWeb({ fullHost: node.url, privateKey: node.accounts[1]?.privateKey ?? '' });
    await node.pay({ to: node.accounts[1]?.address ?? ALICE, currency: 'USDT', units: 1_000n });
    await node.mine();
  });
  after(() => node?.stop());

  it('takes a transfer that tronweb built and signed, under the same id', async () => {
    const built = await tron.transactionBuilder.sendTrx(TRON_ADDRESSES.format(ALICE), 1_234_567);
    const sent = await tron.trx.sendRawTransaction(await tron.trx.sign(built));
    expect(sent.result).to.equal(true);
    expect(sent.txid).to.equal(built.txID);
    expect(await creditedAt(node, await node.mine())).to.deep.equal(['alice TRX 1234567']);
    expect(await tron.trx.getUnconfirmedTransactionInfo(built.txID)).to.include({ id: built.txID });
  });

  it('takes a call of a contract that tronweb built without it', async () => {
    const { transaction } = await tron.transactionBuilder.triggerSmartContract(
      TRON_ADDRESSES.format(node.usdt.key),
      'transfer(address,uint256)',
      { feeLimit: 100_000_000 },
      [
        { type: 'address', value: TRON_ADDRESSES.format(BOB) },
        { type: 'uint256', value: 7 },
      ],
    );
    const sent = await tron.trx.sendRawTransaction(await tron.trx.sign(transaction));
    expect(sent.txid).to.equal(transaction.txID);
    expect(await creditedAt(node, await node.mine())).to.deep.equal(['bob USDT 7']);
  });

  it('makes a contract that tronweb deploys', async () => {
    const { abi, bytecode } = contractArtifact('TestUSDT');
    const built = await tron.transactionBuilder.createSmartContract({
      abi: abi as never,
      bytecode: bytecode.slice(2),
      feeLimit: 1_000_000_000,
      name: 'TestUSDT',
    });
    const sent = await tron.trx.sendRawTransaction(await tron.trx.sign(built));
    expect(sent.txid).to.equal(built.txID);
    await node.mine();
    const info = await ask(node.url, 'wallet/gettransactioninfobyid', { value: built.txID });
    expect(info.receipt.result).to.equal('SUCCESS');
    const made = await ask(node.url, 'wallet/getcontract', { value: info.contract_address });
    expect(made.contract_address).to.equal(info.contract_address);
  });

  it('shows recorded kinds of the first block', async () => {
    const { transactions: own } = await ask(node.url, 'wallet/getblockbynum', { num: 0 });
    const [first] = recordedAs('wallet_getblockbynum__genesis').response.transactions;
    expect(Object.keys(own[0]).toSorted()).to.deep.equal(Object.keys(first).toSorted());
    expect(own[0].raw_data.contract[0].parameter.value.owner_address).to.equal(
      first.raw_data.contract[0].parameter.value.owner_address,
    );
  });
});
