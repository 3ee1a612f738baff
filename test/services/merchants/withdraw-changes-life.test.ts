import { expect } from 'chai';
import fc from 'fast-check';
import { A, B, C, type ChangeStage, HOUR_S, onTron, startChangeStage } from './change-stage.ts';

const DAY_MS = 24 * HOUR_S * 1_000;
const ADDRESSES = [A, B, C, null] as const;

type Step =
  | { readonly kind: 'ask' | 'set'; readonly address: string | null }
  | { readonly kind: 'cancel' | 'count' | 'crash' }
  | { readonly kind: 'pass'; readonly hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), address: fc.constantFrom(...ADDRESSES) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set'), address: fc.constantFrom(...ADDRESSES) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('count', 'crash', 'cancel') }) },
  // A clock that is put back, too.
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass'), hours: fc.integer({ min: -6, max: 26 }) }) },
) as fc.Arbitrary<Step>;

type Model = {
  present: string | null;
  open: { readonly id: string; readonly address: string | null; readonly countsAt: number } | undefined;
  readonly ended: Map<string, string>;
};

describe('the life of a changed withdraw address', function () {
  this.timeout(180_000);
  let stage: ChangeStage;
  before(async () => {
    stage = await startChangeStage();
  });
  after(() => stage?.stop());

  const now = () => stage.clock.now.getTime();

  it('has one outcome, never early, and what counts is explained by the trail, in any order and by any clock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), async (steps) => {
        stage.clock.now = new Date('2026-06-01T00:00:00Z');
        const merchantId = await stage.newMerchant();
        const model: Model = { present: null, open: undefined, ended: new Map() };
        for (const one of steps) {
          await take(one, model, merchantId);
          await compare(model, merchantId);
        }
        if (model.open) await stage.cancel(model.open.id, merchantId);
      }),
      { numRuns: 25 },
    );
  });

  async function take(one: Step, model: Model, merchantId: string): Promise<void> {
    const end = (outcome: string) => {
      if (model.open) model.ended.set(model.open.id, outcome);
      model.open = undefined;
    };
    const isDue = () => model.open !== undefined && model.open.countsAt <= now();
    switch (one.kind) {
      case 'pass':
        stage.pass(one.hours * HOUR_S);
        return;
      case 'ask': {
        const { address } = one;
        const asked = await stage.ask(address, {}, merchantId).catch(() => undefined);
        if (model.open?.address === address) expect(asked?.id).to.equal(model.open.id);
        else if (model.present === address) expect(asked).to.equal(undefined);
        else {
          end('replaced');
          expect(asked?.outcome).to.equal(null);
          model.open = { id: asked?.id ?? '', address, countsAt: now() + DAY_MS };
        }
        return;
      }
      case 'set':
        await stage.set(one.address, 'bsc', merchantId);
        end('replaced');
        model.present = one.address;
        return;
      case 'cancel':
        if (!model.open) return;
        await stage.cancel(model.open.id, merchantId);
        end('cancelled');
        return;
      case 'crash': {
        // Whatever breaks at the end of the transaction, nothing of it stays.
        const broken = { ...stage.deps, newId: () => 'no id' };
        const failed = await stage.count(undefined, broken).then(
          () => false,
          () => true,
        );
        expect(failed).to.equal(isDue());
        return;
      }
      case 'count': {
        const both = await Promise.all([stage.count(), stage.count()]);
        expect(both[0] + both[1]).to.equal(isDue() ? 1 : 0);
        if (!isDue()) return;
        model.present = model.open?.address ?? null;
        end('counted');
      }
    }
  }

  async function compare(model: Model, merchantId: string): Promise<void> {
    expect(await stage.present('bsc', merchantId)).to.equal(model.present);
    const outcomes = await stage.outcomes(merchantId);
    for (const { id, outcome } of outcomes)
      expect(outcome).to.equal(model.open?.id === id ? null : model.ended.get(id));
    expect(outcomes).to.have.length(model.ended.size + (model.open ? 1 : 0));
    expect(explained(await stage.trail(merchantId))).to.deep.equal({
      present: model.present,
      outcomes: Object.fromEntries(model.ended),
    });
  }

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
