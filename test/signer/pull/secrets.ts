// What nobody may come upon: seed, keys, phrase, passphrase, in whatever form.
import { HDNodeWallet, Mnemonic } from 'ethers';
import { SECRETS_KEY } from '../../../dev/support/live-gateway.ts';
import { TEST_PHRASE } from '../../../dev/support/test-wallet.ts';

/** Every form in which somebody could come upon it. */
const formsOf = (bytes: Buffer): string[] => [
  bytes.toString('hex'),
  bytes.toString('hex').toUpperCase(),
  bytes.toString('base64').replace(/=+$/, ''),
  bytes.toString('base64url').replace(/=+$/, ''),
  BigInt(`0x${bytes.toString('hex')}`).toString(),
];

/** Names the secrets of the test wallet that a text holds; its files open with this passphrase. */
export function searchFor(passphrase: string): (text: string) => string[] {
  const needles = new Map<string, string>();
  const add = (name: string, texts: readonly string[]): void => {
    for (const text of texts) needles.set(text, name);
  };
  const mnemonic = Mnemonic.fromPhrase(TEST_PHRASE);
  const seed = Buffer.from(mnemonic.computeSeed().slice(2), 'hex');
  const root = HDNodeWallet.fromSeed(seed);
  const words = TEST_PHRASE.split(' ');
  // Some of the words in their order are as good as a lead; also with commas, as a list is printed.
  add('the phrase', [TEST_PHRASE, words.slice(0, 3).join(' '), words.join(','), words.join('","')]);
  add('the passphrase', [passphrase, ...formsOf(Buffer.from(passphrase)).slice(0, 4)]);
  add('the seed', formsOf(seed));
  add('the entropy', formsOf(Buffer.from(mnemonic.entropy.slice(2), 'hex')).slice(0, 4));
  add('SECRETS_KEY', formsOf(SECRETS_KEY));
  add('the root', [root.extendedKey, ...formsOf(Buffer.from(root.privateKey.slice(2), 'hex'))]);
  for (const coin of [60, 195])
    for (const account of [0, 1, 2]) {
      const node = root.derivePath(`m/44'/${coin}'/${account}'`);
      add(`account ${account} of ${coin}`, [node.extendedKey]);
      for (let index = 0; index < 10; index += 1) {
        const { privateKey } = node.derivePath(`0/${index}`);
        add(
          `key ${index} of account ${account} of ${coin}`,
          formsOf(Buffer.from(privateKey.slice(2), 'hex')),
        );
      }
    }
  return (text) => [...needles].flatMap(([needle, name]) => (text.includes(needle) ? [name] : []));
}
