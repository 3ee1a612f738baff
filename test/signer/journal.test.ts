import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open as openAsUsual } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { tempDir } from '../../dev/support/parts.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { SENT_PURPOSES } from '../../src/domain/payouts/purpose.ts';
import { type Journal, JournalBroken, JournalHeld, openJournal } from '../../src/signer/journal.ts';
import { hashOfLine, type JournalEntry } from '../../src/signer/journal-lines.ts';

const NOW = new Date('2026-11-24T12:00:00.000Z');
const FROM = keyOfHex('aa'.repeat(20));
const MERCHANT = randomUUID();

type Signed = Extract<JournalEntry, { kind: 'signed' }>;
let hashes = 0;
const signed = (change: Partial<Signed> = {}): Signed => {
  hashes += 1;
  return {
    kind: 'signed',
    network: 'bsc',
    purpose: 'payout',
    payout_id: randomUUID(),
    attempt: 1,
    merchant_id: MERCHANT,
    deposits: [randomUUID()],
    from: FROM,
    to: 'bb'.repeat(20),
    currency: 'USDT',
    amount: '1000',
    price: '5',
    nonce: hashes,
    expires_at: null,
    hash: `0x${hashes.toString(16).padStart(64, '0')}`,
    raw: `f8${hashes.toString(16).padStart(8, '0')}`,
    ...change,
  };
};

const thrown = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not throw'),
    (error: Error) => error,
  );

