import { type XpubVariable, xpubVariable } from '../../chains/account-xpubs.ts';
import { CHAINS } from '../../chains/index.ts';
import { MODES } from '../../domain/assets.ts';
import { accountXpub, secretKey } from '../key-parsers.ts';
import * as parse from '../parsers.ts';
import { type Variable, variable } from '../variable.ts';

const XPUB_TEXTS = {
  live: {
    first:
      'live deposit addresses (gateway wallet xpub prints it). Unset outside production: from the wallet file.',
    other: 'live deposit addresses. Unset outside production: from the wallet file.',
  },
  test: {
    first:
      'test-mode addresses. Unset: from the public part of the wallet file, where that file is readable.',
    other: 'test-mode addresses. Unset: as above.',
  },
} as const;

/** Secrets, and the wallet. */
export const KEY_VARIABLES = {
  SECRETS_KEY: variable({
    group: 'keys',
    parser: secretKey,
    secret: true,
    production: ['all', 'api', 'worker', 'signer'],
    example: 'BASE64_OF_32_RANDOM_BYTES',
    about:
      'Seals the rows that say where money goes, and encrypts the secrets in the database (of webhooks, of codes at the login, of customers’ pages, in stored answers): 32 bytes in base64 or hex (openssl rand -base64 32). Losing it loses those secrets. Unset outside production: made under DATA_DIR.',
  }),
  SECRETS_KEY_PREVIOUS: variable({
    group: 'keys',
    parser: secretKey,
    secret: true,
    example: 'BASE64_OF_32_RANDOM_BYTES',
    about:
      'Another key that opens what it sealed, while SECRETS_KEY is changed. Workers seal everything again under SECRETS_KEY; "gateway doctor" says how much is left and when this one can be removed.',
  }),
  ...xpubVariables(),
  WALLET_SEED_FILE: variable({
    group: 'keys',
    parser: parse.filePath,
    production: ['all', 'signer'],
    example: '/run/secrets/wallet.json',
    about:
      'The encrypted seed file (gateway wallet new makes it). Only the signer opens it. Unset: wallet.json in DATA_DIR.',
  }),
  WALLET_PASSPHRASE_FILE: variable({
    group: 'keys',
    parser: parse.filePath,
    production: ['all', 'signer'],
    example: '/run/secrets/wallet.passphrase',
    about:
      "File with the seed file's passphrase, readable by the signer alone. Unset: wallet.passphrase in DATA_DIR.",
  }),
  SIGN_JOURNAL_FILE: variable({
    group: 'keys',
    parser: parse.filePath,
    production: ['signer'],
    example: '/var/lib/signer/journal',
    about:
      'What the signer has signed: a file that it only appends to, on a disk of its own. It is backed up apart from the database; without it the signer signs nothing more. Unset: signer.journal in DATA_DIR.',
  }),
  SIGN_NEW_DESTINATION_AFTER: variable({
    group: 'keys',
    parser: parse.durationOrNone('1s', '30d'),
    example: '24h',
    about:
      'A changed withdraw address is paid to only this long after the signer first saw it; 0: at once. A first one is paid to at once. Unset: 24h in production, 0 outside.',
  }),
  SIGN_RESUME_AFTER: variable({
    group: 'keys',
    parser: parse.durationOrNone('1s', '30d'),
    example: '5m',
    about:
      'Payouts that were paused are signed again only this long after the signer saw that they go on; 0: at once. Until then whoever did not let them go on can stop them. Unset: 5m in production, 0 outside.',
  }),
} as const;

type XpubVariables = Readonly<Record<XpubVariable, Variable<string>>>;

/**
 * An account key for each mode and chain; the text about the first one of a mode holds for the others too.
 */
function xpubVariables(): XpubVariables {
  const entries = MODES.flatMap((mode, account) =>
    CHAINS.map(({ network, coinType }, index) => {
      const about = `Account key m/44'/${coinType}'/${account}' of ${XPUB_TEXTS[mode][index === 0 ? 'first' : 'other']}`;
      const required = mode === 'live' ? { production: ['all', 'api'] as const } : {};
      const entry = variable({
        group: 'keys',
        parser: accountXpub,
        secret: true,
        ...required,
        example: 'xpub6…',
        about,
      });
      return [xpubVariable(mode, network), entry] as const;
    }),
  );
  return Object.fromEntries(entries) as XpubVariables;
}
