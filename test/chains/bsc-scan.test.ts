import { expect } from 'chai';
import { TEST_CHAIN_ID, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import { TRANSFER_TOPIC } from '../../src/chains/bsc/block.ts';
import { firstBlockSince } from '../../src/chains/first-block.ts';
import type { ChainReader } from '../../src/chains/reader.ts';
import { ChainMismatch } from '../../src/chains/rpc/errors.ts';
import { ALICE, BOB, bscScene, STRANGER, signal } from './bsc-scene.ts';
import { failureOf } from './conformance/scene.ts';

const pad = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;
const TOKEN = { currency: 'USDT', kind: 'token' } as const;
/** With what there is already, all that 256 bits can count. */
const MAX = 2n ** 256n - 1n - 1_000_000n * USDT_UNIT;
const TO_ALICE = [TRANSFER_TOPIC, pad(STRANGER), pad(ALICE)] as const;

/** What is there on BNB Chain beside what `conformance/suite.ts` tells of every chain. */
describe('scanning real blocks of BNB Chain', () => {
  const the = bscScene();
  let reader: ChainReader;
  let paying: string;
  /** A deposit address whose key the node has, so that it can send. */
  let customer: string;
  let gasWallet: string;
  let other: string;

  before(async () => {
    const { chain, payer } = the;
    [paying = '', customer = '', gasWallet = '', other = ''] = chain.accounts;
    the.watched.add(customer);
    the.watched.add(gasWallet, 'gas');
    reader = the.readerOf(the.proxies, { unrecognisedLimit: 5 });
    for (const to of [customer, gasWallet, other]) await chain.usdt.call('transfer', [to, USDT_UNIT]);
    for (const from of [paying, gasWallet, other])
      await chain.usdt.call('approve', [payer.address, 1_000n], { from });
    await chain.mine();
  });

  const pay = (to: readonly string[], units: readonly bigint[]) =>
    the.payer.call('pay', [the.chain.usdt.address, to, units]);
  const pull = (from: readonly string[], to: readonly string[], units: readonly bigint[]) =>
    the.payer.call('pull', [the.chain.usdt.address, from, to, units], { from: the.chain.accounts[5] ?? '' });

  type Paid = readonly [to: string, from: string | null, units: bigint];
  const PAYMENTS: Readonly<Record<string, () => [Promise<string>, ...Paid[]]>> = {
    'all transfers of one asset to one address in one transaction as one': () => [
      pay([ALICE, ALICE, ALICE], [1n, 20n, 300n]),
      [ALICE, the.payer.address, 321n],
    ],
    'no sender where the summed transfers have different ones': () => [
      pull([paying, other], [ALICE, ALICE], [40n, 2n]),
      [ALICE, null, 42n],
    ],
    'two transfers of one transaction that pays two customers': () => [
      pay([ALICE, STRANGER, BOB], [1n, 9n, 2n]),
      [ALICE, the.payer.address, 1n],
      [BOB, the.payer.address, 2n],
    ],
    'a sum without the part of our own wallets': () => [
      pull([gasWallet, paying], [ALICE, ALICE], [40n, 2n]),
      [ALICE, paying, 2n],
    ],
    'an amount that needs all 256 bits': () => [
      the.chain.usdt.call('mint', [ALICE, MAX]),
      [ALICE, `0x${'0'.repeat(40)}`, MAX],
    ],
  };
  for (const [name, act] of Object.entries(PAYMENTS))
    it(`shows ${name}`, async () => {
      const [sent, ...paid] = act();
      const txHash = await sent;
      const { transfers, unrecognised } = await the.scan(reader);
      const expected = paid.map(([to, from, amountUnits]) => ({ txHash, to, from, amountUnits, ...TOKEN }));
      expect([transfers, unrecognised]).to.deep.equal([expected, []]);
      if (paid[0]?.[2] === MAX) await the.chain.reorg(1);
    });

  it('shows a token and a coin of one transaction apart', async () => {
    const txHash = await the.payer.call('payBoth', [the.chain.usdt.address, ALICE, 7n, 21n]);
    const paid = { txHash, to: ALICE, from: the.payer.address };
    expect((await the.scan(reader)).transfers).to.have.deep.members([
      { ...paid, ...TOKEN, amountUnits: 7n },
      { ...paid, currency: 'BNB', kind: 'native', amountUnits: 21n, inside: true },
    ]);
  });

  it('credits nothing of zero value, of a failed part or transaction, or of a wallet of ours', async () => {
    const { chain, payer } = the;
    await chain.usdt.call('transfer', [ALICE, 0n]);
    await chain.send({ to: ALICE, valueUnits: 0n });
    await payer.call('payAndFail', [chain.usdt.address, ALICE, 5n]);
    await payer.call('payAndSwallow', [chain.usdt.address, ALICE, 5n]);
    await chain.send({ to: null, valueUnits: 0n, data: '0x00' });
    await chain.send({ from: customer, to: ALICE, valueUnits: 5n });
    await chain.usdt.call('transfer', [BOB, 5n], { from: customer });
    const block = await the.scan(reader);
    expect([block.transfers, block.unrecognised]).to.deep.equal([[], []]);
  });

  it('credits no BNB of a transaction that failed', async () => {
    const { chain, watched } = the;
    watched.add(chain.usdt.address);
    const txHash = await chain.send({ to: chain.usdt.address, valueUnits: 5n, data: '0xdeadbeef' });
    const block = await the.scan(reader);
    expect(await chain.anvil.rpc('eth_getTransactionReceipt', [txHash])).to.include({ status: '0x0' });
    expect(block.transfers).to.deep.equal([]);
  });

  it('never credits a forged Transfer log, nor one in an odd form, also of the token itself', async () => {
    for (const data of [word(5n), '0x', word(5n) + word(6n).slice(2)])
      await the.payer.call('log3', [...TO_ALICE, data]);
    await the.payer.call('log4', [...TO_ALICE, word(5n)]);
    const { transfers, unrecognised } = await the.scan(reader);
    expect([transfers, unrecognised.map(({ amountUnits }) => amountUnits)]).to.deep.equal([
      [],
      [5n, null, null, null],
    ]);
    const odd = the.readerOf(the.proxies, { usdtContract: the.payer.address });
    await the.payer.call('log3', [...TO_ALICE, `${word(5n)}00`]);
    await the.payer.call('log4', [...TO_ALICE, word(5n)]);
    await the.payer.call('log3', [TRANSFER_TOPIC, pad(STRANGER), pad(BOB), word(6n)]);
    const own = await the.scan(odd);
    expect(own.transfers.map(({ amountUnits }) => amountUnits)).to.deep.equal([6n]);
    expect(own.unrecognised.map(({ reason }) => reason)).to.deep.equal(
      Array(2).fill('a Transfer log of the token contract in an unknown form'),
    );
  });

  it('proves chain and token at the start, and says what is wrong', async () => {
    await reader.checkIdentity(signal);
    const { address: token6 } = await the.chain.deploy(testContracts().Token, [6]);
    for (const [usdtContract, chainId, said] of [
      [token6, TEST_CHAIN_ID, /has 6 decimals, not 18: correct BSC_USDT_CONTRACT$/],
      [STRANGER, TEST_CHAIN_ID, /no token contract at 0x5e5e/],
      [the.payer.address, TEST_CHAIN_ID, /refuses decimals\(\)/],
      [the.chain.usdt.address, 97, /serves chain id 56 instead of 97/],
    ] as const) {
      const wrong = the.readerOf(the.poolOf(the.proxies, { chainId }), { usdtContract });
      const failure = await failureOf(wrong.checkIdentity(signal));
      expect(failure).to.be.instanceOf(ChainMismatch);
      expect(String(failure)).to.match(said);
    }
  });

  it('finds the first block at or after a time, wherever it lies', async () => {
    const start = await reader.head(signal);
    const times = Array.from({ length: 12 }, (_, at) => Math.floor(start.timestampMs / 1_000) + at * 10 + 10);
    for (const [at, seconds] of times.entries()) {
      await the.chain.anvil.rpc('evm_setNextBlockTimestamp', [seconds + (at % 3)]);
      await the.chain.mine();
    }
    const head = await reader.head(signal);
    const firstSince = async (ms: number) => (await firstBlockSince(reader, ms, signal)).number;
    let beforeMs = start.timestampMs;
    for (let number = start.number + 1; number <= head.number; number++) {
      const { timestampMs = 0 } = (await reader.header(number, signal)) ?? {};
      expect([await firstSince(timestampMs), await firstSince(beforeMs + 1)]).to.deep.equal([number, number]);
      beforeMs = timestampMs;
    }
    expect([await firstSince(head.timestampMs + 1), await firstSince(0)]).to.deep.equal([head.number, 0]);
  });
});
