import { expect } from 'chai';
import { makePlan } from '../plan/make-plan.ts';
import { type ActionOf, FROZEN, planHash, VICTIMS } from '../plan/plan.ts';
import { PLANNED } from '../plan/planned.ts';

const MINUTES = 2;

describe('the plan of a soak', () => {
  it('is a function of its seed and length alone', () => {
    expect(makePlan('one', 3)).to.deep.equal(makePlan('one', 3));
    const plans = [makePlan('one', 3), makePlan('two', 3), makePlan('one', 4)];
    expect(new Set(plans.map(planHash)).size).to.equal(3);
  });

  it('has every kind of action, tells each lie, and kills or stops each process', () => {
    const { actions } = makePlan('one', MINUTES);
    const KINDS = 'customer pay simulate reorg reborn refill redirect unpay rpc lie kill freeze'.split(' ');
    expect([...new Set(actions.map(({ kind }) => kind))]).to.have.members(KINDS);
    const of = <K extends 'kill' | 'freeze' | 'lie' | 'rpc'>(kind: K) =>
      actions.filter((action): action is Extract<typeof action, ActionOf<K>> => action.kind === kind);
    expect(new Set(of('kill').map(({ victim }) => victim))).to.deep.equal(new Set(VICTIMS));
    expect(new Set(of('freeze').map(({ victim }) => victim))).to.deep.equal(new Set(FROZEN));
    const lies = PLANNED.flatMap((chain) => chain.lies.map((lie) => `${chain.network} ${lie}`));
    expect([...new Set(of('lie').map(({ network, lie }) => `${network} ${lie}`))]).to.have.members(lies);
    expect(of('rpc').map(({ fault }) => fault)).to.include.members(PLANNED.flatMap((chain) => chain.always));
  });

  it('pays the same customers on both chains, some of them at the same moment', () => {
    const paid = makePlan('one', MINUTES).actions.filter((action) => action.kind === 'pay');
    const [bsc, tron] = ['bsc', 'tron'].map((network) => paid.filter((action) => action.network === network));
    expect(tron?.length).to.be.within((bsc?.length ?? 0) / 4, bsc?.length ?? 0);
    const together = tron?.filter(({ atMs, customers: [customer = -1] }) =>
      bsc?.some((other) => other.atMs === atMs && other.customers.includes(customer)),
    );
    // One of them is what the wallet that the run spends from is given.
    expect(together?.length).to.be.greaterThan(3);
  });
});
