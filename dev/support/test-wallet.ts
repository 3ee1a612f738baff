import { type PublicParts, publicPartsOf, rootOf } from '../../src/signer/accounts.ts';

/** The phrase that every development chain knows: its addresses must never hold money. */
export const TEST_PHRASE = 'test test test test test test test test test test test junk';

/** The account keys of the test phrase, as the configuration wants them. */
export function testXpubs(): PublicParts['xpub'] {
  return publicPartsOf(rootOf(TEST_PHRASE)).xpub;
}
