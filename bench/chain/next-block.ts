import type { TronNode } from '../../dev/tron/node.ts';

const LOOK_EVERY_MS = 2;

/**
 * Waits for the node's next block and returns when it was made, in milliseconds of the wall clock. The
 * block's own time is no measure: it is that of its slot, which began up to 3 s before.
 */
export async function nextBlock(node: TronNode): Promise<number> {
  const { number } = node.head().header;
  while (node.head().header.number === number)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  return Date.now();
}
