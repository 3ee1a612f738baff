// What looks like money and is none, and what is money and does not look like it.
import { expect } from 'chai';
import {
  alone,
  answer,
  blockOfOne,
  type Change,
  creating,
  creditedIn,
  EVERYBODY,
  logged,
  PEOPLE,
  read,
  readWhole,
  type Sent,
  seenAlone,
  spelled,
  told,
  unrecognisedIn,
  watching,
  word,
} from './vectors.ts';

const credited = (name: string, change?: Change): string[] => {
  const { block, infos } = alone(name, change);
  return creditedIn(block, infos);
};
const hex = (text: string): string => Buffer.from(text).toString('hex');
const inner =
  (more: object): Change =>
  (_, info) =>
    Object.assign(info.internal_transactions[0], more);
const selfPaid: Change = (transaction, info) => {
  transaction.ret[0].contractRet = 'TRANSFER_FAILED';
  info.receipt.result = 'TRANSFER_FAILED';
};
const logs =
  (change: (log: Sent) => unknown): Change =>
  (_, info) =>
    info.log.map(change);

const NEW_HOLDER = 'token_transfer_new_holder';
const BATCH = 'batch_two_receivers';
const PASSED = 'internal_trx_existing';
const TWO = 'internal_trx_two';

/** What is altered in a recorded transaction, and what that credits. */
const TRAPS: Readonly<Record<string, readonly [name: string, change: Change, credits: string[]]>> = {
  'a call that returns nothing': [NEW_HOLDER, told({ contractResult: [''] }), ['bob USDT 1234567891']],
  'a call that failed and returns true': [
    'token_transferFrom_no_allowance',
    told({ contractResult: [word('1')] }),
    [],
  ],
  'a log of a contract whose address is nearly the token’s': [
    NEW_HOLDER,
    logged({ address: `${PEOPLE.token.slice(0, -1)}4` }),
    [],
  ],
  'a transaction that failed, and a node that calls no part of it rejected': [
    'internal_trx_then_revert',
    (_, info) => delete info.internal_transactions[0].rejected,
    [],
  ],
  'a part that was rejected': [TWO, inner({ rejected: true }), ['bob TRX 2500001']],
  ...Object.fromEntries(
    [TWO, 'internal_trx_then_revert', BATCH].map((name) => [
      `a contract that pays itself and so ends all of ${name}`,
      [name, selfPaid, []] as const,
    ]),
  ),
  'what a contract passes on while it is created': [
    PASSED,
    creating({ owner_address: `41${PEOPLE.alice}` }),
    ['dave TRX 3000000'],
  ],
  'a TRC-10 that is passed on beside coins': [
    TWO,
    inner({ callValueInfo: [{ callValue: 5, tokenId: '1000001' }, { callValue: 3 }] }),
    ['bob TRX 2500001', 'dave TRX 3'],
  ],
  ...Object.fromEntries(
    ['call', 'create', 'suicide', '', 'voteWitness', 'unfreezeBalanceV2', 'callcall'].map((note, at) => [
      `what is passed on with the note "${note}"`,
      [PASSED, inner({ note: hex(note).toUpperCase() }), at < 3 ? ['dave TRX 3000000'] : []] as const,
    ]),
  ),
  'logs that are no Transfer to an address': [
    BATCH,
    logs((log) => Object.assign(log, { topics: log.topics.slice(0, 2) })),
    [],
  ],
};

describe('the traps of Tron', () => {
  for (const [trap, [name, change, credits]] of Object.entries(TRAPS))
    it(`credits what it has to for ${trap}`, () => expect(credited(name, change)).to.eql(credits));

  it('credits no plain transfer that failed, and has the block read again', () => {
    const { transfers, touches } = seenAlone('trx_transfer_existing', ['carol'], (transaction, info) => {
      transaction.ret[0].contractRet = 'FAILED';
      info.result = 'FAILED';
    });
    expect([transfers, touches]).to.eql([[], true]);
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

  it('keeps apart what our own wallets send, and credits none of it', () => {
    for (const name of ['token_transfer_to_self', 'trx_transfer_existing', 'token_transferFrom_direct']) {
      const { transfers, own, touches } = seenAlone(name, EVERYBODY);
      expect([transfers, own?.length, touches], name).to.eql([[], 1, true]);
    }
    const gas = watching('dave');
    gas.add(PEOPLE.batch, 'gas');
    const { block, infos } = alone(TWO);
    const found = readWhole(block, infos, [], { watched: gas });
    expect([found.transfers, found.own?.map(({ amountUnits }) => amountUnits)]).to.eql([[], [2_500_000n]]);
  });

  it('keeps a log of the token in another form for the operator, without an amount', () => {
    const forms: readonly ((log: Sent) => unknown)[] = [
      (log) => log.topics.push(log.data),
      (log) => Object.assign(log, { data: `${log.data}00` }),
      (log) => delete log.data,
    ];
    for (const form of forms) {
      const { transfers, unrecognised } = seenAlone(NEW_HOLDER, ['bob'], logs(form));
      const reason = 'a Transfer log of the token contract in an unknown form';
      const kept = { to: spelled('bob'), contract: spelled('token'), amountUnits: null, reason };
      expect([transfers, unrecognised.map(({ txHash: _, ...one }) => one)]).to.eql([[], [kept]]);
    }
  });

  it('keeps nothing of a log of nothing, and no more than a limit, over which it counts', () => {
    const { block, infos } = alone('token_transfer_zero_value');
    expect(unrecognisedIn(block, infos)).to.eql([]);
    const many = alone('fake_transfer_event', (_, info) => info.log.push(...Array(4).fill(info.log[0])));
    const found = readWhole(many.block, many.infos, ['bob'], { unrecognisedLimit: 2 });
    expect([found.unrecognised.length, found.unrecognisedDropped]).to.eql([2, 3]);
  });
});
