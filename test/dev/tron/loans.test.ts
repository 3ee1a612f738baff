import { expect } from 'chai';
import { type Account, Accounts } from '../../../dev/tron/execution/accounts.ts';
import type { Books } from '../../../dev/tron/execution/books.ts';
import { ENERGY, energyLimitOf, energyUsedAt, lendableAt } from '../../../dev/tron/execution/energy.ts';
import { moveEnergy } from '../../../dev/tron/execution/loans.ts';
import type { Message } from '../../../dev/tron/messages.ts';
import { buildRaw, rawOfJson, readSigned, showRaw } from '../../../dev/tron/transactions.ts';
import { Refusal } from '../../../dev/tron/types.ts';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { type Answer, prefixed } from './asking.ts';
import { recordedAs } from './recorded.ts';

const TRX = 1_000_000n;
const NOW_MS = 1_800_000_000_000;
const [OWNER, BOB, CONTRACT, NOBODY] = ['01', '02', '03', '04'].map((byte) => keyOfHex(byte.repeat(20))) as [
  AddressKey,
  AddressKey,
  AddressKey,
  AddressKey,
];

describe('loans of energy on the double', () => {
  let accounts: Accounts;
  let books: Books;
  beforeEach(() => {
    accounts = new Accounts();
    const account = (key: AddressKey, more = {}): void =>
      accounts.set({ key, createdMs: 0, createdAt: 0, netUsed: 0n, netUsedMs: 0, ...more });
    account(OWNER);
    account(BOB);
    account(CONTRACT, { maker: OWNER });
    books = { accounts, energy: { ...ENERGY }, stakes: new Map([[OWNER, 100n * TRX]]) } as unknown as Books;
  });

  const move = (type: string, said: Message, nowMs = NOW_MS): void => {
    const value = {
      owner_address: prefixed(OWNER),
      receiver_address: prefixed(BOB),
      resource: 'ENERGY',
      balance: 10n * TRX,
      ...said,
    };
    const raw = buildRaw({
      type: `${type}Contract`,
      value: Object.fromEntries(Object.entries(value).filter(([, one]) => one !== '' && one !== 0n)),
      refBlockId: '00'.repeat(32),
      expirationMs: nowMs + 60_000,
      timestampMs: nowMs,
    });
    moveEnergy(books, readSigned(raw, []), { height: 1, headMs: nowMs });
  };
  const lend = (said: Message = {}, nowMs?: number) => move('DelegateResource', said, nowMs);
  const takeBack = (said: Message = {}, nowMs?: number) => move('UnDelegateResource', said, nowMs);
  const refusalOf = (act: () => void): string => {
    try {
      act();
    } catch (error) {
      if (error instanceof Refusal) return `${error.code}: ${error.message}`;
      throw error;
    }
    return 'taken';
  };
  const because = (words: string): string => `CONTRACT_VALIDATE_ERROR: Contract validate error : ${words}`;
  const get = (key: AddressKey): Account => accounts.get(key) as Account;

  const REFUSED: readonly (readonly [why: string, said: Message, words: string])[] = [
    ['less than 1 TRX', { balance: TRX - 1n }, 'delegateBalance must be more than 1TRX'],
    [
      'more than is there',
      { balance: 100n * TRX + 1n },
      'delegateBalance must be less than available FreezeEnergyV2 balance',
    ],
    [
      'bandwidth, of which nobody has a stake',
      { resource: 'BANDWIDTH' },
      'delegateBalance must be less than available FreezeBandwidthV2 balance',
    ],
    ['votes', { resource: 'TRON_POWER' }, 'ResourceCode error, valid ResourceCode[BANDWIDTH、ENERGY]'],
    ['to no address', { receiver_address: '' }, 'Invalid receiverAddress'],
    [
      'to oneself',
      { receiver_address: prefixed(OWNER) },
      'receiverAddress must not be the same as ownerAddress',
    ],
    ['to no account', { receiver_address: prefixed(NOBODY) }, `Account[41${NOBODY}] not exists`],
    [
      'to a contract',
      { receiver_address: prefixed(CONTRACT) },
      'Do not allow delegate resources to contract addresses',
    ],
    [
      'for too long',
      { lock: 1n, lock_period: 86_401n },
      'The lock period of delegate resource cannot be less than 0 and cannot exceed 86400!',
    ],
  ];
  for (const [why, said, words] of REFUSED)
    it(`are refused: ${why}`, () => {
      const mark = accounts.mark();
      expect(refusalOf(() => lend(said))).to.equal(because(words));
      expect(accounts.mark()).to.equal(mark);
    });

  it('are as much as there is, to the last sun', () => {
    lend({ balance: 100n * TRX });
    expect(lendableAt(books, get(OWNER), NOW_MS)).to.equal(0n);
    expect([energyLimitOf(books, get(OWNER)), energyLimitOf(books, get(BOB))]).to.deep.equal([0n, 449n]);
  });

  it('do not cover energy that the owner has used', () => {
    accounts.set({ ...get(OWNER), energyUsed: 45n, energyMs: NOW_MS });
    const most = lendableAt(books, get(OWNER), NOW_MS);
    expect(most).to.equal(100n * TRX - (45n * TRX * ENERGY.weight) / ENERGY.limit);
    expect(refusalOf(() => lend({ balance: most + 1n }))).to.include('FreezeEnergyV2');
    lend({ balance: most });
  });

  it('are taken back no further than they were given', () => {
    expect(refusalOf(() => takeBack())).to.equal(because('delegated Resource does not exist'));
    lend();
    for (const [said, words] of [
      [{ balance: 0n }, 'unDelegateBalance must be more than 0 TRX'],
      [
        { balance: 10n * TRX + 1n },
        'insufficient delegateFrozenBalance(Energy), request=10000001, unlock_balance=10000000',
      ],
      [
        { resource: 'BANDWIDTH' },
        'insufficient delegatedFrozenBalance(BANDWIDTH), request=10000000, unlock_balance=0',
      ],
      [{ resource: 'TRON_POWER' }, 'ResourceCode error.valid ResourceCode[BANDWIDTH、Energy]'],
      [{ receiver_address: '' }, 'Invalid receiverAddress'],
      [{ receiver_address: prefixed(OWNER) }, 'receiverAddress must not be the same as ownerAddress'],
      [{ receiver_address: prefixed(CONTRACT) }, 'delegated Resource does not exist'],
    ] as const)
      expect(refusalOf(() => takeBack(said))).to.equal(because(words));
    takeBack();
    expect(refusalOf(() => takeBack())).to.equal(because('delegated Resource does not exist'));
    expect([get(OWNER).loans, get(BOB).borrowed]).to.deep.equal([{}, 0n]);
  });

  it('stay where they are while they are locked', () => {
    lend({ lock: 1n, lock_period: 2n });
    lend({ balance: 3n * TRX });
    const request = 'insufficient delegateFrozenBalance(Energy), request=10000000, unlock_balance=3000000';
    for (const afterMs of [0, 6_000])
      expect(refusalOf(() => takeBack({}, NOW_MS + afterMs))).to.equal(because(request));
    expect(refusalOf(() => lend({ lock: 1n, lock_period: 1n }))).to.include('remaining time[6000ms]');
    takeBack({ balance: 13n * TRX }, NOW_MS + 6_001);
    expect(lendableAt(books, get(OWNER), NOW_MS)).to.equal(100n * TRX);
  });

  it('take their share of what was used back with them', () => {
    lend();
    accounts.set({ ...get(BOB), energyUsed: 40n, energyMs: NOW_MS });
    takeBack({ balance: 4n * TRX });
    expect([OWNER, BOB].map((key) => energyUsedAt(get(key), NOW_MS))).to.deep.equal([16n, 24n]);
    takeBack({ balance: 6n * TRX });
    expect([OWNER, BOB].map((key) => energyUsedAt(get(key), NOW_MS))).to.deep.equal([40n, 0n]);
  });

  it('are said in the bytes that were recorded, both ways', () => {
    for (const name of ['stake_delegate_energy', 'stake_delegate_energy_small', 'stake_undelegate']) {
      const { raw_data, raw_data_hex, txID }: Answer = recordedAs(
        `wallet_gettransactionbyid__${name}`,
      ).response;
      const signed = readSigned(Buffer.from(raw_data_hex, 'hex'), []);
      expect(signed.id).to.equal(txID);
      expect(rawOfJson(raw_data, false).toString('hex')).to.equal(raw_data_hex);
      const plain = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one)));
      expect(plain(showRaw(signed.message, false))).to.deep.equal(plain(raw_data));
    }
  });
});
