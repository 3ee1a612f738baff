import { expect } from 'chai';
import fc from 'fast-check';
import {
  amountStatusOf,
  BLOCK_CLOCK_SKEW_MS,
  fromLinkUnits,
  isOpenLink,
  LINK_STATUSES,
  LINK_TRANSITIONS,
  type LinkCandidate,
  linkAmounts,
  linkCents,
  matchLink,
  openUnitsOf,
  statusOf,
  toLinkUnits,
} from '../../src/domain/payment-link.ts';

const units = fc.bigInt({ min: 0n, max: 10n ** 26n });
const status = fc.constantFrom(...LINK_STATUSES);
const T0 = Date.parse('2026-11-20T09:00:00Z');

const candidate = fc
  .record({
    status,
    amountUnits: fc.bigInt({ min: 1n, max: 10n ** 24n }),
    assigned: fc.nat(120),
    network: fc.constantFrom(null, 'bsc', 'tron'),
    age: fc.nat(7_200),
  })
  .map(({ status: state, amountUnits, assigned, network, age }): LinkCandidate => {
    const createdAt = new Date(T0 - age * 1_000);
    const assignedUnits = (amountUnits * BigInt(assigned)) / 100n;
    const leastUnits = amountUnits - amountUnits / 200n;
    return {
      id: '',
      status: state,
      amountUnits,
      leastUnits,
      assignedUnits,
      network,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + 3_600_000),
    };
  });
const candidates = fc
  .array(candidate, { maxLength: 8 })
  .map((links) =>
    links
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      .map((link, index) => ({ ...link, id: `link-${index}` })),
  );
const money = fc
  .record({
    amountUnits: fc.bigInt({ min: 1n, max: 10n ** 24n }),
    network: fc.constantFrom('bsc', 'tron'),
    minedAt: fc.integer({ min: -7_200, max: 7_200 }).map((seconds) => new Date(T0 + seconds * 1_000)),
  })
  .map((facts) => ({
    ...facts,
    decimals: facts.network === 'bsc' ? 18 : 6,
    amountUnits: facts.network === 'bsc' ? facts.amountUnits : facts.amountUnits / 10n ** 12n + 1n,
  }));

describe('the life of a payment link', () => {
  it('ends in its three closed states, and only there', () => {
    for (const from of LINK_STATUSES)
      expect(LINK_TRANSITIONS[from].length === 0, from).to.equal(!isOpenLink(from));
    expect(LINK_TRANSITIONS.processing).to.not.include('cancelled');
  });

  it('follows from its money alone, by steps that the table has', () => {
    fc.assert(
      fc.property(status, units, units, fc.nat(5), (current, amountUnits, paidUnits, openCount) => {
        const leastUnits = amountUnits - amountUnits / 200n;
        const next = statusOf(current, { amountUnits, leastUnits, paidUnits, openCount });
        if (next !== current) expect(LINK_TRANSITIONS[current]).to.include(next);
        if (!isOpenLink(current)) expect(next).to.equal(current);
        else expect(next === 'completed').to.equal(paidUnits >= leastUnits);
        expect(statusOf(next, { amountUnits, leastUnits, paidUnits, openCount })).to.equal(next);
      }),
    );
  });

  it('names the amount to the unit, and `late` never hides a completion', () => {
    fc.assert(
      fc.property(status, units, units, fc.boolean(), (state, amountUnits, paidUnits, late) => {
        const said = amountStatusOf({ status: state, amountUnits, paidUnits, late });
        if (said === 'late') expect(late && state !== 'completed').to.equal(true);
        if (said === 'exact') expect(paidUnits).to.equal(amountUnits);
        if (said === 'overpaid') expect(paidUnits > amountUnits).to.equal(true);
        if (said === 'underpaid') expect(paidUnits > 0n && paidUnits < amountUnits).to.equal(true);
      }),
    );
  });
});

