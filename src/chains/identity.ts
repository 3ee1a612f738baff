import type { Network } from '../domain/assets.ts';
import { ChainMismatch } from './rpc/errors.ts';

/** The identity that was found. Throws ChainMismatch where another chain was read before. */
export function sameChain(network: Network, found: string, known: string | undefined): string {
  if (known === undefined || known === found) return found;
  throw new ChainMismatch(
    `the endpoints of ${network} serve chain ${found}, and what was read so far is of chain ${known}: use its endpoints again, or another database`,
  );
}
