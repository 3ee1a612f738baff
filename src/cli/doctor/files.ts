import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Run } from '../../base/data-dir.ts';
import { OperatorError } from '../../base/errors.ts';
import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import { createSecretBox, type SecretBox } from '../../base/secret-box.ts';
import type { Config } from '../../config/index.ts';
import { WebhookEndpoint } from '../../db/entities/index.ts';
import { openOrm } from '../../db/orm.ts';
import { MODES, NETWORKS } from '../../domain/assets.ts';
import { countOldSeals } from '../../services/secrets/directions.ts';
import { countLeft } from '../../services/secrets/reseal.ts';
import { readPrivateFile } from '../../signer/private-file.ts';
import { openWallet, readPassphraseFile, resolveAccountXpubs } from '../../signer/wallet-file.ts';

/** Whether this process could write something in its data folder. */
export async function checkDataDir({ dataDir }: Config): Promise<Finding> {
  const found = await stat(dataDir).catch(() => undefined);
  if (found && !found.isDirectory())
    return bad('data_dir', `${dataDir} is not a folder`, 'Set DATA_DIR to a folder of its own');
  const writable = await access(found ? dataDir : await nearest(dirname(dataDir)), constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!writable)
    return bad(
      'data_dir',
      `${dataDir} cannot be written`,
      'Give it to the user that runs the gateway, or set DATA_DIR',
    );
  return good('data_dir', found ? dataDir : `${dataDir} will be made at the first start`);
}

async function nearest(folder: string): Promise<string> {
  const exists = existsSync(folder);
  return exists || dirname(folder) === folder ? folder : await nearest(dirname(folder));
}

/**
 * The account keys of addresses, and, where this process may read the
 * passphrase, whether the wallet opens with it.
 */
export async function checkWallet(config: Config): Promise<Finding> {
  const { seedFile, passphraseFile, xpubs } = config.wallet;
  const given = MODES.flatMap((mode) => NETWORKS.map((network) => xpubs[mode][network]));
  const hasFile = existsSync(seedFile);
  if (!hasFile && !config.production && given.some((xpub) => xpub === undefined))
    return good('wallet', `none yet: one for development will be made at the first start (${seedFile})`);
  try {
    await resolveAccountXpubs(config.wallet);
    if (!hasFile) return good('wallet', 'account keys from the environment; the seed is elsewhere');
    if (!existsSync(passphraseFile))
      return good(
        'wallet',
        `account keys fit the wallet at ${seedFile}; its passphrase is not here, so it was not opened`,
      );
    const { passphrase } = await readPassphraseFile(passphraseFile);
    const { warnings } = await openWallet({ file: seedFile, passphrase });
    const [warning] = warnings;
    return warning
      ? bad('wallet', warning, `Run "chmod 600 ${seedFile}"`)
      : good('wallet', `${seedFile} opens and fits the account keys`);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return bad('wallet', problemOf(error), error.nextAction);
  }
}

/** An OperatorError's message is the problem and then the action. */
function problemOf(error: OperatorError): string {
  return error.message.replace(error.nextAction, '').replace(/(?<![\s.])[\s.]+$/, '');
}

/** Whether SECRETS_KEY is set and opens what is stored: with another key no webhook could be signed. */
export async function checkSecretsKey(config: Config, run: Run | undefined, log: Logger): Promise<Finding> {
  const key = config.secretsKey ?? (await developmentKey(config));
  if (!key && config.production)
    return bad(
      'secrets_key',
      'SECRETS_KEY is not set',
      'Set it to 32 random bytes ("openssl rand -base64 32"), the same on every process',
    );
  if (!key) return good('secrets_key', 'none yet: one for development will be made at the first start');
  const url = config.database.kind === 'url' ? config.database.url : run?.databaseUrl;
  const stored = url
    ? await readStored(url, createSecretBox(key, config.previousSecretsKey), log)
    : undefined;
  if (!stored) return good('secrets_key', 'set; nothing stored to try it on');
  if (!stored.opens) {
    const action =
      'Start with the key that was in use when they were written, or set that one as SECRETS_KEY_PREVIOUS';
    return bad('secrets_key', 'does not open the webhook secrets in this database', action);
  }
  if (!config.previousSecretsKey) return good('secrets_key', 'opens the secrets in the database');
  if (stored.left === 0) return good('secrets_key', 'nothing is left under SECRETS_KEY_PREVIOUS: remove it');
  return good(
    'secrets_key',
    `${stored.left} rows are left under SECRETS_KEY_PREVIOUS: keep it; a worker seals them again`,
  );
}

async function developmentKey({ dataDir }: Config): Promise<Uint8Array | undefined> {
  const file = join(dataDir, 'secrets.key');
  if (!existsSync(file)) return undefined;
  const bytes = Buffer.from((await readPrivateFile(file, 'the secrets key file')).text.trim(), 'base64');
  return bytes.length === 32 ? new Uint8Array(bytes) : undefined;
}

/**
 * Whether the newest webhook secret opens, and how many rows are not under the
 * present key. Undefined where nothing is stored.
 */
async function readStored(
  url: string,
  secretBox: SecretBox,
  log: Logger,
): Promise<{ opens: boolean; left: number } | undefined> {
  const orm = await openOrm({ url, poolSize: 1, applicationName: 'gateway doctor' });
  try {
    const newest = await orm.em
      .fork()
      .findOne(WebhookEndpoint, { deletedAt: null }, { orderBy: { createdAt: 'desc' } });
    const left = secretBox.knowsPrevious
      ? (await countLeft({ orm, secretBox })) + (await countOldSeals({ orm, secretBox }))
      : 0;
    if (!newest) return secretBox.knowsPrevious ? { opens: true, left } : undefined;
    return { opens: opens(secretBox, newest), left };
  } catch (error) {
    log.debug({ err: error }, 'no stored secret could be read');
    return undefined;
  } finally {
    await orm.close(true);
  }
}

function opens(secretBox: SecretBox, { id, secretSealed }: WebhookEndpoint): boolean {
  try {
    secretBox.open(secretSealed, id);
    return true;
  } catch {
    return false;
  }
}
