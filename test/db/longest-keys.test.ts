import { expect } from 'chai';
import fc from 'fast-check';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { CURRENCIES, NETWORKS } from '../../src/domain/assets.ts';
import {
  depositWorkflowId,
  eventWorkflowId,
  paymentWorkflowId,
  resendWorkflowId,
} from '../../src/domain/ids.ts';
import { fitted } from '../../src/domain/text.ts';
import { freezePrice } from '../../src/services/deposits/price.ts';
import type { Deps } from '../../src/services/deps.ts';
import { noteFailedRun, registerLoops } from '../../src/services/loop-runs.ts';
import { insertOutbox } from '../../src/services/outbox/insert.ts';
import { performOutbox } from '../../src/services/outbox/perform.ts';
import { notePassFault } from '../../src/services/reconciliation/pass.ts';
import { recordUnrecognised } from '../../src/services/uncredited/unrecognised.ts';
import { noteFault } from '../../src/services/watcher/cursor.ts';
import { orNoteStop } from '../../src/services/watcher/stops.ts';
import { testDeps } from '../support/gateway.ts';

const UUID = 'f'.repeat(36);
const HASH = `0x${'f'.repeat(64)}`;
const ADDRESS = 'f'.repeat(64);
const MAX_INT = 2_147_483_647;
const { signal } = new AbortController();

describe('texts in columns of limited length', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let deps: Deps;
  let now = new Date('2026-11-20T09:00:00Z');
  let refusal = '';

  before(async () => {
    database = await freshDatabase();
    const actors = { start: () => Promise.reject(new Error(refusal)) } as never;
    deps = { ...(await testDeps(database.url, [], { actors })), now: () => now };
    await deps.orm.migrator.up();
    await rows(
      `insert into chain_cursors (network, first_block, scanned_number, scanned_hash, reread_number,
         anchored_number, head_number, finalized_number,
         moved_at, finalized_moved_at, polled_at, version, created_at)
           values ('bsc', 1, 1, '0x', 0, 0, 1, 0, now(), now(), now(), 1, now()) returning network`,
    );
    await rows(
      `insert into balance_rounds (network, started_number, started_at, agreed_number, checked)
        values ('bsc', 1, now(), 0, 0) returning network`,
    );
    await registerLoops(deps, [{ name: 'a loop', everyMs: 1_000 }]);
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  const rows = (sql: string, params: unknown[] = []) =>
    deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, params);
  const limitOf = async (column: string): Promise<number> => {
    const [found] = await rows(
      `select character_maximum_length as most from information_schema.columns
        where table_schema = 'public' and table_name || '.' || column_name = ?`,
      [column],
    );
    if (typeof found?.['most'] !== 'number') throw new Error(`${column} has no limit`);
    return found['most'];
  };
  const longest = (texts: readonly string[]): number => Math.max(...texts.map((text) => text.length));

  it('hold the longest id of each actor', async () => {
    const deposits = NETWORKS.flatMap((network) =>
      CURRENCIES.map((currency) =>
        depositWorkflowId({ network, currency, txHash: HASH, address: ADDRESS, generation: MAX_INT }),
      ),
    );
    const others = [eventWorkflowId(UUID), paymentWorkflowId(UUID), resendWorkflowId(UUID, MAX_INT)];
    expect(longest([...deposits, ...others])).to.be.at.most(await limitOf('outbox.workflow_id'));
  });

  /**
   * What an endpoint, a server or a driver may say: any length,
   * any character, and the worst ones at every place of a cut.
   */
  const said = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1_200, size: 'max' }),
    fc
      .tuple(fc.nat(4), fc.constantFrom('😀', '\0', '\uD83D', 'é', '𝒳'))
      .map(([shift, worst]) => 'x'.repeat(shift) + worst.repeat(1_300)),
  );
  const always = async (write: (text: string) => Promise<void>): Promise<void> => {
    await fc.assert(fc.asyncProperty(said, write), { numRuns: 25, endOnFailure: true });
  };

  it('are cut between whole characters, and keep the beginning of what was said', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 1, max: 50 }),
        (text, most) => {
          const cut = fitted(text, most);
          expect(cut.length).to.be.at.most(most);
          expect(cut.isWellFormed()).to.equal(true);
          expect(cut.length).to.be.at.least(Math.min(text.length, most) - 1);
          expect(text.replaceAll('\0', ' ').toWellFormed().startsWith(cut)).to.equal(true);
        },
      ),
    );
  });

  it('take whatever stopped a chain, a round or a loop', async () => {
    await always(async (text) => {
      await noteFault(deps, 'bsc', text);
      await notePassFault(deps, 'bsc', text);
      await noteFailedRun(deps, 'a loop', text);
      await rows(`update chain_cursors set stops = '{}' returning network`);
      await orNoteStop(deps, { network: 'bsc', part: 'first read', number: 1, signal }, () =>
        Promise.reject(new Error(`x${text}`)),
      ).catch(() => undefined);
      const [kept] = await rows('select stops from chain_cursors');
      expect(Object.keys(kept?.['stops'] as object)).to.deep.equal(['first read']);
    });
  });

  it('take whatever Temporal said of a message, and put the message off', async () => {
    await always(async (text) => {
      refusal = text;
      await insertOutbox(deps.orm.em.fork(), deps, [
        { workflowId: 'one', message: { workflowType: 'deposit', args: [] } as never },
      ]);
      now = new Date(now.getTime() + 3_600_000);
      await performOutbox(deps);
      expect((await rows('select tries from outbox')).map((row) => row['tries'])).to.deep.equal([1]);
      await rows('delete from outbox returning id');
    });
  });

  it('take whatever a token is told to be, and a price source is called', async () => {
    const source = await limitOf('deposits.rate_source');
    let block = 0;
    await always(async (text) => {
      block += 1;
      const txHash = `0x${block.toString(16).padStart(64, '0')}`;
      const transfer = { txHash, to: `0x${'a'.repeat(40)}`, contract: HASH.slice(0, 42), amountUnits: 1n };
      const transfers = [{ ...transfer, reason: text }];
      const em = deps.orm.em.fork();
      await recordUnrecognised(em, deps, { network: 'bsc', blockNumber: block, transfers });
      const deposit = { network: 'bsc', currency: 'BNB', amountUnits: 1n, rateSource: '' };
      freezePrice(deposit as never, { usd8: 1n, source: text, at: now, stale: true });
      expect(deposit.rateSource.length).to.be.at.most(source);
      expect(deposit.rateSource).to.not.contain('\0');
    });
  });
});
