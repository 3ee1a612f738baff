import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { compareAll, type Records } from '../oracle/verdict.ts';
import { BOOK_FAULTS } from './faults/books.ts';
import { CHAIN_FAULTS } from './faults/chains.ts';
import { DELIVERY_FAULTS } from './faults/deliveries.ts';
import { DEPOSIT_FAULTS } from './faults/deposits.ts';
import { PAYOUT_FAULTS } from './faults/payouts.ts';
import type { Fault } from './faults/spoil.ts';
import { soakWorld } from './world.ts';

/** What a gateway could do wrong, and the rule that has to notice it. */
const FAULTS: readonly Fault[] = [
  ...DEPOSIT_FAULTS,
  ...DELIVERY_FAULTS,
  ...BOOK_FAULTS,
  ...CHAIN_FAULTS,
  ...PAYOUT_FAULTS,
];

describe("the soak's oracle", () => {
  it('has nothing to say where all is well', () => {
    expect(compareAll(soakWorld() as Records)).to.deep.equal([]);
  });

  for (const [name, rule, spoil] of FAULTS)
    it(`notices a gateway that ${name}`, () => {
      const records = soakWorld();
      spoil(records);
      expect(compareAll(records as Records).map((difference) => difference.rule)).to.include(rule);
    });

  it('has a fault here for each of its rules', () => {
    const folder = new URL('../oracle/', import.meta.url);
    const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const rules = texts.flatMap((text) =>
      [...text.matchAll(/(?:rule(?: =|:)|say\()\s*(['"])(.+?)\1[,;\s]/g)].map((match) => String(match[2])),
    );
    const tested = new Set(FAULTS.map(([, rule]) => rule));
    expect(rules.length).to.be.greaterThan(25);
    expect([...new Set(rules)].filter((rule) => !tested.has(rule))).to.deep.equal([]);
  });
});
