// The wallet of a run's gateway, and those of its merchants.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HDNodeWallet, Mnemonic, Wallet } from 'ethers';
import { createRandom } from '../../dev/random.ts';
import { NETWORKS, type Network } from '../../src/domain/assets.ts';
import { createWallet } from '../../src/signer/wallet-file.ts';
import { addressAs } from './oracle/truth.ts';
import type { MerchantName } from './plan/plan.ts';
import { folderIn } from './servers.ts';
import { base58Of } from './tron/spelling.ts';

const PASSPHRASE = 'the passphrase of a soak';
/** Long enough that payouts wait for it, and short enough that they go on within the run. */
const NEW_DESTINATION_AFTER = '15s';

export type SoakWallet = {
  readonly root: HDNodeWallet;
  /** The addresses that pay for gas, as the run writes them. */
  readonly gas: Readonly<Record<Network, string>>;
  /** What the signer has to be told. */
  readonly env: NodeJS.ProcessEnv;
};

/** Where a merchant is paid out, from a moment on until the next one of the same network. */
export type Destination = {
  readonly merchant: MerchantName;
  readonly merchantId: string;
  readonly network: Network;
  readonly address: string;
  /** Milliseconds since 1970 when the change was asked for, and when it was made for certain. */
  readonly askedMs: number;
  readonly fromMs: number;
};

/** Makes the wallet that the seed of a run names, and the files that only its signer is given. */
export async function makeWallet(seed: string, folder: string): Promise<SoakWallet> {
  const { phrase } = Mnemonic.fromEntropy(`0x${createRandom(`wallet\n${seed}`).hex(32)}`);
  const own = folderIn(folder, 'wallet');
  const [file, passphrase] = [join(own, 'wallet.json'), join(own, 'passphrase')];
  writeFileSync(passphrase, `${PASSPHRASE}\n`, { mode: 0o600 });
  const { publicParts } = await createWallet({ file, passphrase: PASSPHRASE, phrase, now: new Date() });
  const { bsc, tron } = publicParts.gas;
  return {
    root: HDNodeWallet.fromSeed(Mnemonic.fromPhrase(phrase).computeSeed()),
    gas: { bsc: addressAs('bsc', bsc), tron: addressAs('tron', tron) },
    env: {
      WALLET_SEED_FILE: file,
      WALLET_PASSPHRASE_FILE: passphrase,
      SIGN_JOURNAL_FILE: join(own, 'journal'),
      SIGN_NEW_DESTINATION_AFTER: NEW_DESTINATION_AFTER,
    },
  };
}

/** Addresses of a merchant's own on each chain, which nobody but the gateway pays. */
export function newDestinations(
  { seed }: { readonly seed: string },
  merchant: MerchantName,
  which: string,
): Pick<Destination, 'merchant' | 'network' | 'address'>[] {
  return NETWORKS.map((network) => {
    const draws = createRandom(`the ${which} wallet of ${merchant} on ${network}\n${seed}`);
    const { address } = new Wallet(`0x${draws.hex(32)}`);
    const shown = network === 'tron' ? base58Of(address.slice(2)) : address.toLowerCase();
    return { merchant, network, address: shown };
  });
}
