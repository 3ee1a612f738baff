// What is refused when NODE_ENV is production.

import { CHAINS } from '../chains/index.ts';
import { isPrivateAddress } from '../domain/ip-address.ts';
import { hostOf } from './urls.ts';
import type { ConfigRole, Environment, Variable } from './variable.ts';
import type { Values } from './variables/index.ts';
import { VARIABLES } from './variables/index.ts';

/**
 * Every reason why a process of this role must not start in production, one sentence each, without a secret.
 */
export function problemsInProduction(values: Values, env: Environment, role: ConfigRole): string[] {
  return [...missing(env, role), ...endpointsInTheClear(values), ...tooSoon(values), ...placeholders(env)];
}

/**
 * Whether only this machine or its own networks are between us and this host. A name could
 * lead anywhere, except this machine's own name.
 */
export function isNear(host: string): boolean {
  return host === 'localhost' || isPrivateAddress(host);
}

function missing(env: Environment, role: ConfigRole): string[] {
  return Object.entries<Variable<unknown>>(VARIABLES)
    .filter(([name, variable]) => variable.production?.includes(role) && !env[name])
    .map(([name, variable]) => `${name} must be set in production, for example ${variable.example}.`);
}

/**
 * Reports endpoints that are asked without TLS: anybody on the way to one can forge
 * its receipts, with any amount at any address.
 */
function endpointsInTheClear(values: Values): string[] {
  const isFar = (host: string): boolean => !isNear(host) && !values.RPC_HTTP_HOSTS?.includes(host);
  return CHAINS.flatMap(({ settings }) => {
    const open = settings.read(values).urls.filter((url) => url.startsWith('http:') && isFar(hostOf(url)));
    return (Object.keys(settings.variables) as (keyof Values)[]).flatMap((name) => {
      const hosts = new Set(
        textsIn(values[name]).flatMap((url) => (open.includes(url) ? [hostOf(url)] : [])),
      );
      if (hosts.size === 0) return [];
      return [
        `${name} must not ask ${[...hosts].join(', ')} without TLS in production, because anybody on the way could make deposits up: use https, or name the host in RPC_HTTP_HOSTS.`,
      ];
    });
  });
}

const LEAST_DELAY_MS = 60 * 60_000;

/** Reports a delay that is over before anybody can have seen what waits: it would protect nobody's money. */
function tooSoon({ WITHDRAW_CHANGE_DELAY: delayMs }: Values): string[] {
  if (delayMs >= LEAST_DELAY_MS) return [];
  return [
    'WITHDRAW_CHANGE_DELAY must be at least 1h in production: whoever takes over a session could send payouts to themselves before anybody sees it.',
  ];
}

/** The texts of a value that is one, a list of them, or lists by name. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Never in the middle of a word: an exchange may have a name that goes on with "me". */
const PLACEHOLDER = /(?<![a-z])CHANGE_?ME(?![a-z])|(^|[@/.])example\.(com|org|net)([:/?,]|$)/i;

/** Reports values that are still the placeholders of a shipped example. */
function placeholders(env: Environment): string[] {
  return Object.keys(VARIABLES)
    .filter((name) => PLACEHOLDER.test(env[name] ?? ''))
    .map((name) => `${name} still has the placeholder of an example (CHANGE_ME, example.com): set your own.`);
}
