// What looks like money and is none, and what is money and does not look like it.
import { expect } from 'chai';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import {
  answer,
  blockOfOne,
  creditedIn,
  EVERYBODY,
  PEOPLE,
  type Person,
  read,
  readWhole,
  type Sent,
  unrecognisedIn,
  watching,
} from './vectors.ts';

const transactionOf = (name: string): Sent => answer(`wallet_gettransactionbyid__${name}`);
const infoOf = (name: string): Sent => answer(`wallet_gettransactioninfobyid__${name}`);
const one = (name: string, change: (transaction: Sent, info: Sent) => void = () => {}) => {
  const [transaction, info] = [transactionOf(name), infoOf(name)];
  change(transaction, info);
  return blockOfOne(transaction, info);
};
const credited = (name: string, change?: (transaction: Sent, info: Sent) => void): string[] => {
  const { block, infos } = one(name, change);
  return creditedIn(block, infos);
};
const inputOf = (transaction: Sent): Sent => transaction.raw_data.contract[0].parameter.value;
const spelled = (person: Person): string => TRON_ADDRESSES.format(PEOPLE[person] as AddressKey);

describe('the traps of Tron', () => {
  it('never looks at what a contract returns: the old token returns false for success', () => {
    const info = infoOf('token_transfer_new_holder');
    expect(info.contractResult).to.eql(['0'.repeat(64)]);
    expect(credited('token_transfer_new_holder')).to.eql(['bob USDT 1234567891']);
    for (const contractResult of [[`${'0'.repeat(63)}1`], [''], [], undefined, 7])
      expect(
        credited('token_transfer_new_holder', (_, sent) => Object.assign(sent, { contractResult })),
      ).to.eql(['bob USDT 1234567891']);
    expect(
      credited('token_transferFrom_no_allowance', (_, sent) => {
        sent.contractResult = [`${'0'.repeat(63)}1`];
      }),
    ).to.eql([]);
  });

  it('tells the token by the address of the log alone, in a batch as well', () => {
    expect(infoOf('batch_two_receivers').contract_address).to.equal(`41${PEOPLE.batch}`);
    expect(credited('batch_two_receivers')).to.eql(['heidi USDT 11000000', 'ivan USDT 22000000']);
    expect(infoOf('fake_transfer_event').log[0].topics[0]).to.equal(
      infoOf('batch_two_receivers').log[0].topics[0],
    );
    expect(credited('fake_transfer_event')).to.eql([]);
    const near = `${PEOPLE.token.slice(0, -1)}4`;
    const nearly = (_: Sent, info: Sent) => Object.assign(info.log[0], { address: near });
    expect(credited('token_transfer_new_holder', nearly)).to.eql([]);
  });

  it('takes two equal logs of one transaction as two payments of one sum', () => {
    const { log } = infoOf('batch_same_receiver_twice');
    expect(log[0]).to.eql(log[1]);
    expect(credited('batch_same_receiver_twice')).to.eql(['heidi USDT 2000000']);
  });

  it('makes one transfer for each customer of a batch', () => {
    const { block, infos } = one('batch_two_receivers');
    const { transfers } = readWhole(block, infos, ['heidi', 'ivan']);
    expect(transfers.map(({ to, amountUnits }) => [to, amountUnits])).to.eql([
      [spelled('heidi'), 11_000_000n],
      [spelled('ivan'), 22_000_000n],
    ]);
  });

  it('credits nothing for a log of nothing, which anybody can cause', () => {
    expect(infoOf('token_transfer_zero_value').log).to.have.length(1);
    const { block, infos } = one('token_transfer_zero_value');
    expect([creditedIn(block, infos), unrecognisedIn(block, infos)]).to.eql([[], []]);
  });

  it('credits nothing that was rejected, of nothing, or in a transaction that failed', () => {
    expect(infoOf('internal_trx_then_revert').internal_transactions[0].rejected).to.equal(true);
    expect(infoOf('batch_two_receivers').internal_transactions[0].callValueInfo).to.eql([{}]);
    for (const name of ['internal_trx_then_revert', 'token_inner_transfer_fails_outer_success'])
      expect(credited(name), name).to.eql([]);
    const unrejected = (_: Sent, info: Sent) => delete info.internal_transactions[0].rejected;
    expect(credited('internal_trx_then_revert', unrejected)).to.eql([]);
    const rejected = (_: Sent, info: Sent) =>
      Object.assign(info.internal_transactions[0], { rejected: true });
    expect(credited('internal_trx_two', rejected)).to.eql(['bob TRX 2500001']);
  });

  it('credits no plain transfer that failed', () => {
    const failed = (transaction: Sent, info: Sent) => {
      transaction.ret[0].contractRet = 'FAILED';
      info.result = 'FAILED';
    };
    const { block, infos } = one('trx_transfer_existing', failed);
    expect(readWhole(block, infos, ['carol'])).to.deep.include({ transfers: [], touches: true });
  });

  it('credits what a contract passes on while it is created', () => {
    const creation = (transaction: Sent) => {
      transaction.raw_data.contract[0].type = 'CreateSmartContract';
      transaction.raw_data.contract[0].parameter.value = { owner_address: `41${PEOPLE.alice}` };
    };
    expect(credited('internal_trx_existing', creation)).to.eql(['dave TRX 3000000']);
  });

  it('credits nothing where a contract that pays itself ends the whole transaction', () => {
    const failed = (transaction: Sent, info: Sent) => {
      transaction.ret[0].contractRet = 'TRANSFER_FAILED';
      info.receipt.result = 'TRANSFER_FAILED';
    };
    for (const name of ['internal_trx_two', 'internal_trx_then_revert', 'batch_two_receivers'])
      expect(credited(name, failed), name).to.eql([]);
  });

  it('credits a transaction in the block that has it, and a block that a restart lost is not there', () => {
    const lost = answer('reorg__1_before__wallet_getblockbynum');
    const before = ['', '_second'].map((which) =>
      answer(`reorg__1_before__wallet_gettransactioninfobyid${which}`),
    );
    const again = answer('reorg__4_after__wallet_gettransactioninfobyid');
    expect(creditedIn(lost, before)).to.eql(['carol TRX 999123', 'carol TRX 999124']);
    expect(() => readWhole(lost, [again, before[1]])).to.throw('belongs to another block');
    expect(read(answer('reorg__2_after_restart__wallet_getblockbynum'), [])).to.equal(undefined);
    expect(read(lost, answer('reorg__2_after_restart__wallet_gettransactioninfobyid'))).to.equal(undefined);
    expect(readWhole(answer('reorg__4_after__wallet_getblockbynum'), []).hash).not.to.equal(lost.blockID);
    const { block, infos } = blockOfOne(lost.transactions[0], again);
    expect(readWhole(block, infos, ['carol'])).to.include({ number: 230 });
    expect(creditedIn(block, infos)).to.eql(['carol TRX 999123']);
  });

  it('credits no TRC-10, sent or passed on', () => {
    expect(credited('trc10_transfer')).to.eql([]);
    const asToken = (_: Sent, info: Sent) => {
      info.internal_transactions[0].callValueInfo = [{ callValue: 5, tokenId: '1000001' }, { callValue: 3 }];
    };
    expect(credited('internal_trx_two', asToken)).to.eql(['bob TRX 2500001', 'dave TRX 3']);
  });

  it('credits what is passed on by call, create and suicide, and no other note', () => {
    const noted = (text: string) => (_: Sent, info: Sent) => {
      info.internal_transactions[0].note = Buffer.from(text).toString('hex').toUpperCase();
    };
    for (const text of ['call', 'create', 'suicide'])
      expect(credited('internal_trx_existing', noted(text)), text).to.eql(['dave TRX 3000000']);
    for (const text of ['', 'voteWitness', 'unfreezeBalanceV2', 'callcall'])
      expect(credited('internal_trx_existing', noted(text)), text).to.eql([]);
  });

  it('credits neither the value of a call nor a memo', () => {
    expect(inputOf(transactionOf('trx_to_payable_receive')).call_value).to.equal(1_000_000);
    expect(credited('trx_to_payable_receive')).to.eql([]);
    const memo = (transaction: Sent) => {
      transaction.raw_data.data = Buffer.from('<script>alert(1)</script>').toString('hex');
    };
    expect(credited('trx_transfer_memo', memo)).to.eql(['bob TRX 777']);
  });

  it('keeps apart what our own wallets send, and credits none of it', () => {
    for (const name of ['token_transfer_to_self', 'trx_transfer_existing', 'token_transferFrom_direct']) {
      const { block, infos } = one(name);
      const { transfers, own, touches } = readWhole(block, infos, EVERYBODY);
      expect([transfers, own?.length, touches], name).to.eql([[], 1, true]);
    }
    const gas = watching('dave');
    gas.add(PEOPLE.batch, 'gas');
    const { block, infos } = one('internal_trx_two');
    const found = readWhole(block, infos, [], { watched: gas });
    expect([found.transfers, found.own?.map(({ amountUnits }) => amountUnits)]).to.eql([[], [2_500_000n]]);
  });

  it('keeps a log of the token in another form for the operator, without an amount', () => {
    const forms: readonly ((log: Sent) => void)[] = [
      (log) => log.topics.push(log.data),
      (log) => Object.assign(log, { data: `${log.data}00` }),
      (log) => delete log.data,
    ];
    for (const form of forms) {
      const { block, infos } = one('token_transfer_new_holder', (_, info) => form(info.log[0]));
      const { transfers, unrecognised } = readWhole(block, infos, ['bob']);
      const [found] = unrecognised;
      expect(transfers).to.eql([]);
      expect(found).to.include({ to: spelled('bob'), contract: spelled('token'), amountUnits: null });
      expect(found?.reason).to.equal('a Transfer log of the token contract in an unknown form');
    }
  });

  it('passes over logs that are no Transfer to an address', () => {
    const topics = [
      [],
      [infoOf('token_approve').log[0].topics[0]],
      infoOf('fake_transfer_event').log[0].topics.slice(0, 2),
    ];
    for (const those of [undefined, ...topics]) {
      const { block, infos } = one('batch_two_receivers', (_, info) => {
        for (const log of info.log) log.topics = those;
      });
      expect([creditedIn(block, infos), unrecognisedIn(block, infos)]).to.eql([[], []]);
    }
  });

  it('counts what goes over the limit of what is kept for the operator', () => {
    const { block, infos } = one('fake_transfer_event', (_, info) =>
      info.log.push(...Array(4).fill(info.log[0])),
    );
    const found = readWhole(block, infos, ['bob'], { unrecognisedLimit: 2 });
    expect([found.unrecognised.length, found.unrecognisedDropped]).to.eql([2, 3]);
  });
});
