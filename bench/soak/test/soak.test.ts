import { expect } from 'chai';
import { makePlan } from '../plan/make-plan.ts';
import { PLANNED } from '../plan/networks.ts';
import { planHash } from '../plan/plan.ts';

const MINUTES = 2;

describe('a soak', () => {
  it('is planned by its seed and length alone', () => {
    expect(planHash(makePlan('one', 3))).to.equal(planHash(makePlan('one', 3)));
    expect(makePlan('one', 3)).to.deep.equal(makePlan('one', 3));
    const others = [makePlan('two', 3), makePlan('one', 4)].map(planHash);
    expect(new Set([...others, planHash(makePlan('one', 3))]).size).to.equal(3);
  });

  it('has every kind of action in its plan, tells each lie, and kills or stops each process', () => {
    const { actions } = makePlan('one', MINUTES);
    const kinds = new Set(actions.map((action) => action.kind));
    expect([...kinds]).to.have.members([
      'customer',
      'pay',
      'simulate',
      'reorg',
      'reborn',
      'refill',
      'redirect',
      'unpay',
      'rpc',
      'lie',
      'kill',
      'freeze',
    ]);
    const killed = new Set(actions.flatMap((action) => (action.kind === 'kill' ? [action.victim] : [])));
    expect([...killed]).to.have.members(['api', 'worker-1', 'worker-2', 'signer', 'temporal', 'postgres']);
    const frozen = new Set(actions.flatMap((action) => (action.kind === 'freeze' ? [action.victim] : [])));
    expect([...frozen]).to.have.members(['api', 'worker-1', 'worker-2', 'signer']);
    const told = new Set(
      actions.flatMap((action) => (action.kind === 'lie' ? [`${action.network} ${action.lie}`] : [])),
    );
    const troubled = actions.flatMap((action) => (action.kind === 'rpc' ? [action.fault] : []));
    expect(troubled).to.include.members(PLANNED.flatMap((chain) => chain.always));
    const lies = PLANNED.flatMap((chain) => chain.lies.map((lie) => `${chain.network} ${lie}`));
    expect([...told]).to.have.members(lies);
  });

  it('pays the same customers on both chains, some of them at the same moment', () => {
    const paid = makePlan('one', MINUTES).actions.filter((action) => action.kind === 'pay');
    const by = (network: string) => paid.filter((action) => action.network === network);
    expect(by('tron').length).to.be.within(by('bsc').length / 4, by('bsc').length);
    const together = by('tron').filter((action) =>
      by('bsc').some(
        ({ atMs, customers }) => atMs === action.atMs && customers.includes(action.customers[0] ?? -1),
      ),
    );
    // One of them is what the wallet that the run spends from is given.
    expect(together.length).to.be.greaterThan(3);
  });
});
