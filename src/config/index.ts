import { OperatorError } from '../base/errors.ts';
import { xpubVariable } from '../chains/account-xpubs.ts';
import { chainProblems, chainsSettings, priceChain } from '../chains/index.ts';
import { MODES, NETWORKS } from '../domain/assets.ts';
import { assemble } from './assemble.ts';
import { withSecretFiles } from './files.ts';
import { assetKey } from './parsers.ts';
import { presetValues, presetWarnings, withPreset } from './presets.ts';
import { problemsInProduction } from './production.ts';
import { wrongTemporal } from './temporal-tls.ts';
import type { ConfigRole, Environment, Variable } from './variable.ts';
import type { Values, VariableName } from './variables/index.ts';
import { VARIABLES } from './variables/index.ts';
import { unknownVariables, warningsOf } from './warnings.ts';

export type { ConfigRole, Environment } from './variable.ts';

/** All problems of the environment at once; none of them quotes a secret. */
export class ConfigError extends OperatorError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      'The configuration is not valid',
      'Set these variables and start again; docs/configuration.md describes each',
    );
    const title =
      problems.length === 1
        ? 'The configuration has a problem:'
        : `The configuration has ${problems.length} problems:`;
    this.message = [title, ...problems.map((problem) => `  - ${problem}`), `${this.nextAction}.`].join('\n');
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const MAX_QUOTED = 40;

export type Config = ReturnType<typeof assemble>;

/**
 * The configuration from the environment, frozen, or a {@link ConfigError} with
 * every problem at once. An empty variable counts as unset. `role` decides what
 * production requires: a signer needs no Temporal, an API no seed.
 */
export function loadConfig(given: Environment, options: { role?: ConfigRole } = {}): Config {
  const problems: string[] = [];
  const env = withPreset(withSecretFiles(given, problems), problems);
  const values = Object.fromEntries(
    Object.entries<Variable<unknown>>(VARIABLES).map(([name, variable]) => [
      name,
      readVariable(name, variable, env[name], problems),
    ]),
  ) as Values;
  if (values.NODE_ENV === 'production')
    problems.push(...problemsInProduction(values, env, options.role ?? 'all'));
  if (values.RATE_LIMIT_BURST < values.RATE_LIMIT_PER_SECOND) {
    problems.push(
      'RATE_LIMIT_BURST must not be below RATE_LIMIT_PER_SECOND: raise the one or lower the other.',
    );
  }
  if (values.SESSION_MAX < values.SESSION_IDLE)
    problems.push('SESSION_MAX must not be below SESSION_IDLE: raise the one or lower the other.');
  if (values.PRICE_SOURCE?.kind === 'fixed' && values.PRICE_FEEDS) {
    problems.push('PRICE_FEEDS only goes with PRICE_SOURCE=chainlink: remove the one or change the other.');
  }
  problems.push(...chainProblems(values), ...wrongFeeds(values), ...wrongXpubs(values));
  problems.push(...wrongTemporal(values), ...wrongSecretsKeys(values));
  // What is missing may be there under a wrong name.
  if (problems.length > 0) throw new ConfigError([...problems, ...unknownVariables(env)]);
  return deepFreeze(assemble(values, [...presetWarnings(given), ...warningsOf(values, env)]));
}

function readVariable(
  name: string,
  variable: Variable<unknown>,
  given: string | undefined,
  problems: string[],
): unknown {
  const text = given === undefined || given === '' ? variable.default : given;
  if (text === undefined) return undefined;
  const result = variable.parser.safeParse(text);
  if (result.success) return result.data;
  const quoted =
    variable.secret || text.length > MAX_QUOTED || /[@]|:\/\//.test(text)
      ? ''
      : `; it is ${JSON.stringify(text)}`;
  problems.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}${quoted}.`);
  return undefined;
}

/**
 * A feed is read on one chain: an address of another one would be read nowhere. Where no
 * chain tells prices nothing is read, and what is named may stay.
 */
function wrongFeeds(values: Values): string[] {
  const { PRICE_SOURCE: source, PRICE_FEEDS: feeds = {} } = values;
  const chain = source?.kind === 'chainlink' ? priceChain(chainsSettings(values)) : undefined;
  if (!chain) return [];
  return Object.entries(feeds)
    .filter(([, address]) => chain.addresses.parse(address) === undefined)
    .map(
      ([currency]) =>
        `PRICE_FEEDS must give ${currency} an address of ${chain.name}, where prices are read as ${chain.watchedBy} is set: ${chain.addresses.form}.`,
    );
}

/**
 * A key that is its own predecessor, or a predecessor without a successor, is a mistake at the
 * moment that matters most: when the key is changed.
 */
function wrongSecretsKeys({ SECRETS_KEY: key, SECRETS_KEY_PREVIOUS: previous }: Values): string[] {
  if (!previous) return [];
  if (!key) return ['SECRETS_KEY_PREVIOUS goes with SECRETS_KEY, which is not set: set the new key there.'];
  if (Buffer.compare(key, previous) === 0)
    return ['SECRETS_KEY_PREVIOUS is the same key as SECRETS_KEY: remove it, or set the new key there.'];
  return [];
}

/**
 * Two accounts under one key would give the same address to two customers; the same key on two
 * networks is a line that was copied by mistake.
 */
function wrongXpubs(values: Values): string[] {
  const names = MODES.flatMap((mode) => NETWORKS.map((network) => xpubVariable(mode, network)));
  return names.flatMap((name, index) => {
    const twin = names
      .slice(0, index)
      .find((earlier) => values[name] !== undefined && values[earlier] === values[name]);
    return twin
      ? [`${name} is the same key as ${twin}: each network and mode has an account key of its own.`]
      : [];
  });
}

/** The threshold of an asset in base units, or undefined where the operator set none. */
export function thresholdUnits(
  table: Readonly<Record<string, bigint>>,
  network: string,
  currency: string,
): bigint | undefined {
  return table[assetKey(network, currency)];
}

/** Every variable with its effective value for `config check`; a secret shows only whether it is set. */
export function describeConfig(env: Environment): {
  name: VariableName;
  value: string | null;
  source: 'environment' | 'file' | 'preset' | 'default' | 'unset';
}[] {
  const presets = presetValues(env);
  return Object.entries<Variable<unknown>>(VARIABLES).map(([name, variable]) => {
    const file = variable.secret && !env[name] && env[`${name}_FILE`];
    if (file) return { name: name as VariableName, value: '(set, not shown)', source: 'file' };
    const given = env[name] || undefined;
    const preset = presets[name];
    const value = given ?? preset ?? variable.default ?? null;
    return {
      name: name as VariableName,
      value: variable.secret && value !== null ? '(set, not shown)' : value,
      source: sourceOf(given, env['PRESET'] && preset, variable.default),
    };
  });
}

function sourceOf(given: string | undefined, preset: string | undefined, usual: string | undefined) {
  if (given !== undefined) return 'environment';
  if (preset !== undefined) return 'preset';
  return usual === undefined ? 'unset' : 'default';
}

function deepFreeze<T>(value: T): T {
  // Typed arrays cannot be frozen; the secrets key is the only one.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