describe('the money of a payment link', () => {
  it('has a tolerance that is exact for every amount of cents', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 100_000_000n }),
        fc.bigInt({ min: 0n, max: 1_000n }),
        (cents, basisPoints) => {
          const { amountUnits, leastUnits } = linkAmounts(cents, basisPoints);
          expect((amountUnits - leastUnits) * 10_000n).to.equal(amountUnits * basisPoints);
          expect(linkCents(amountUnits)).to.equal(cents);
        },
      ),
    );
  });

  it('is the same on a network with fewer decimals, rounded up where it is asked for', () => {
    fc.assert(
      fc.property(units, fc.constantFrom(6, 18), (linkUnits, decimals) => {
        const asked = toLinkUnits(fromLinkUnits(linkUnits, decimals), decimals);
        expect(asked >= linkUnits && asked - linkUnits < 10n ** BigInt(18 - decimals)).to.equal(true);
        expect(fromLinkUnits(asked, decimals)).to.equal(fromLinkUnits(linkUnits, decimals));
      }),
    );
    expect(() => toLinkUnits(1n, 19)).to.throw(RangeError);
  });
});

describe('the choice of a link for a deposit', () => {
  const fits = (link: LinkCandidate, deposit: { network: string; minedAt: Date }) =>
    (link.network === null || link.network === deposit.network) &&
    deposit.minedAt.getTime() >= link.createdAt.getTime() - BLOCK_CLOCK_SKEW_MS;
  const payable = (link: LinkCandidate, deposit: { network: string; minedAt: Date }) =>
    fits(link, deposit) && isOpenLink(link.status) && deposit.minedAt <= link.expiresAt;

  it('pays an open link that may be paid whenever there is one, and never another', () => {
    fc.assert(
      fc.property(candidates, money, (links, deposit) => {
        const match = matchLink(deposit, links);
        const possible = links.filter((link) => payable(link, deposit));
        expect(match?.kind === 'pays').to.equal(possible.length > 0);
        if (match?.kind === 'pays') expect(possible.map((link) => link.id)).to.include(match.linkId);
        const chosen = links.find((link) => link.id === match?.linkId);
        if (match?.kind === 'late')
          expect(chosen && fits(chosen, deposit) && chosen.status !== 'completed').to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('prefers the exact open amount, then the oldest that wants money', () => {
    fc.assert(
      fc.property(candidates, money, (links, deposit) => {
        const match = matchLink(deposit, links);
        if (match?.kind !== 'pays') return;
        const possible = links.filter((link) => payable(link, deposit));
        const exact = possible.filter(
          (link) =>
            openUnitsOf(link) > 0n &&
            fromLinkUnits(openUnitsOf(link), deposit.decimals) === deposit.amountUnits,
        );
        const wanting = possible.filter((link) => openUnitsOf(link) > 0n);
        expect(match.linkId).to.equal((exact[0] ?? wanting[0] ?? possible[0])?.id);
      }),
      { numRuns: 500 },
    );
  });

  it('finds the exact one among many, also on Tron', () => {
    const base: LinkCandidate = {
      id: 'a',
      status: 'pending',
      ...linkAmounts(2_500n, 50n),
      assignedUnits: 0n,
      network: null,
      createdAt: new Date(T0),
      expiresAt: new Date(T0 + 1),
    };
    const links = [base, { ...base, id: 'b', ...linkAmounts(4_000n, 50n) }];
    for (const [amountUnits, afterMs, match] of [
      [40_000_000n, 0, { kind: 'pays', linkId: 'b' }],
      [40_000_001n, 0, { kind: 'pays', linkId: 'a' }],
      [40_000_000n, 2, { kind: 'late', linkId: 'b' }],
    ] as const) {
      const money = { amountUnits, decimals: 6, network: 'tron', minedAt: new Date(T0 + afterMs) };
      expect(matchLink(money, links)).to.deep.equal(match);
    }
  });
});
