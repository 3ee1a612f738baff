import { locateSecretsKey } from '../../app/process.ts';
import { readRun } from '../../base/data-dir.ts';
import { OperatorError } from '../../base/errors.ts';
import { createSecretBox } from '../../base/secret-box.ts';
import type { Config } from '../../config/index.ts';
import { isoSeconds } from '../../domain/events.ts';
import { accountHash } from '../../services/access/account-hash.ts';
import {
  createUser,
  disableTotp,
  enableTotp,
  resetPassword,
  type UserChange,
} from '../../services/access/users.ts';
import type { Deps } from '../../services/deps.ts';
import { facts } from '../print.ts';
import { commandConfig, withGateway } from '../process.ts';
import type { Acting, CommandCall } from '../run.ts';
import { readSecret } from '../stdin.ts';

/**
 * People who sign in for merchants. Passwords come on stdin: an argument would be visible in the process list
 * and in the shell's history. Where none comes, a link lets the person set one that nobody else knows.
 */
export const USERS = { create, reset, totp, hash };

const PASSWORD = {
  name: 'password',
  maxBytes: 4_096,
  nextAction: 'Give one of 12 characters to 256 bytes on one line',
} as const;

type OfPerson = Acting & { readonly email: string };

async function create({ options }: CommandCall<OfPerson & { readonly merchant: string }>) {
  const { merchant: merchantId, email, by } = options;
  return await withPassword(
    by,
    (deps, password) => createUser(deps, { merchantId, email, password }),
    'may sign in at /login.',
  );
}

async function reset({ options: { email, by } }: CommandCall<OfPerson>) {
  return await withPassword(
    by,
    (deps, password) => resetPassword(deps, { email, password }),
    'has the new password; every session has ended.',
  );
}

/** Runs `work` with the password of stdin, or without one, and tells what is so now or the link. */
async function withPassword(
  by: string | undefined,
  work: (deps: Deps, password: string | undefined) => Promise<UserChange>,
  isNow: string,
) {
  const password = await readPassword();
  return await withGateway({ by }, async ({ deps, config }) => {
    const page = password === undefined ? passwordPage(config) : '';
    const { userId, link } = await work(deps, password);
    if (!link) return { json: { user_id: userId }, text: `User ${userId} ${isNow}` };
    const url = `${page}#${link.token}`;
    const until = isoSeconds(link.expiresAt);
    return {
      json: { user_id: userId, link: url, link_expires_at: until },
      text: `User ${userId} signs in once this link has set a password. It works once, until ${until}, and is shown this once:`,
      copy: [url],
    };
  });
}

/** Where people reach the page; it is found out before anything is changed. */
function passwordPage({ http, production, dataDir }: Config): string {
  if (http.publicUrl !== undefined) return `${http.publicUrl}/set-password`;
  if (production)
    throw new OperatorError(
      'PUBLIC_URL is not set, and a link begins with it',
      'Set it as the API has it, or give a password on stdin',
    );
  const api = readRun(dataDir)?.api;
  return `${api ? new URL(api).origin : `http://localhost:${http.port}`}/set-password`;
}

/**
 * The password without the line feed that `echo` and editors put at the end; undefined where nothing comes at
 * all: at a terminal, or from an empty stdin. An empty line counts as a password, and is too short.
 */
async function readPassword(): Promise<string | undefined> {
  const given = process.stdin.isTTY ? '' : await readSecret(PASSWORD);
  return given === '' ? undefined : given.replace(/\r?\n$/, '');
}

/** Needs the keys alone: it works where the database is unreachable, and on a copy of the log elsewhere. */
async function hash({ options }: CommandCall<{ readonly email: string }>) {
  const { config, log } = commandConfig('none');
  const hashUnder = (key: Uint8Array): string => accountHash(createSecretBox(key), options.email);
  const account = hashUnder(await locateSecretsKey(config, log));
  const previous = config.previousSecretsKey ? hashUnder(config.previousSecretsKey) : null;
  return { json: { account, previous }, text: previous === null ? account : facts({ account, previous }) };
}

async function totp({ options }: CommandCall<OfPerson & { readonly disable?: true }>) {
  const { email, by, disable } = options;
  if (disable) {
    const { id } = await withGateway({ by }, ({ deps }) => disableTotp(deps, { email }));
    return { json: { user_id: id, totp: false }, text: `User ${id} signs in without a code from now on.` };
  }
  const { uri, secret } = await withGateway({ by, secrets: true }, ({ deps }) => enableTotp(deps, { email }));
  const next =
    'Both are shown this once: put one of them into the authenticator app now. An earlier secret has ended.';
  return { json: { uri, secret }, text: facts({ secret }), copy: [uri], next };
}
