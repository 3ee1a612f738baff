import type { z } from 'zod';

// Runs of a few characters between others: what makes a pattern try again and again is a
// run that it could split in many ways, and something behind it that it does not take.
const STARTS = ['', 'a', 'a@', '0x', '[', 'http://', 'sk_live_', '2026-11-20T09:30:00.', 'Bearer '];
const RUNS = [
  '.',
  'a',
  '0',
  ' ',
  '\t',
  '@',
  '-',
  ':',
  '/',
  ';',
  ',',
  '=',
  '[',
  '"',
  '\\',
  '%41',
  'a.',
  'a@',
  'a:',
  '1,',
  '::',
  'a=;',
  '+',
  '\u00e9',
];
const ENDS = ['', '@', '!', '\n', ']'];

/** Texts of about this length that are hard on a pattern or a loop that reads a text more than once. */
export function hostileTexts(length: number): string[] {
  return STARTS.flatMap((start) =>
    RUNS.flatMap((run) => ENDS.map((end) => start + run.repeat(length / run.length) + end)),
  );
}

/**
 * The milliseconds that `work` takes: the least of three runs where the first took more than
 * `enough`, because others use the machine too.
 */
export async function leastMs(enough: number, work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3 && least > enough; turn += 1) {
    const startedAt = performance.now();
    await work();
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

type Definition = {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly shape?: Record<string, z.ZodType>;
};

/**
 * The members that an object's schema names, through everything that wraps
 * it; none where it accepts no object.
 */
export function membersOf(schema: z.ZodType | undefined): string[] {
  const definition = schema?.def as Definition | undefined;
  if (definition?.shape) return Object.keys(definition.shape);
  const inner = definition?.innerType ?? definition?.in;
  return inner ? membersOf(inner) : [];
}
