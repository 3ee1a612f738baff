import { xpubVariable } from '../chains/account-xpubs.ts';
import { byNetwork, CHAINS } from '../chains/index.ts';
import type { ConfigRole, Group, Variable } from './variable.ts';
import { VARIABLES } from './variables/index.ts';

/** In the order of the documentation. */
const TITLES: Readonly<Record<Group, string>> = {
  service: 'Service',
  stores: 'Database and Temporal',
  ...byNetwork(({ name }) => name),
  keys: 'Keys and wallet',
  money: 'Payments and payouts',
  prices: 'Prices',
  webhooks: 'Webhooks',
  limits: 'Rate limits',
  sessions: 'Sessions of people',
};

const TEST_XPUBS = CHAINS.map(({ network }) => `\`${xpubVariable('test', network)}\``).join(' and ');

const NOTE = 'Generated from the table in src/config/variables/index.ts by "npm run docs"; edit it there.';

/** The text of docs/configuration.md. */
export function renderConfigDocs(): string {
  const sections = Object.entries(TITLES).map(([group, title]) => {
    const rows = entries()
      .filter(([, variable]) => variable.group === group)
      .map(([name, variable]) => `| \`${name}\` | ${defaultOf(variable)} | ${describe(variable)} |`);
    return [`## ${title}`, '', '| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return `${INTRODUCTION}\n${renderNeeded()}\n${sections.join('\n')}`;
}

/** What a newcomer has to set, and nothing else. */
export function neededVariables(): Readonly<Record<'api' | 'signer', readonly string[]>> {
  const names = (role: ConfigRole) =>
    entries().flatMap(([name, { production }]) => (production?.includes(role) ? [name] : []));
  const watched = CHAINS.map(({ watchedBy }) => watchedBy);
  const test = CHAINS.map(({ network }) => xpubVariable('test', network));
  return { api: [...names('api'), ...test, ...watched], signer: names('signer') };
}

function renderNeeded(): string {
  const { api, signer } = neededVariables();
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const xpubs = api.filter((name) => name.startsWith('WALLET_XPUB_'));
  const endpoints = CHAINS.map(({ watchedBy }) => watchedBy);
  const rows = api.filter((name) => ![...xpubs, ...endpoints].includes(name)).map(exampleRow);
  const own = signer.filter((name) => !api.includes(name));
  return [
    '## What you need',
    '',
    'For development: nothing. In production API and worker need this, and everything else has a default that is meant:',
    '',
    '| Variable | For example |',
    '|---|---|',
    ...rows,
    `| ${quoted(xpubs)} | the four lines that \`gateway wallet new\` prints |`,
    ...endpoints.map(exampleRow),
    '',
    `A chain without endpoints is not watched, so one of ${quoted(endpoints)} is enough. Behind a proxy add \`TRUSTED_PROXIES\`; the key of a provider where it wants one; where the Temporal namespace is not \`default\`, \`TEMPORAL_NAMESPACE\`.`,
    `\`gateway migrate\` has a \`DATABASE_URL\` of its own (the role that owns the tables), and so has the signer, which needs ${quoted(signer.filter((name) => api.includes(name)))} and ${quoted(own)}. On a public test net: [\`PRESET\`](testnet.md).`,
    '',
  ].join('\n');
}

function exampleRow(name: string): string {
  return `| \`${name}\` | \`${(VARIABLES as Record<string, Variable<unknown>>)[name]?.example}\` |`;
}

/** The text of .env.example: every variable, commented out, so that the file as it is changes nothing. */
export function renderEnvExample(): string {
  const sections = Object.entries(TITLES).map(([group, title]) => {
    const lines = entries()
      .filter(([, variable]) => variable.group === group)
      .map(([name, variable]) => `# ${describe(variable)}\n# ${name}=${variable.example}\n`);
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  return `# ${NOTE}\n# The gateway reads no file named .env by itself: hand it over, as with "docker run --env-file" or "set -a; . ./.env". Git ignores it.\n# Remove the "# " before a variable to set it. An empty value counts as unset.\n\n${sections.join('\n')}`;
}

const INTRODUCTION = `# Configuration

<!-- ${NOTE} -->

Everything is configured by environment variables. They are all checked at the start, and all problems are reported together.
An empty variable counts as unset. Secret values are never printed: not in an error, not by \`gateway config check\`, not in a log.
Each variable that is marked as secret may be given by a file instead: \`NAME_FILE\` is its path. Both at once is an error, and so is the file of any other variable.

- Durations are a whole number and a unit: \`30s\`, \`15m\`, \`24h\`, \`7d\`. Lists are separated by commas. Amounts are plain decimals (\`12.5\`).
- Outside production a missing database or Temporal server is embedded under \`DATA_DIR\`, and a missing \`SECRETS_KEY\`, seed, passphrase or account key is made there (files that only their owner can read); the log says so. With \`NODE_ENV=production\` each of them must be set.
- Test-mode addresses come from accounts of their own. Where ${TEST_XPUBS} are unset, their keys are read from the public part of the wallet file, which needs no passphrase. An API process that cannot read that file needs both variables; \`gateway wallet xpub\` prints them.
- A variable that looks like one of these but is none (a misspelling) is reported at the start and ignored.
`;

function entries(): [string, Variable<unknown>][] {
  return Object.entries<Variable<unknown>>(VARIABLES);
}

function describe(variable: Variable<unknown>): string {
  const roles = variable.production?.filter((role) => role !== 'all' && role !== 'tool') ?? [];
  const required = roles.length > 0 ? ` Required in production by: ${roles.join(', ')}.` : '';
  return `${variable.about}${required}${variable.secret ? ' Secret.' : ''}`;
}

function defaultOf(variable: Variable<unknown>): string {
  return variable.default === undefined ? '' : `\`${variable.default}\``;
}
