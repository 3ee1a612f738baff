import type { Command } from 'commander';
import { isoSeconds } from '../domain/events.ts';
import type { UserView } from '../services/access/users.ts';
import { text } from './arguments.ts';
import { type Acting, acting } from './operator.ts';
import { answering, group, leaf } from './run.ts';
import { readSecret } from './stdin.ts';
import { facts, table } from './table.ts';

const MAX_EMAIL = 320;
const PASSWORD = { name: 'password', maxBytes: 4_096, nextAction: 'Give one of 12 characters to 256 bytes on one line' } as const;

/** `user`. Passwords come on stdin: an argument would stand in the process list and in the shell's history. */
export function addUserCommands(program: Command): void {
  const user = group(program, 'user', 'people who sign in for a merchant');
  withEmail(acting(leaf(user, 'create', 'makes a user; reads the password on stdin')))
    .requiredOption('--merchant <id>', 'merchant id', text())
    .action(answering(create));
  withEmail(acting(leaf(user, 'reset-password', 'sets a new password, read on stdin, and ends every session of the user'))).action(
    answering(reset),
  );
  withEmail(
    acting(leaf(user, 'totp', 'asks for a code of an authenticator app from now on; shows the secret this once and ends every session')),
  )
    .option('--disable', 'ask for no code any more')
    .action(answering(totp));
  leaf(user, 'list', 'lists users by email').option('--merchant <id>', 'only of this merchant', text()).action(answering(list));
}

function withEmail(command: Command): Command {
  return command.requiredOption('--email <email>', 'what the person signs in with', text(MAX_EMAIL));
}

async function create({ options }: { options: Acting & { readonly merchant: string; readonly email: string } }) {
  const { withGateway, createUser } = await load();
  const password = await readPassword();
  const { userId } = await withGateway({ by: options.by }, ({ deps }) =>
    createUser(deps, { merchantId: options.merchant, email: options.email, password }),
  );
  return { json: { user_id: userId }, text: `User ${userId} may sign in at /login.` };
}

async function reset({ options }: { options: Acting & { readonly email: string } }) {
  const { withGateway, resetPassword } = await load();
  const password = await readPassword();
  const { id } = await withGateway({ by: options.by }, ({ deps }) => resetPassword(deps, { email: options.email, password }));
  return { json: { user_id: id }, text: `User ${id} has the new password; every session has ended.` };
}

async function totp({ options }: { options: Acting & { readonly email: string; readonly disable?: true } }) {
  const { withGateway, disableTotp, enableTotp } = await load();
  const { email, by } = options;
  if (options.disable) {
    const { id } = await withGateway({ by }, ({ deps }) => disableTotp(deps, { email }));
    return { json: { user_id: id, totp: false }, text: `User ${id} signs in without a code from now on.` };
  }
  const { uri, secret } = await withGateway({ by, secrets: true }, ({ deps }) => enableTotp(deps, { email }));
  const next = 'Both are shown this once: put one of them into the authenticator app now. An earlier secret has ended.';
  return { json: { uri, secret }, text: `${facts({ uri, secret })}\n${next}` };
}

async function list({ options }: { options: { readonly merchant?: string } }) {
  const { withGateway, listUsers } = await load();
  const users = (await withGateway({}, ({ deps }) => listUsers(deps, { merchantId: options.merchant }))).map(present);
  const rows = users.map((row) => [row.id, row.email, row.merchant_id, row.totp ? 'yes' : 'no', row.last_login_at]);
  const header = ['ID', 'EMAIL', 'MERCHANT', 'CODE', 'LAST LOGIN'];
  return { json: { users }, text: table(header, rows, 'No user: make one with "user create --merchant ID --email EMAIL".') };
}

async function load() {
  const [ground, users] = await Promise.all([import('./ground.ts'), import('../services/access/users.ts')]);
  return { ...ground, ...users };
}

/** Without the line feed that `echo` and editors put at the end. */
async function readPassword(): Promise<string> {
  return (await readSecret(PASSWORD)).replace(/\r?\n$/, '');
}

function present(user: UserView) {
  return {
    ...{ id: user.id, email: user.email, merchant_id: user.merchantId, totp: user.totp, created_at: isoSeconds(user.createdAt) },
    last_login_at: user.lastLoginAt ? isoSeconds(user.lastLoginAt) : null,
  };
}
