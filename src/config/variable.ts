import type { Network } from '../domain/assets.ts';
import type { Parser } from './parser.ts';

/**
 * The part that a process plays; `tool` is a command of the
 * operator that needs the database, `none` one that needs nothing.
 */
export type ConfigRole = 'all' | 'api' | 'worker' | 'signer' | 'tool' | 'none';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of the documentation; the variables of each chain are a part of their own. */
export type Group =
  | 'service'
  | 'stores'
  | Network
  | 'keys'
  | 'money'
  | 'prices'
  | 'webhooks'
  | 'limits'
  | 'sessions';

/** Everything that is known about one variable: the parser, the documentation and who needs it. */
export type Variable<T> = {
  readonly group: Group;
  readonly parser: Parser<T>;
  readonly default?: string;
  /** Its value is never printed, not even in part. */
  readonly secret?: true;
  /** Roles that refuse to start without it when NODE_ENV is production. */
  readonly production?: readonly ConfigRole[];
  readonly about: string;
  readonly example: string;
};

type WithDefault<T> = Variable<T> & { readonly default: string };

/** Keeps the type of the parsed value: never undefined where there is a default. */
export function variable<T>(entry: WithDefault<T>): WithDefault<T>;
export function variable<T>(entry: Variable<T>): Variable<T>;
export function variable<T>(entry: Variable<T>): Variable<T> {
  return entry;
}

type ValueOf<V> = V extends { parser: Parser<infer T>; default: string }
  ? T
  : V extends { parser: Parser<infer T> }
    ? T | undefined
    : never;

/** The parsed values of a table of variables. */
export type ValuesOf<Table> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };
