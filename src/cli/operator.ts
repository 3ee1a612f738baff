import { hostname, userInfo } from 'node:os';
import type { Actor } from '../domain/actor.ts';
import { DECISION_LIMITS } from '../domain/decision.ts';
import { terminal } from './terminal.ts';

const MAX_HOST = 255;

/** Who acts at this command line: the name that they give, or else that of their login. */
export function nameOf(by: string | undefined): string {
  return (by ?? loginName()).slice(0, DECISION_LIMITS.name);
}

/** The operator at this command line. */
export function operatorOf(by: string | undefined): Actor {
  return { kind: 'operator', name: nameOf(by), from: hostname().slice(0, MAX_HOST) };
}

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
