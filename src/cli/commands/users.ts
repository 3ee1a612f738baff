import type { Command } from 'commander';
import { OperatorError } from '../../base/errors.ts';
import type { Config } from '../../config/index.ts';
import { isoSeconds } from '../../domain/events.ts';
import type { UserChange, UserView } from '../../services/access/users.ts';
import type { Deps } from '../../services/deps.ts';
import { text } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { readSecret } from '../stdin.ts';
import { facts, listing } from '../table.ts';

const MAX_EMAIL = 320;
const PASSWORD = {
  name: 'password',
  maxBytes: 4_096,
  nextAction: 'Give one of 12 characters to 256 bytes on one line',
} as const;

/**
 * `user`. Passwords come on stdin: an argument would be visible in the process list and in the shell's
 * history. Where none comes, the result is a link by which the person sets one that nobody else knows.
 */
export function addUserCommands(program: Command): void {
  const user = group(program, 'user', 'people who sign in for a merchant');
  withEmail(
    acting(
      leaf(user, 'create', 'makes a user; prints a link that sets the password, unless one comes on stdin'),
    ),
  )
    .requiredOption('--merchant <id>', 'merchant id', text())
    .action(answering(create));
  withEmail(
    acting(
      leaf(
        user,
        'reset-password',
        'ends the password and every session; prints a link that sets a new one, unless one comes on stdin',
      ),
    ),
  ).action(answering(reset));
  withEmail(
    acting(
      leaf(
        user,
        'totp',
        'asks for a code of an authenticator app from now on; shows the secret this once and ends every session',
      ),
    ),
  )
    .option('--disable', 'ask for no code any more')
    .action(answering(totp));
  withEmail(leaf(user, 'hash', 'prints what the log says of this account where a login is refused')).action(
    answering(hash),
  );
  leaf(user, 'list', 'lists users by email')
    .option('--merchant <id>', 'only of this merchant', text())
    .action(answering(list));
}

function withEmail(command: Command): Command {
  return command.requiredOption('--email <email>', 'what the person signs in with', text(MAX_EMAIL));
}

async function create({
  options,
}: {
  options: Acting & { readonly merchant: string; readonly email: string };
}) {
  const { createUser } = await load();
  const { userId, link } = await withPassword(options, (deps, password) =>
    createUser(deps, { merchantId: options.merchant, email: options.email, password }),
  );
  return told(userId, link, `User ${userId} may sign in at /login.`);
}

async function reset({ options }: { options: Acting & { readonly email: string } }) {
  const { resetPassword } = await load();
  const { userId, link } = await withPassword(options, (deps, password) =>
    resetPassword(deps, { email: options.email, password }),
  );
  return told(userId, link, `User ${userId} has the new password; every session has ended.`);
}

type ShownLink = { readonly url: string; readonly expiresAt: Date };

/** Runs `work` with the password of stdin, or without one and with the address to which a link leads. */
async function withPassword(
  { by }: Acting,
  work: (deps: Deps, password: string | undefined) => Promise<UserChange>,
): Promise<{ userId: string; link: ShownLink | null }> {
  const { withGateway } = await load();
  const password = await readPassword();
  return await withGateway({ by }, async ({ deps, config }) => {
    const page = password === undefined ? await passwordPage(config) : '';
    const { userId, link } = await work(deps, password);
    return { userId, link: link && { url: `${page}#${link.token}`, expiresAt: link.expiresAt } };
  });
}

function told(userId: string, link: ShownLink | null, otherwise: string) {
  if (!link) return { json: { user_id: userId }, text: otherwise };
  const until = isoSeconds(link.expiresAt);
  const text = `User ${userId} signs in once this link has set a password. It works once, until ${until}, and is shown this once:`;
  return { json: { user_id: userId, link: link.url, link_expires_at: until }, text, copy: [link.url] };
}

/** Where people reach the page; it is found out before anything is changed. */
async function passwordPage({ http, production, dataDir }: Config): Promise<string> {
  if (http.publicUrl !== undefined) return `${http.publicUrl}/set-password`;
  if (production)
    throw new OperatorError(
      'PUBLIC_URL is not set, and a link begins with it',
      'Set it as the API has it, or give a password on stdin',
    );
  const { readRun } = await import('../../base/data-dir.ts');
  const api = readRun(dataDir)?.api;
  return `${api ? new URL(api).origin : `http://localhost:${http.port}`}/set-password`;
}

/** Needs the keys alone: it works where the database is unreachable, and on a copy of the log elsewhere. */
async function hash({ options }: { options: { readonly email: string } }) {
  const [{ commandConfig }, { locateSecretsKey }, { createSecretBox }, { accountHash }] = await Promise.all([
    import('../process.ts'),
    import('../../app/process.ts'),
    import('../../base/secret-box.ts'),
    import('../../services/access/account-hash.ts'),
  ]);
  const { config, log } = commandConfig('none');
  const hashUnder = (key: Uint8Array): string => accountHash(createSecretBox(key), options.email);
  const account = hashUnder(await locateSecretsKey(config, log));
  const previous = config.previousSecretsKey ? hashUnder(config.previousSecretsKey) : null;
  return { json: { account, previous }, text: previous === null ? account : facts({ account, previous }) };
}

async function totp({ options }: { options: Acting & { readonly email: string; readonly disable?: true } }) {
  const { withGateway, disableTotp, enableTotp } = await load();
  const { email, by } = options;
  if (options.disable) {
    const { id } = await withGateway({ by }, ({ deps }) => disableTotp(deps, { email }));
    return { json: { user_id: id, totp: false }, text: `User ${id} signs in without a code from now on.` };
  }
  const { uri, secret } = await withGateway({ by, secrets: true }, ({ deps }) => enableTotp(deps, { email }));
  const next =
    'Both are shown this once: put one of them into the authenticator app now. An earlier secret has ended.';
  return { json: { uri, secret }, text: facts({ secret }), copy: [uri], next };
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const { withGateway, listUsers } = await load();
  const users = (await withGateway({}, ({ deps }) => listUsers(deps, { merchantId: options.merchant }))).map(
    present,
  );
  const rows = users.map((row) => [
    row.id,
    row.email,
    row.merchant_id,
    row.totp ? 'yes' : 'no',
    row.last_login_at,
  ]);
  const header = ['ID', 'EMAIL', 'MERCHANT', 'CODE', 'LAST LOGIN'];
  const none = 'No user: make one with "user create --merchant ID --email EMAIL".';
  const next = 'Who cannot sign in any more: "user reset-password --email EMAIL".';
  return { json: { users }, ...listing({ header, rows, none, next }) };
}

async function load() {
  const [wiring, users] = await Promise.all([
    import('../process.ts'),
    import('../../services/access/users.ts'),
  ]);
  return { ...wiring, ...users };
}

/**
 * The password without the line feed that `echo` and editors put at the end; undefined where nothing comes at
 * all: at a terminal, or from an empty stdin. An empty line counts as a password, and is too short.
 */
async function readPassword(): Promise<string | undefined> {
  const given = process.stdin.isTTY ? '' : await readSecret(PASSWORD);
  return given === '' ? undefined : given.replace(/\r?\n$/, '');
}

function present(user: UserView) {
  return {
    id: user.id,
    email: user.email,
    merchant_id: user.merchantId,
    totp: user.totp,
    created_at: isoSeconds(user.createdAt),
    last_login_at: user.lastLoginAt ? isoSeconds(user.lastLoginAt) : null,
  };
}
