/** How many steps of payouts ask endpoints at the same time in a process. */
export type Asks = { taken: number; readonly most: number };

/** So many ask already; nothing was done. */
export class Crowded extends Error {
  override readonly name = 'Crowded';
}

/**
 * Does what asks endpoints, where a place is free: those that hang keep each place for half a minute, and
 * steps that only read rows must not wait behind them. Throws {@link Crowded} where none is.
 */
export async function asking<T>(
  { asks }: { readonly asks?: Asks | undefined },
  work: () => Promise<T>,
): Promise<T> {
  if (!asks) return await work();
  if (asks.taken >= asks.most)
    throw new Crowded('other addresses are asked about by this worker at the moment');
  asks.taken += 1;
  try {
    return await work();
  } finally {
    asks.taken -= 1;
  }
}
