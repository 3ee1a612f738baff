import { resolve } from 'node:path';
import { NETWORKS } from '../domain/assets.ts';
import type { Environment, Variable } from './variable.ts';
import { VARIABLES } from './variables/index.ts';

const GROUPS: readonly string[] = [...NETWORKS, 'prices'];
const NAMES = Object.entries<Variable<unknown>>(VARIABLES)
  .filter(([name, { group }]) => name === 'PRESET' || GROUPS.includes(group))
  .map(([name]) => name);

/** How chains and prices are read, as it is set: what a gateway leaves for commands that run beside it. */
export function chainVariables(env: Environment): Readonly<Record<string, string>> {
  const files = NAMES.map((name) => `${name}_FILE`);
  const set = (names: readonly string[], read = (text: string) => text) =>
    names.flatMap((name) => (env[name] ? [[name, read(env[name])]] : []));
  // Commands may run in another folder.
  return Object.fromEntries([...set(NAMES), ...set(files, resolve)]);
}
