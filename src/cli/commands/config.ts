import { readFile, writeFile } from 'node:fs/promises';
import { ConfigError, type ConfigRole, describeConfig, loadConfig } from '../../config/index.ts';
import { presetIn } from '../arguments.ts';
import { viewTable } from '../print.ts';
import type { CommandCall } from '../run.ts';
import { terminal } from '../terminal.ts';

/** The environment variables. */
export const CONFIG = { check, docs };

async function check({ options }: CommandCall<{ readonly role: ConfigRole; readonly preset?: string }>) {
  const env = presetIn(terminal().env, options.preset);
  const { warnings, problems, problem } = problemsOf(env, options.role);
  const values = describeConfig(env);
  const table = viewTable(values, [
    ['VARIABLE', 'name'],
    ['FROM', ({ source }) => (source === 'environment' ? 'set' : source)],
    'value',
  ]);
  const text = [table, ...warnings.map((warning) => `Warning: ${warning}`)].join('\n');
  const next =
    problem === undefined ? 'All can be used. Whether the parts behind it are well: "doctor".' : undefined;
  return { json: { ok: problem === undefined, problems, warnings, values }, text, next, problem };
}

function problemsOf(env: NodeJS.ProcessEnv, role: ConfigRole) {
  try {
    return { warnings: loadConfig(env, { role }).warnings, problems: [], problem: undefined };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { warnings: [], problems: error.problems, problem: error.message };
  }
}

async function docs({ options }: CommandCall<{ readonly write?: true }>) {
  // A check of the configuration has no use for them.
  const { renderApiDocument } = await import('../../api/openapi/document.ts');
  const { renderSdkTypes } = await import('../../api/openapi/sdk-types.ts');
  const { renderConfigDocs, renderEnvExample } = await import('../../config/docs.ts');
  const files = Object.entries({
    'docs/configuration.md': renderConfigDocs(),
    '.env.example': renderEnvExample(),
    'docs/openapi.json': renderApiDocument(),
    ...renderSdkTypes(),
  }).map(([path, text]) => ({ path, text, url: new URL(`../../../${path}`, import.meta.url) }));
  if (options.write) {
    for (const { url, text } of files) await writeFile(url, text);
    const written = files.map(({ path }) => path);
    return { json: { written }, text: `Wrote ${written.join(' and ')}.` };
  }
  const stale: string[] = [];
  for (const { path, text, url } of files)
    if ((await readFile(url, 'utf8').catch(() => undefined)) !== text) stale.push(path);
  const next =
    stale.length === 0
      ? undefined
      : `Not as the code has it: ${stale.join(', ')}. Write them with "config docs --write".`;
  return { json: { stale }, text: '', copy: [files[0]?.text.trimEnd() ?? ''], next };
}
