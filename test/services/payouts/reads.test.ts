// Blocks as endpoints may show them, right or wrong: what each read leaves of our wallets’ sendings.
import { expect } from 'chai';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import type { SentByUs } from '../../../src/chains/outgoing.ts';
import type { ScannedBlock } from '../../../src/chains/reader.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { commitBlocks, commitVerified } from '../../../src/services/watcher/commit.ts';
import { readCursor } from '../../../src/services/watcher/cursor.ts';
import { quietBlock } from '../../../src/services/watcher/kept-blocks.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { addressesOf, ownXpubs, rowsOf } from '../watcher/test-watcher.ts';
import { noteSigned } from './stage.ts';

const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const address = (byte: string): string => `0x${byte.repeat(20)}`;
const [OURS, ALSO_OURS, STRANGER] = [address('a1'), address('a2'), address('5e')];
const TX = `0x${'7a'.repeat(32)}`;
const HEIGHTS = { headNumber: 1_000, finalizedNumber: 900 };

const block = (number: number, shown: Partial<ScannedBlock> = {}): ScannedBlock => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestampMs: 1_790_000_000_000 + number * 450,
  transfers: [],
  unrecognised: [],
  unrecognisedDropped: 0,
  ...shown,
});
const sent = (txHash: string, from = OURS, change: Partial<SentByUs> = {}): SentByUs => ({
  txHash,
  from,
  nonce: 7,
  ok: true,
  feeUnits: 21n,
  moves: [{ to: STRANGER, currency: 'BNB', units: 5n }],
  ...change,
});
describe('what a block shows of our wallets', function () {
  this.timeout(60_000);
  let api: TestApi;
  let deps: Deps;
  const rows = (text: string, values: unknown[] = []) => rowsOf(deps)(text, values);

  beforeEach(async () => {
    api = await startTestApi();
    deps = { ...api.deps, xpubs: ownXpubs() };
    await rows(
      `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
         anchored_number, head_number, finalized_number, moved_at, finalized_moved_at, polled_at, version,
         created_at)
       values ('bsc', 1, 9, ?, 9, 9, 9, 9, now(), now(), now(), 1, now()) returning network`,
      [hashOf(9)],
    );
  });
  afterEach(() => api?.stop());

  const cursor = async () => (await readCursor(deps, 'bsc')) ?? expect.fail('no cursor');
  const first = async (...blocks: ScannedBlock[]) => commitBlocks(deps, await cursor(), blocks, HEIGHTS);
  const second = async (one: ScannedBlock) => commitVerified(deps, await cursor(), one, HEIGHTS);
  const kept = async (): Promise<unknown[]> =>
    (await rows('select from_key, block_number, verified_at from sent_transactions order by from_key')).map(
      (row) => [
        String(row['from_key']).slice(0, 2),
        Number(row['block_number']),
        row['verified_at'] !== null,
      ],
    );

  it('is final at once where the block was final long before it was read, whoever sent it', async () => {
    const blocks = [
      block(10, { sent: [sent(TX, OURS, { ok: false })] }),
      block(11, { sent: [sent(hashOf(77))] }),
    ];
    await commitBlocks(deps, await cursor(), blocks, HEIGHTS, { final: true });
    expect(await kept()).to.deep.equal([
      ['a1', 10, true],
      ['a1', 11, true],
    ]);
  });

  it('is what the second reads show, wallet by wallet and block by block', async () => {
    // Of one wallet it is in no block, of the other it is another outcome than the first read showed.
    const wrong = { ok: false, feeUnits: 1n, moves: [] };
    await first(block(10, { sent: [sent(TX, OURS, wrong), sent(TX, ALSO_OURS)] }));
    expect(await kept()).to.have.length(2);
    await second(block(10, { sent: [sent(TX)] }));
    expect(await kept(), 'its key has signed it for all that').to.deep.equal([
      ['a1', 10, true],
      ['a2', 0, false],
    ]);
    await rows('delete from sent_transactions where block_hash is null returning id');
    const [row] = await rows('select ok, fee_units, moves from sent_transactions');
    expect([row?.['ok'], String(row?.['fee_units'])]).to.deep.equal([true, '21']);
    // First reads may show it in further blocks, and not at all what the second read shows.
    await first(block(11, { sent: [sent(TX)] }), block(12));
    await second(block(11));
    expect(await kept()).to.deep.equal([['a1', 10, true]]);
    await second(block(12, { sent: [sent(hashOf(78))] }));
    expect(await kept()).to.deep.equal([
      ['a1', 10, true],
      ['a1', 12, true],
    ]);
  });

  it('is no deposit where we signed it as a top-up, also for a reader that does not know the wallet', async () => {
    const owner = await addressesOf(api, deps, 'bsc')();
    const to = keyOfHex(owner.toLowerCase(), 2);
    const of = { deps, rows, network: 'bsc' } as const;
    await noteSigned(of, TX, { purpose: 'gas', from: keyOfHex(OURS, 2), to, units: 10n ** 16n });
    const transfer = { to: owner, from: OURS, currency: 'BNB', kind: 'native' } as const;
    const other = { ...transfer, txHash: hashOf(5), amountUnits: 10n ** 16n };
    const one = block(10, { transfers: [{ ...transfer, txHash: TX, amountUnits: 10n ** 16n }, other] });
    await first(one);
    await second(one);
    const deposits = await rows('select transaction_hash from deposits');
    expect(deposits).to.deep.equal([{ transaction_hash: other.txHash }]);
    expect(await rows('select * from unrecognised_transfers')).to.deep.equal([]);
  });

  it('keeps the second read of its block a whole one', async () => {
    await first(block(10, { fingerprint: 'f' }));
    expect((await quietBlock(deps, 'bsc', 10))?.number).to.equal(10);
    await second(block(10, { sent: [sent(TX)] }));
    expect(await quietBlock(deps, 'bsc', 10)).to.equal(undefined);
  });
});
