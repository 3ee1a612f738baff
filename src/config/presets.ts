// What PRESET stands for: the values of test nets, for variables that are not set.
import { CHAINS, WATCH_VARIABLES } from '../chains/index.ts';
import type { Environment, Variable } from './variable.ts';
import { VARIABLES } from './variables/index.ts';

// Of every coin: the table has to be complete, also for a chain that is not watched.
const PRICES = `fixed:${[...CHAINS.map(({ testNet }) => testNet.coinPrice), 'USDT=1'].join(',')}`;

/**
 * The values that PRESET gives, by variable: of each test net that it names, and prices, which no feed tells
 * there. Prices alone where it is unset and deposits can only be simulated; else empty.
 */
export function presetValues(env: Environment): Readonly<Record<string, string>> {
  const nets = namedNets(env);
  if (nets.length === 0 && !isRehearsal(env)) return {};
  return Object.assign(
    { PRICE_SOURCE: PRICES },
    ...nets.map(({ testNet }) => ({ ...testNet.defaults, ...testNet.identity })),
  );
}

/** The environment with the values of PRESET where nothing is set, and every contradiction as a sentence. */
export function withPreset(env: Environment, problems: string[]): Environment {
  const given = presetValues(env);
  const missing = Object.entries(given).filter(([name]) => !env[name]);
  problems.push(...contradictions(env), ...mainNetsBeside(env));
  return { ...env, ...Object.fromEntries(missing) };
}

/** Sentences about prices that are made up, for the log at the start; `env` is what was given. */
export function presetWarnings(env: Environment): string[] {
  if (isRehearsal(env) && !env['PRICE_SOURCE'])
    return [
      `PRICE_SOURCE is ${PRICES}, made up for simulated deposits, while no chain is watched: with ${WATCH_VARIABLES} set, prices are read from Chainlink.`,
    ];
  return namedNets(env).map(
    ({ testNet }) =>
      `PRESET is ${testNet.name}: what ${testNet.title} carries is worth nothing, and live mode credits it at made-up prices.`,
  );
}

/** Whether no money can come but what is simulated, and nobody said where prices are from. */
function isRehearsal(env: Environment): boolean {
  const decides = ['PRESET', 'PRICE_FEEDS', ...CHAINS.flatMap((c) => [c.watchedBy, `${c.watchedBy}_FILE`])];
  return env['NODE_ENV'] !== 'production' && decides.every((name) => !env[name]);
}

function namedNets({ PRESET: text }: Environment) {
  const names = text ? VARIABLES.PRESET.parser.safeParse(text).data : undefined;
  return CHAINS.filter(({ testNet }) => names?.some((name) => name === testNet.name));
}

/** A variable that makes the chain another one than the preset: one of the two is a mistake. */
function contradictions(env: Environment): string[] {
  return namedNets(env).flatMap(({ testNet }) =>
    Object.entries(testNet.identity)
      .filter(([name, value]) => env[name] && meaning(name, env[name]) !== meaning(name, value))
      .map(
        ([name, value]) =>
          `${name} contradicts PRESET, whose ${testNet.name} has ${value}: remove ${name}, or take ${testNet.name} out of PRESET.`,
      ),
  );
}

/** A chain with endpoints that the preset does not name: real money beside money that is not. */
function mainNetsBeside(env: Environment): string[] {
  const nets = namedNets(env);
  if (nets.length === 0) return [];
  return CHAINS.filter((chain) => env[chain.watchedBy] && !nets.includes(chain)).map(
    ({ watchedBy, testNet }) =>
      `${watchedBy} is set, and PRESET does not name ${testNet.name}: real money and test money must not share a gateway. Add ${testNet.name} to PRESET, or remove ${watchedBy}.`,
  );
}

/** Two spellings of one value are no contradiction; what is not valid is reported where it is read. */
function meaning(name: string, text: string): unknown {
  const { parser } = (VARIABLES as Record<string, Variable<unknown>>)[name] ?? {};
  const parsed = parser?.safeParse(text);
  return parsed?.success ? parsed.data : text;
}
