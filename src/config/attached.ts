import { resolve } from 'node:path';
import { NETWORKS } from '../domain/assets.ts';
import type { Environment, Variable } from './variable.ts';
import { VARIABLES } from './variables/index.ts';

const GROUPS: readonly string[] = [...NETWORKS, 'prices'];
const NAMES = Object.entries<Variable<unknown>>(VARIABLES)
  .filter(([name, { group }]) => name === 'PRESET' || GROUPS.includes(group))
  .flatMap(([name]) => [name, `${name}_FILE`]);

/** How chains and prices are read, as it is set: what a gateway leaves for commands that run beside it. */
export function chainVariables(env: Environment): Readonly<Record<string, string>> {
  // Commands may run in another folder.
  const read = (name: string, text: string) => (name.endsWith('_FILE') ? resolve(text) : text);
  return Object.fromEntries(NAMES.flatMap((name) => (env[name] ? [[name, read(name, env[name])]] : [])));
}
