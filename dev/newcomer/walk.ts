import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Block, blocksOf, filled } from './blocks.ts';
import { type Outcome, runSnippet } from './snippets.ts';
import { type NodeChoice, openTerminal, type Terminal } from './terminal.ts';

export const FIRST_INTEGRATION = 'The first integration in ten minutes';

/** Whose README is walked, with which Node, and where what the newcomer makes of their own is kept. */
export type Walk = {
  /** The clone: its `npm ci` has run. */
  readonly clone: string;
  readonly node: NodeChoice;
  /** A new folder: the newcomer's own project, and the gateway's data. */
  readonly folder: string;
  /** Ports that nobody else has: of the gateway, and of the newcomer's receiver. */
  readonly ports: { readonly api: number; readonly hooks: number };
  /** The steps end with the first verified webhook instead of with the last block. */
  readonly untilWebhook?: boolean;
};

export type Step = Block & { readonly outcome: Outcome };

/** Placeholders that stand for anything of their kind; the others are taken from the answers. */
const ANYTHING = {
  '0x…': '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  'T…': 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
};

/** What an answer tells, by the placeholder that later steps have for it. */
const TOLD: readonly (readonly [string, RegExp])[] = [
  ['sk_test_…', /\b(sk_test_\w+)/],
  ['MERCHANT_ID', /^merchant\s+([0-9a-f-]{36})$/m],
  ['whsec_…', /(whsec_[\w+/=]+)/],
  ['CUSTOMER_ID', /"id":"([0-9a-f-]{36})","external_id":"user-42"/],
];

/** Names that the README's fragments of code take from the server around them. */
const GIVEN = ['rawBody', 'request', 'creditOnce', 'order', 'GATEWAY_URL', 'GATEWAY_KEY', 'SHOP_URL'];

const VERIFIED = /deposit\.completed.*signature right/;

/**
 * Does what the README says, block by block, as somebody does who has only the README: the placeholders are
 * filled from earlier answers, what does not end by itself runs in a terminal of its own, and shell
 * variables stay set. Code of JavaScript runs in the newcomer's own project; the names that a fragment
 * takes from the server around it are given. Throws with the block and what it printed where a step fails.
 */
export async function walkReadme(walk: Walk): Promise<Step[]> {
  const blocks = blocksOf(walk.clone, 'README.md').filter(({ heading }) => heading === FIRST_INTEGRATION);
  const values: Record<string, string> = {
    ...ANYTHING,
    '127.0.0.1:8090': `127.0.0.1:${walk.ports.hooks}`,
    '--port 8090': `--port ${walk.ports.hooks}`,
  };
  const env: NodeJS.ProcessEnv = {
    PATH: walk.node.path,
    HOME: process.env['HOME'],
    DATA_DIR: join(walk.folder, 'data'),
    PORT: String(walk.ports.api),
    OPS_PORT: '0',
  };
  const terminals: Terminal[] = [];
  const steps: Step[] = [];
  try {
    for (const block of blocks) {
      const text = filled(block.text, values);
      const outcome = await runStep({ walk, block, text, env, values, terminals });
      steps.push({ ...block, outcome });
      for (const [placeholder, told] of TOLD) {
        const value = told.exec(outcome.out)?.[1];
        if (value !== undefined) values[placeholder] ??= value;
      }
      const set = text.match(/^export ((?:\w+=\S+ ?)+)$/m)?.[1] ?? '';
      for (const one of set.split(' ').filter((part) => part !== ''))
        env[one.slice(0, one.indexOf('='))] = one.slice(one.indexOf('=') + 1);
      if (text.includes('/test/simulate-deposit')) {
        await terminals.at(-1)?.until(VERIFIED);
        if (walk.untilWebhook) break;
      }
    }
    return steps;
  } finally {
    for (const terminal of terminals.reverse()) await terminal.stop();
  }
}

type Doing = {
  readonly walk: Walk;
  readonly block: Block;
  readonly text: string;
  readonly env: NodeJS.ProcessEnv;
  readonly values: Record<string, string>;
  readonly terminals: Terminal[];
};

async function runStep(doing: Doing): Promise<Outcome> {
  const { walk, block, text, env, values, terminals } = doing;
  const lasts = /\bnpm start\b/.test(text)
    ? /\{"ready":true,.*\}/
    : /webhook listen\b/.test(text)
      ? /Listening on/
      : null;
  if (lasts) {
    const typed = `${values['whsec_…'] ?? ''}\n`;
    const terminal = openTerminal(text, { env, folder: walk.clone, typed });
    terminals.push(terminal);
    const [said] = await terminal.until(lasts);
    if (said.startsWith('{')) {
      const { api } = JSON.parse(said) as { api: string };
      values['http://127.0.0.1:8080'] = new URL(api).origin;
    }
    return { code: 0, out: said, err: '' };
  }
  const outcome = await (block.language === 'sh' ? runShell(doing) : runCode(doing));
  const refused = /^\{"error":/.test(outcome.out);
  if (outcome.code !== 0 || refused)
    throw new Error(
      `README.md:${block.line} on Node ${walk.node.version}:\n${text}\n→ ${outcome.code}\n${outcome.out}${outcome.err}`,
    );
  return outcome;
}

/** Commands run in the clone, but what npm installs goes into the newcomer's own project. */
async function runShell({ walk, text, env }: Doing): Promise<Outcome> {
  const isOwn = /^npm (install|i|init)\b/.test(text);
  return await runSnippet('sh', text, { folder: isOwn ? walk.folder : walk.clone, env });
}

/**
 * A fragment of the newcomer's server. Node of the machine runs it, unless it imports TypeScript: then it
 * is the one that the project brings along.
 */
async function runCode({ walk, text, env, values }: Doing): Promise<Outcome> {
  const inClone = text.replace(
    /'\.\/(src\/[^']+)'/g,
    (_, path) => `'${pathToFileURL(join(walk.clone, path)).href}'`,
  );
  const given = pathToFileURL(join(import.meta.dirname, 'given.mjs')).href;
  const taken = GIVEN.filter((name) => new RegExp(`\\b${name}\\b`).test(inClone));
  return await runSnippet('js', `import { ${taken.join(', ')} } from '${given}';\n${inClone}`, {
    folder: walk.folder,
    env: { ...env, WEBHOOK_SECRET: values['whsec_…'], GATEWAY_URL: env['API'], GATEWAY_KEY: env['KEY'] },
    node: /\.ts'/.test(inClone) ? process.execPath : walk.node.command,
  });
}
