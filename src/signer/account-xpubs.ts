import { existsSync } from 'node:fs';
import { OperatorError } from '../base/errors.ts';
import { type AccountXpubs, xpubVariable } from '../chains/account-xpubs.ts';
import { byNetwork } from '../chains/index.ts';
import { byMode, type Mode, type Network } from '../domain/assets.ts';
import { readPublicParts } from './wallet-file.ts';

/**
 * The account keys that addresses are made from: the environment's, else the public
 * part of the wallet file. Throws an OperatorError when one is missing, and when both
 * exist and differ: the signer could then never move what arrives at those addresses.
 */
export async function resolveAccountXpubs(wallet: {
  readonly xpubs: Readonly<Record<Mode, Readonly<Record<Network, string | undefined>>>>;
  readonly seedFile: string;
}): Promise<Readonly<Record<Mode, AccountXpubs>>> {
  const file = existsSync(wallet.seedFile) ? await readPublicParts(wallet.seedFile) : undefined;
  const pick = (mode: Mode, network: Network): string => {
    const variable = xpubVariable(mode, network);
    const [given, own] = [wallet.xpubs[mode][network], file?.xpub[mode][network]];
    if (given !== undefined && own !== undefined && given !== own) {
      throw new OperatorError(
        `${variable} does not belong to the wallet at ${wallet.seedFile}: money sent to its addresses could not be moved`,
        `Set it to what "gateway wallet xpub" prints, or point WALLET_SEED_FILE to the right wallet`,
      );
    }
    const chosen = given ?? own;
    if (chosen === undefined) {
      throw new OperatorError(
        `${variable} is not set and there is no wallet at ${wallet.seedFile}`,
        `Set it to what "gateway wallet xpub" prints on the signer's machine`,
      );
    }
    return chosen;
  };
  return byMode((mode) => byNetwork(({ network }) => pick(mode, network)));
}
