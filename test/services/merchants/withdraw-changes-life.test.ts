import { expect } from 'chai';
import { A, B, C, type ChangeStage, HOUR_S, onTron, startChangeStage } from './change-stage.ts';

describe('the life of a changed withdraw address', function () {
  this.timeout(180_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  after(() => stage?.stop());

  /** What counts and how each change ended, as the audit rows alone tell it. */
  function explained(trail: Awaited<ReturnType<ChangeStage['trail']>>) {
    let present: string | null = null;
    const outcomes: Record<string, string> = {};
    const WORDS: Readonly<Record<string, string>> = { changed: 'counted' };
    for (const { action, subject, after } of trail) {
      const facts = (after ?? {}) as Record<string, string | null>;
      if (facts['withdraw_bsc'] !== undefined) present = facts['withdraw_bsc'];
      const word = action.replace(/^withdraw_address\./, '');
      if (word === action || word === 'asked') continue;
      expect(outcomes[subject], 'a second end').to.equal(undefined);
      outcomes[subject] = WORDS[word] ?? word;
    }
    return { present, outcomes };
  }

  it('leaves nothing of a count that breaks at the end of its transaction, and is counted by one of two', async () => {
    const merchantId = await stage.newMerchant();
    const { id } = await stage.ask(B, {}, merchantId);
    stage.pass(24 * HOUR_S);
    const broken = { ...stage.deps, newId: () => 'no id' };
    expect(await stage.count(undefined, broken).catch(() => 'failed')).to.equal('failed');
    expect([await stage.present('bsc', merchantId), await stage.outcomes(merchantId)]).to.deep.equal([
      null,
      [{ id, address: B, outcome: null }],
    ]);
    const both = await Promise.all([stage.count(), stage.count()]);
    expect(both.toSorted()).to.deep.equal([0, 1]);
    const said = explained(await stage.trail(merchantId));
    expect(said).to.deep.equal({ present: B, outcomes: { [id]: 'counted' } });
  });

  it('has one outcome where everything happens to it in the same moment', async () => {
    stage.clock.now = new Date('2026-07-01T00:00:00Z');
    const seen = new Set<string | null>();
    for (let round = 0; round < 12; round += 1) {
      const merchantId = await stage.newMerchant();
      await stage.set(A, 'bsc', merchantId);
      const { id } = await stage.ask(B, {}, merchantId);
      stage.pass(24 * HOUR_S);
      const works: (() => Promise<unknown>)[] = [
        () => stage.count(),
        () => stage.count(),
        () => stage.cancel(id, merchantId),
        () => stage.ask(C, {}, merchantId),
        ...(round % 2 === 0 ? [] : [() => stage.set(onTron('a1'), 'tron', merchantId)]),
        ...(round % 3 === 0 ? [() => stage.set(C, 'bsc', merchantId)] : []),
      ];
      const first = round % works.length;
      await Promise.allSettled([...works.slice(first), ...works.slice(0, first)].map((work) => work()));
      const rows = await stage.outcomes(merchantId);
      const outcome = rows.find((row) => row.id === id)?.outcome ?? null;
      seen.add(outcome);
      const said = explained(await stage.trail(merchantId));
      expect(said.outcomes[id]).to.equal(outcome);
      expect(await stage.present('bsc', merchantId)).to.equal(said.present);
      expect(rows.filter((row) => row.outcome === null)).to.have.length.at.most(1);
      for (const open of rows.filter((row) => row.outcome === null)) await stage.cancel(open.id, merchantId);
    }
    expect([...seen]).to.include.members(['counted', 'cancelled']);
  });
});
