import { createHash } from 'node:crypto';

/** Repeatable randomness: the same seed gives the same draws on every machine. Not for secrets. */
export type Random = {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T;
  /** A key of the table, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
  shuffle<T>(list: readonly T[]): T[];
  hex(bytes: number): string;
  /** A generator of its own, so that more draws in one place change nothing in another. */
  fork(label: string): Random;
};

/** A generator for this seed (sfc32, whose state is a hash of the seed). */
export function createRandom(seed: string): Random {
  const digest = createHash('sha256').update(seed).digest();
  let [a, b, c, counter] = [
    digest.readInt32LE(0),
    digest.readInt32LE(4),
    digest.readInt32LE(8),
    digest.readInt32LE(12),
  ];
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  for (let warm = 0; warm < 15; warm++) draw();
  const next = () => draw() / 2 ** 32;
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new RangeError('nothing to pick from');
      return list[int(0, list.length - 1)] as (typeof list)[number];
    },
    weighted: <K extends string>(weights: Readonly<Record<K, number>>): K => {
      const entries = Object.entries(weights) as [K, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      throw new RangeError('no weights');
    },
    shuffle: (list) => {
      const left = [...list];
      const mixed: typeof left = [];
      while (left.length > 0) mixed.push(...left.splice(int(0, left.length - 1), 1));
      return mixed;
    },
    hex: (bytes) =>
      Array.from({ length: bytes }, () => (draw() & 0xff).toString(16).padStart(2, '0')).join(''),
    fork: (label) => createRandom(`${seed}\n${label}`),
  };
}
