// The place of the next transaction of a wallet: what moves it, and what does not.
import { expect } from 'chai';
import { type TransactionLike, Wallet } from 'ethers';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { bscTransfers } from '../../../src/chains/bsc/transfer.ts';
import type { TransferTerms } from '../../../src/chains/transfer.ts';
import type { JournalIndex } from '../../../src/signer/journal-index.ts';
import { placeOfTransfer } from '../../../src/signer/pull/earlier.ts';
import type { SignCase } from '../../../src/signer/pull/facts.ts';
import { shownBy } from '../../support/shown-transaction.ts';

const NONE = `0x${'0'.repeat(40)}`;
const limits = { chainId: 56, usdtContract: NONE, maxGasPriceWei: 9n, maxGasLimit: 90_000n };
const transfers = bscTransfers(limits);
const [OURS, STRANGER] = [new Wallet(`0x${'11'.repeat(32)}`), new Wallet(`0x${'22'.repeat(32)}`)];
const fromKey = keyOfHex(OURS.address, 2);

type Case = {
  /** Nonces that the journal has signed for the wallet. */
  readonly journal?: readonly number[];
  readonly proofs?: readonly Promise<string>[];
  /** What the chain has of it; null where endpoints do not agree. */
  readonly chain?: number | null;
  readonly purpose?: 'gas' | 'payout';
};
const by = (wallet: Wallet, nonce: number, more: TransactionLike = {}): Promise<string> =>
  wallet.signTransaction({ type: 0, chainId: 56, nonce, gasLimit: 90_000n, gasPrice: 1n, to: NONE, ...more });
/** Leave to run code at our address, in somebody's transaction. */
const leave = async (wallet: Wallet, nonce: number, ownNonce: number): Promise<string> => {
  const authorizationList = [await OURS.authorize({ address: NONE, chainId: 56, nonce })];
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, gasPrice: null };
  return await by(wallet, ownNonce, { type: 4, ...fees, authorizationList });
};

async function placeFor({
  journal = [],
  proofs = [],
  chain = null,
  purpose = 'payout',
}: Case): Promise<number | null> {
  const index = {
    ofPayout: () => [],
    lastNonce: () => journal.toSorted((a, b) => a - b).at(-1),
    holds: (_network: string, _from: string, nonce: number) => journal.includes(nonce),
  } as Partial<JournalIndex> as JournalIndex;
  const asked = { network: 'bsc', purpose, payoutId: 'x', attempt: 1, fromKey };
  const raws = await Promise.all(proofs);
  const facts = { asked, outcomes: new Map(), proofs: raws.map(shownBy), index, transfers, now: new Date() };
  const terms = { chainNonce: chain, price: 1n };
  return placeOfTransfer(facts as unknown as SignCase, terms as unknown as TransferTerms);
}

describe('the next place of a wallet', () => {
  const cases: Readonly<Record<string, readonly [next: number | RegExp, of: Case]>> = {
    'follows the journal': [8, { journal: [6, 7], chain: 6 }],
    'begins at 0': [0, {}],
    'is filled by what its key signed elsewhere': [3, { journal: [0], proofs: [by(OURS, 2), by(OURS, 1)] }],
    'is filled from 0 on': [1, { proofs: [by(OURS, 0)], chain: 1 }],
    'is filled by leave to run code': [1, { proofs: [leave(STRANGER, 0, 5)], chain: 1 }],
    'is filled twice by leave that it gives itself': [2, { proofs: [leave(OURS, 1, 0)], chain: 2 }],
    'leaves no gap': [1, { journal: [0], proofs: [by(OURS, 2), by(OURS, 999)], chain: 1 }],
    'is nothing that another key signed': [0, { proofs: [by(STRANGER, 0)] }],
    'is nothing of another chain': [0, { proofs: [by(OURS, 0, { chainId: 97 })] }],
    'is nothing that the chain does not count': [0, { proofs: [by(OURS, 0)], chain: 0 }],
    'does not jump by the chain’s count alone': [
      /^the chain shows 9 .* knows of 1: /,
      { journal: [0], chain: 9 },
    ],
    'begins at the chain’s count for a gas wallet': [7, { purpose: 'gas', chain: 7 }],
    'waits where endpoints do not agree on that': [/^it is the first of its wallet/, { purpose: 'gas' }],
    'is none where nothing could land': [
      /none with number 2, so none after it can land/,
      { purpose: 'gas', journal: [7], chain: 2 },
    ],
  };
  for (const [name, [next, of]] of Object.entries(cases))
    it(`${name}`, async () => {
      const place = placeFor(of);
      if (typeof next === 'number') expect(await place).to.equal(next);
      else expect(await place.catch((error: Error) => error.message)).to.match(next);
    });
});
