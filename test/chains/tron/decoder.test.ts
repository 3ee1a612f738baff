import { expect } from 'chai';
import {
  answer,
  blockOfOne,
  creditedIn,
  pairOf,
  RECORDED,
  read,
  type Sent,
  unrecognisedIn,
} from './vectors.ts';

/** What each recorded transaction brings to a customer whom it pays; whatever is not named brings nothing. */
const CREDITS: Readonly<Record<string, readonly string[]>> = {
  trx_transfer_new_account: ['grace TRX 2000000'],
  trx_transfer_existing: ['carol TRX 1234567'],
  trx_transfer_memo: ['bob TRX 777'],
  trx_transfer_multisig: ['bob TRX 1111'],
  trx_transfer_permission_2: ['bob TRX 2222'],
  token_transfer_new_holder: ['bob USDT 1234567891'],
  token_transfer_again: ['bob USDT 1'],
  token_transfer_to_unactivated: ['frank USDT 2000000'],
  token_transfer_with_staked_energy: ['carol USDT 7000000'],
  token_transfer_bandwidth_and_energy_staked: ['carol USDT 7000000'],
  token_transfer_partly_staked_energy: ['judy USDT 1000000'],
  token_transferFrom_direct: ['ivan USDT 3000000'],
  batch_two_receivers: ['heidi USDT 11000000', 'ivan USDT 22000000'],
  batch_two_receivers__node_without_saveInternalTx: ['heidi USDT 1000000', 'ivan USDT 2000000'],
  batch_same_receiver_twice: ['heidi USDT 2000000'],
  internal_trx_existing: ['dave TRX 3000000'],
  internal_trx_new_account: ['judy TRX 4000000'],
  internal_trx_two: ['bob TRX 2500001', 'dave TRX 2500000'],
  internal_selfdestruct: ['bob TRX 2500000'],
  internal_create_contract: ['newborn TRX 1500000'],
};

/** What is kept for the operator: other contracts say that they moved something. */
const UNRECOGNISED: Readonly<Record<string, readonly string[]>> = {
  fake_transfer_event: ['bob unrecognised 999000000'],
  contract_owner_is_caller: ['dave unrecognised 9000000'],
  contract_owner_pays_70_percent: ['judy unrecognised 1000000'],
};

/** The name of the transaction whose info this is. */
const nameOf = (recorded: string): string =>
  recorded.replace(/^.*infobyid(__)?/, '').replace(/^$/, 'token_transfer_new_holder');

const isInfo = (name: string) => name.includes('infobyid') && answer(name).id !== undefined;
const infos = RECORDED.filter((name) => isInfo(name) && !/_visible$|^reorg/.test(name));
/** A transaction is the same wherever it is shown, so the last answer that has it is as good as the first. */
const transactions = new Map<string, Sent>();
/** Every recorded answer with a block in it, with or without its transactions. */
const blocks: { readonly from: string; readonly block: Sent }[] = [];

for (const from of RECORDED.filter((name) => !name.endsWith('_visible'))) {
  const sent = answer(from);
  if (from.includes('transactionbyid__')) transactions.set(sent.txID, sent);
  for (const block of from.includes('getblock') || from.includes('nowblock') ? (sent.block ?? [sent]) : [])
    if (block.blockID) blocks.push({ from, block });
}
for (const { block } of blocks)
  for (const sent of block.transactions ?? []) transactions.set(sent.txID, sent);

const infosOfHeight = (block: Sent) =>
  RECORDED.filter((name) => name.includes('infobyblocknum') && !name.endsWith('_visible'))
    .map((from) => ({ from, sent: answer(from) }))
    .filter(
      ({ sent }) =>
        Array.isArray(sent) && sent.length > 0 && sent[0].blockNumber === block.block_header.raw_data.number,
    );

describe('the decoder of Tron, on the answers of a real node', () => {
  it('knows every recorded transaction by name', () => {
    const known = infos.map(nameOf);
    expect(known).to.include.members([...Object.keys(CREDITS), ...Object.keys(UNRECOGNISED)]);
    expect(new Set(known).size).to.equal(52);
  });

  for (const from of infos)
    it(`${from}: brings ${CREDITS[nameOf(from)]?.join(' and ') ?? 'nothing'}`, () => {
      const info = answer(from);
      const { block, infos } = blockOfOne(transactions.get(info.id), info);
      expect(creditedIn(block, infos)).to.eql([...(CREDITS[nameOf(from)] ?? [])].toSorted());
      expect(unrecognisedIn(block, infos)).to.eql(UNRECOGNISED[nameOf(from)] ?? []);
    });

  it('reads every recorded block with every recorded list of its infos', () => {
    const nameOfId = new Map(infos.map((from) => [answer(from).id, nameOf(from)]));
    let pairs = 0;
    for (const { from, block } of blocks)
      for (const list of block.transactions ? infosOfHeight(block) : []) {
        const names: string[] = list.sent.map(({ id }: Sent) => nameOfId.get(id));
        const sums = names.flatMap((name) => CREDITS[name] ?? []).toSorted();
        const kept = names.flatMap((name) => UNRECOGNISED[name] ?? []).toSorted();
        expect(creditedIn(block, list.sent), `${from} and ${list.from}`).to.eql(sums);
        expect(unrecognisedIn(block, list.sent), `${from} and ${list.from}`).to.eql(kept);
        pairs++;
      }
    expect(pairs).to.equal(18);
  });

  it('takes an answer of nothing as not there yet', () => {
    const { block } = pairOf('payments');
    for (const [sent, infos] of [
      [answer('wallet_getblockbynum__future'), []],
      [block, answer('wallet_gettransactioninfobyblocknum__future')],
      [block, {}],
      [answer('wallet_getblockbynum__empty'), {}],
    ])
      expect(read(sent, infos)).to.equal(undefined);
  });

  it('credits nothing from answers in base58, which no hexadecimal address is found in', () => {
    for (const kind of ['payments', 'contracts'] as const) {
      const { block, infos } = pairOf(kind);
      const [visible, list] = [`getblockbynum__${kind}`, `gettransactioninfobyblocknum__${kind}`].map(
        (name) => answer(`wallet_${name}_visible`),
      );
      expect(() => read(visible, infos)).to.throw('malformed');
      expect(() => read(block, list)).to.throw('malformed');
    }
  });
});
