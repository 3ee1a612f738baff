import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Actor } from '../domain/actor.ts';
import { DECISION_LIMITS } from '../domain/decision.ts';
import { text } from './arguments.ts';
import { terminal } from './terminal.ts';

/** What every changing command takes. */
export type Acting = { readonly by?: string };

/** Adds `--by` to a command that changes something. */
export function acting(command: Command): Command {
  return command.option(
    '--by <name>',
    'who changes it, for the audit (default: the login name of this shell)',
    text(DECISION_LIMITS.name),
  );
}

/** The operator at this command line, by the name that they give or else by their login. */
export function operatorOf(by: string | undefined): Actor {
  return {
    kind: 'operator',
    name: (by ?? loginName()).slice(0, DECISION_LIMITS.name),
    from: hostname().slice(0, MAX_HOST),
  };
}

const MAX_HOST = 255;

/** The login name; behind sudo it is the person who called sudo. A container's user may have no name. */
function loginName(): string {
  const behind = terminal().env['SUDO_USER'];
  if (behind) return behind;
  try {
    return userInfo().username;
  } catch {
    return terminal().env['LOGNAME'] || `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
