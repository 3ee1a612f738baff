import { dirname, relative, resolve } from 'node:path';
import { ROOT } from './files.ts';
import type { Import } from './imports.ts';

/**
 * What a part of the program may import from the rest of it. The longest
 * prefix that fits a file is its row; `values` and `types` are prefixes of
 * the imported file. A part may always import itself. `packages` absent: any.
 */
type Row = {
  readonly values: readonly string[];
  readonly types?: readonly string[];
  readonly packages?: readonly string[];
};
const INNER = [
  'src/domain/',
  'src/chains/',
  'src/signer/',
  'src/db/',
  'src/services/',
  'src/base/',
  'activities/',
  'workflows/',
  'migrations/',
];
const PRODUCT = ['src/', 'packages/sdk/', 'workflows/', 'activities/', 'migrations/'];
const TABLE: Readonly<Record<string, Row>> = {
  // Needs nothing of ours: errors, logs, secrets, processes, and waiting lines.
  'src/base/': { values: [] },
  'src/domain/': { values: [], packages: [] },
  // Pure like the rest, and no workflow needs it: what is an address is for Node and a library to say.
  'src/domain/ip-address.ts': { values: [], packages: ['node:net', 'ipaddr.js'] },
  // It reads rows itself: what a service would tell it, it could not believe.
  'src/signer/': {
    values: [
      'src/db/',
      'src/domain/',
      'src/base/data-dir.ts',
      'src/base/reason.ts',
      'src/base/shared-file.ts',
      'src/chains/account-xpubs.ts',
      'src/chains/address-key.ts',
      'src/chains/addresses.ts',
      'src/chains/index.ts',
      'src/chains/transfer.ts',
    ],
  },
  // What the API says: schema, type and example in one.
  'src/contract/': { values: ['src/domain/'], packages: ['zod'] },
  'src/db/': { values: ['src/domain/', 'migrations/'], types: ['src/chains/address-key.ts'] },
  // A chain says what its variables are, in the language of
  // all variables; the table of them is made from the chains.
  'src/chains/': {
    values: [
      'src/domain/',
      'src/base/',
      'src/config/parser.ts',
      'src/config/parsers.ts',
      'src/config/urls.ts',
      'src/config/variable.ts',
    ],
  },
  'src/services/': {
    values: [
      'src/db/',
      'src/domain/',
      'src/chains/addresses.ts',
      'src/chains/address-key.ts',
      'src/chains/index.ts',
    ],
    types: [
      'src/chains/pace.ts',
      'src/chains/reader.ts',
      'src/chains/seen.ts',
      'src/chains/spending.ts',
      'src/chains/account-xpubs.ts',
      'src/contract/',
    ],
  },
  // Addresses are read and compared in one place; a request's address is text like any other.
  'src/api/': {
    values: [
      'src/services/',
      'src/contract/',
      'src/domain/',
      'src/chains/addresses.ts',
      'src/chains/index.ts',
    ],
  },
  'src/web/': { values: ['src/services/', 'src/contract/', 'src/domain/', 'src/chains/index.ts'] },
  'packages/sdk/': { values: ['packages/sdk/src/'] },
  'packages/sdk/src/': { values: [], types: ['src/domain/events.ts'], packages: ['node:'] },
  'src/config/': {
    values: [
      'src/base/',
      'src/domain/',
      'src/chains/account-xpubs.ts',
      'src/chains/addresses.ts',
      'src/chains/index.ts',
      'src/db/tls.ts',
    ],
  },
  'activities/': {
    values: ['src/services/', 'src/domain/'],
    types: ['src/chains/reader.ts', 'src/chains/address-key.ts'],
  },
  'workflows/': { values: ['src/domain/'], types: ['activities/'], packages: ['@temporalio/workflow'] },
  'migrations/': { values: [], packages: ['@mikro-orm/migrations'] },
  // The servers of a gateway that is given none.
  'src/embedded/': { values: ['src/base/', 'src/temporal/client.ts'] },
  // The wiring of a process, then what a process is for, then the command line around both.
  'src/app/': { values: [...INNER, 'src/api/', 'src/web/', 'src/config/', 'src/temporal/', 'src/embedded/'] },
  'src/roles/': { values: [...INNER, 'src/config/', 'src/temporal/', 'src/app/'] },
  'src/': { values: PRODUCT },
  // Tests and measurements use this folder, and nothing of each other.
  'dev/': { values: PRODUCT },
  'bench/': { values: [...PRODUCT, 'dev/'] },
  // What a shop has: the package by its name.
  'examples/': { values: [] },
  'test/': { values: [...PRODUCT, 'dev/', 'examples/'] },
};
/** Needed everywhere and without any import of their own; what is pure, or runs elsewhere, needs nothing. */
const COMMON_VALUES = ['src/base/errors.ts', 'src/base/async/'];
const PURE = ['src/domain/', 'packages/sdk/src/', 'workflows/', 'migrations/'];
const COMMON_TYPES = ['src/base/log.ts', 'src/app/metrics.ts'];

/** Whether a text begins with one of these prefixes. */
export const startsWithAny = (text: string, prefixes: readonly string[]) =>
  prefixes.some((prefix) => text.startsWith(prefix));

function rowOf(path: string): [string, Row] {
  const prefix = Object.keys(TABLE)
    .filter((key) => path.startsWith(key))
    .sort((a, b) => b.length - a.length)[0];
  const row = prefix === undefined ? undefined : TABLE[prefix];
  if (prefix === undefined || !row) throw new Error(`${path} is in no row of the import table`);
  return [prefix, row];
}

/** Why a file may not import something; undefined where the table permits it. */
export function forbiddenImport(path: string, { specifier, typeOnly }: Import): string | undefined {
  const [prefix, row] = rowOf(path);
  if (!specifier.startsWith('.')) {
    if (typeOnly && !path.startsWith('src/domain/') && !path.startsWith('workflows/')) return undefined;
    if (row.packages && !startsWithAny(specifier, row.packages)) return `imports the package ${specifier}`;
    return undefined;
  }
  const target = relative(ROOT, resolve(ROOT, dirname(path), specifier));
  const values = [prefix, ...row.values, ...(PURE.includes(prefix) ? [] : COMMON_VALUES)];
  const allowed = typeOnly ? [...values, ...(row.types ?? []), ...COMMON_TYPES] : values;
  return startsWithAny(target, allowed)
    ? undefined
    : `imports ${typeOnly ? 'types' : 'values'} from ${target}`;
}

/** Every path that the table names: each has to exist. */
export function pathsOfTable(): string[] {
  const rows = Object.entries(TABLE).flatMap(([prefix, { values, types = [] }]) => [
    prefix,
    ...values,
    ...types,
  ]);
  return [...new Set([...rows, ...COMMON_VALUES, ...COMMON_TYPES, ...PURE])];
}
