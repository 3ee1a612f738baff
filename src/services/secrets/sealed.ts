import { SecretBoxError } from '../../base/errors.ts';
import type { SealBox } from '../deps.ts';

/**
 * The text of a stored secret, or undefined when no known
 * key opens it. Throws every error that is not about keys.
 */
export function openedIfKnown(
  box: Pick<SealBox, 'open'>,
  sealed: Uint8Array,
  associatedData: string,
): string | undefined {
  try {
    return box.open(sealed, associatedData);
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined;
    throw error;
  }
}