describe("the signer's journal", () => {
  let file: string;
  const opened: Journal[] = [];
  const open = async (): Promise<Journal> => {
    const journal = await openJournal({ file, now: NOW });
    opened.push(journal);
    return journal;
  };
  beforeEach(async () => {
    file = join(await tempDir('journal'), 'deep', 'journal');
  });
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close().catch(() => undefined);
  });

  it('remembers whatever was written, across any number of openings', async () => {
    const step = fc.oneof(
      fc.record({
        amount: fc.bigInt(0n, 2n ** 200n).map(String),
        raw: fc.uint8Array({ minLength: 1, maxLength: 90 }),
        purpose: fc.constantFrom(...SENT_PURPOSES),
        deposits: fc.array(fc.uuid({ version: [4, 7] }), { minLength: 1, maxLength: 4 }),
        nonce: fc.option(fc.nat()),
        price: fc.option(fc.bigInt(0n, 2n ** 90n).map(String)),
        expires_at: fc.option(fc.constant('2028-02-29T23:59:59.999Z')),
      }),
      fc.constant('open' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        file = join(await tempDir('journal'), 'journal');
        let journal = await openJournal({ file, now: NOW });
        const wrote: Signed[] = [];
        for (const one of [...steps, 'open' as const]) {
          if (one === 'open') {
            const [id, head, length] = [journal.index.id, journal.index.head, journal.index.length];
            await journal.close();
            journal = await openJournal({ file, now: NOW });
            expect([journal.index.id, journal.index.head, journal.index.length]).to.deep.equal([
              id,
              head,
              length,
            ]);
            expect(journal.repairedBytes).to.equal(0);
          } else {
            const entry = signed({ ...one, raw: Buffer.from(one.raw).toString('hex') });
            await journal.append(entry, NOW);
            wrote.push(entry);
          }
        }
        for (const entry of wrote) {
          expect(journal.index.ofHash(entry.hash)?.raw).to.equal(entry.raw);
          expect(journal.index.ofDeposit(entry.deposits.at(-1) ?? '')[0]?.amount).to.equal(
            BigInt(entry.amount),
          );
          const ofPayout = journal.index.ofPayout(entry.purpose, entry.payout_id);
          expect(ofPayout.map(({ hash }) => hash)).to.deep.equal([entry.hash]);
        }
        expect(journal.index.length).to.equal(1 + wrote.length);
        const nonces = wrote.map(({ nonce }) => nonce).filter((nonce) => nonce !== null);
        expect(journal.index.lastNonce('bsc', FROM) ?? -1).to.equal(Math.max(-1, ...nonces));
        for (const nonce of [...nonces, 99])
          expect(journal.index.holds('bsc', FROM, nonce)).to.equal(nonces.includes(nonce));
        await journal.close();
      }),
      { numRuns: 25 },
    );
  });

  it('takes away a last line that was not written to its end, whatever is left of it, and nothing else', async () => {
    const first = await open();
    expect(statSync(file).mode & 0o777, 'its owner alone').to.equal(0o600);
    const kept = signed();
    await first.append(kept, NOW);
    const whole = statSync(file).size;
    await first.append(signed(), NOW);
    await first.close();
    const full = statSync(file).size;
    const bytes = readFileSync(file);
    for (const size of [whole + 1, Math.floor((whole + full) / 2), full - 2, full - 1]) {
      writeFileSync(file, bytes);
      truncateSync(file, size);
      const journal = await open();
      expect(journal.repairedBytes, `${size}`).to.equal(size - whole);
      expect(statSync(file).size).to.equal(whole);
      expect([journal.index.length, journal.index.ofHash(kept.hash)?.n]).to.deep.equal([2, 2]);
      const next = signed();
      await journal.append(next, NOW);
      await journal.close();
      const again = await open();
      expect([again.index.length, again.index.ofHash(next.hash)?.n]).to.deep.equal([3, 3]);
      await again.close();
    }
  });

  it('is broken by a changed, a missing, a doubled and a strange line', async () => {
    const journal = await open();
    for (let n = 0; n < 4; n += 1) await journal.append(signed(), NOW);
    await journal.close();
    const lines = readFileSync(file, 'utf8').split('\n');
    const [, one = '', two = '', , four = ''] = lines;
    const changes: Record<string, string[]> = {
      changed: lines.with(2, two.replace('"amount":"1000"', '"amount":"1001"')),
      missing: lines.toSpliced(2, 1),
      'missing at the start': lines.slice(1),
      doubled: lines.toSpliced(2, 0, two),
      swapped: lines.with(1, two).with(2, one),
      strange: lines.toSpliced(5, 0, '{}'),
      empty: lines.toSpliced(3, 0, ''),
      'without a member': lines.with(2, two.replace('"hash"', '"bash"')),
      'cut with its end': lines.with(2, two.slice(0, -1)),
      ...Object.fromEntries(
        [
          ['"nonce"', '"nonbe"'],
          ['"raw":"f8', '"raw":"g8'],
          ['"deposits":[', '"deposits":[1,'],
          ['"attempt":1', '"attempt":0'],
        ].map(([by = '', instead = '']) => [
          `last with ${instead}`,
          lines.with(4, four.replace(by, instead)),
        ]),
      ),
    };
    for (const [name, changed] of Object.entries(changes)) {
      writeFileSync(file, changed.join('\n'));
      const error = await thrown(open());
      expect(error, name).to.be.instanceOf(JournalBroken);
      expect(error.message, name).to.match(/^Line \d+ of .*Restore the journal from its backup/);
    }
    writeFileSync(file, lines.join('\n'));
    expect((await open()).index.length).to.equal(5);
  });

  it('tells keys apart that end alike, and reads nothing that is another line by now', async () => {
    const journal = await open();
    const id = randomUUID();
    const [first = '', other = ''] = ['a', 'b'].map((letter) => `${letter}${id.slice(1)}`);
    const alike = { deposits: [first], from: `${'cc'.repeat(16)}${'aa'.repeat(4)}`, nonce: 5 };
    const one = signed(alike);
    await journal.append(one, NOW);
    const two = signed({ payout_id: other, deposits: [first, other], nonce: 3 });
    await journal.append(two, NOW);
    const three = signed({ purpose: 'gas', deposits: [], from: 'dd'.repeat(20), to: FROM, nonce: 9 });
    await journal.append(three, NOW);
    const { index } = journal;
    const hashesOf = (lines: readonly { hash: string }[]) => lines.map(({ hash }) => hash);
    expect(hashesOf(index.ofDeposit(first))).to.deep.equal([one.hash, two.hash]);
    expect(hashesOf(index.ofDeposit(other))).to.deep.equal([two.hash]);
    expect(hashesOf(index.ofDeposit(`c${id.slice(1)}`))).to.deep.equal([]);
    expect(hashesOf(index.ofPayout('payout', other))).to.deep.equal([two.hash]);
    expect(['bsc', 'tron'].map((network) => index.lastNonce(network as 'bsc', FROM))).to.deep.equal([
      3,
      undefined,
    ]);
    expect(hashesOf(index.topUps('bsc', FROM))).to.deep.equal([three.hash]);
    const lines = readFileSync(file, 'utf8').split('\n');
    expect([0, 1, 2, 3, 4].map((n) => index.hashOf(n + 1) ?? null)).to.deep.equal([
      ...lines.slice(0, 4).map(hashOfLine),
      null,
    ]);
    await journal.close();
    const again = await open();
    writeFileSync(file, lines.join('\n').replaceAll('"attempt":1', '"attempt":2'));
    for (const read of [() => again.index.ofDeposit(first), () => again.index.ofHash(three.hash)])
      expect(read).to.throw(JournalBroken, /^Line \d of .* is not what was written there/);
    rmSync(file);
    expect(() => again.index.ofPayout('payout', other)).to.throw(JournalBroken);
  });

  it('reads what an address was given back to its last payout, and none of the years before', async () => {
    const journal = await open();
    const gas = () => signed({ purpose: 'gas', deposits: [], from: 'dd'.repeat(20), to: FROM });
    const [before, paid, since] = [gas(), signed(), gas()];
    for (const line of [before, paid, since]) await journal.append(line, NOW);
    writeFileSync(file, readFileSync(file, 'utf8').replace(before.hash, before.hash.replace('0x0', '0x1')));
    expect(() => journal.index.ofHash(before.hash)).to.throw(JournalBroken);
    expect(journal.index.topUps('bsc', FROM).map(({ hash }) => hash)).to.deep.equal([since.hash]);
  });

  it('is held by one process at a time, and free again when that one ends', async () => {
    const first = await open();
    expect(await thrown(open())).to.be.instanceOf(JournalHeld);
    await first.close();
    expect((await open()).index.id).to.equal(first.index.id);
  });

  it('says that a line is written once it is through to the disk, and writes no more where that failed', async () => {
    const did: string[] = [];
    let isBroken = false;
    const openFile: Parameters<typeof openJournal>[0]['openFile'] = async (...asked) => {
      const handle = await openAsUsual(...asked);
      const [write, datasync] = [handle.write.bind(handle), handle.datasync.bind(handle)];
      return Object.assign(handle, {
        write: async (bytes: Buffer) => {
          did.push('write');
          return await write(bytes);
        },
        datasync: async () => {
          await datasync();
          if (isBroken) throw new Error('EIO');
          did.push('datasync');
        },
      });
    };
    const journal = await openJournal({ file, now: NOW, openFile });
    opened.push(journal);
    did.length = 0;
    const append = async () => {
      await journal.append(signed(), NOW);
      did.push('written');
    };
    await Promise.all([append(), append()]);
    expect(did).to.deep.equal(['write', 'datasync', 'written', 'write', 'datasync', 'written']);
    isBroken = true;
    const failed = signed();
    for (const entry of [failed, signed()])
      expect(await thrown(journal.append(entry, NOW))).to.be.instanceOf(JournalBroken);
    expect([journal.index.length, journal.index.ofHash(failed.hash)]).to.deep.equal([3, undefined]);
    expect(did.slice(6)).to.deep.equal(['write']);
  });

  it('writes no line that it could not read again, and is broken where somebody else wrote, or nobody can', async () => {
    const journal = await open();
    await journal.append(signed(), NOW);
    const size = statSync(file).size;
    const wrong = { ...signed(), raw: 'not hex' } as Signed;
    expect((await thrown(journal.append(wrong, NOW))).message).to.contain('could not be read again');
    expect(statSync(file).size).to.equal(size);
    appendFileSync(file, 'somebody else wrote here\n');
    await journal.append(signed(), NOW);
    await journal.close();
    expect(await thrown(open())).to.be.instanceOf(JournalBroken);
    const closed = await thrown(journal.append(signed(), NOW));
    expect(closed).to.be.instanceOf(JournalBroken);
    expect(closed.message).to.match(
      /^The signer's journal .*could not be written \(.*See that its disk has room/,
    );
    file = join(file, 'journal');
    const nowhere = await thrown(open());
    expect(nowhere).to.be.instanceOf(JournalBroken);
    expect(nowhere.message).to.match(
      /cannot be opened for writing \(E[A-Z]+.*Let the signer write to the file and its folder/,
    );
  });
});
