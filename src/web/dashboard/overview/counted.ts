import type { Bounded } from '../../../services/lists/bounded.ts';

/** A number with what it counts; where the counting was ended, that it is no less. */
export function counted({ count, at_least: atLeast }: Bounded, one: string, many: string): string {
  return `${count}${atLeast ? ' or more' : ''} ${count === 1 ? one : many}`;
}
