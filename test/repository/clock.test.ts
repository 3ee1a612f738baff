import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { filesOf } from '../support/lanes.ts';
import { ROOT } from '../support/repository/files.ts';

/** What makes a test red on a busy machine, or now and then: none of it is in the gate. */
const KINDS: readonly { readonly what: string; readonly pattern: RegExp; readonly example: string }[] = [
  {
    what: 'measures how long something took',
    pattern:
      /\bperformance\.now\b|\bhrtime\b|\bcpuUsage\b|Date\.now\(\) - (?!\d)(?![A-Z\d_]+\b)\w|- Date\.now\(\)/,
    example: 'expect(Date.now() - startedMs)',
  },
  {
    what: 'has an upper bound in milliseconds',
    pattern:
      /expect\([^;]*(?:duration|took|elapsed|waited)\w*\)[^;]*\.(?:below|within|most|lessThan|lte?)\(/i,
    example: 'expect(outcome.durationMs).to.be.within(9_950, 10_500)',
  },
  {
    what: 'compares speeds',
    pattern: /\b(?:median|percentile|p95|p50)\b/i,
    example: 'expect(median(slow) / median(quick))',
  },
  { what: 'is tried again', pattern: /\bretries\(/, example: 'this.retries(3)' },
  {
    what: 'depends on chance',
    pattern: /\bMath\.random\b|\brandomInt\b/,
    example: 'const killedAfterMs = randomInt(100)',
  },
];

/** Names what of it stands in a text, with the line. */
function found(text: string): string[] {
  const lines = text.split('\n');
  return KINDS.flatMap(({ what, pattern }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${index + 1} ${what}`] : [])),
  );
}

describe('a test of the gate', () => {
  it('asserts on no wall clock and on no speed, is not tried again, and leaves nothing to chance', () => {
    const files = filesOf('gate').filter((file) => file !== 'test/repository/clock.test.ts');
    const offenders = files.flatMap((file) =>
      found(readFileSync(join(ROOT, file), 'utf8')).map((what) => `${file}:${what}`),
    );
    expect(offenders).to.deep.equal([]);
  });

  for (const { what, example } of KINDS)
    it(`is found where it ${what}`, () => {
      expect(found(`${example};`)).to.include(`1 ${what}`);
    });

  it('may take a time before now', () => {
    expect(found('new Date(Date.now() - 3 * DAY_MS); new Date(Date.now() - DAY_MS);')).to.deep.equal([]);
  });
});
