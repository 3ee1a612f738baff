import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { oneOf } from '../arguments.ts';
import { PRESET_OPTION, withPresetOption } from '../preset.ts';
import { answering, group, leaf } from '../run.ts';
import { table } from '../table.ts';
import { terminal } from '../terminal.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** `config`. */
export function addConfigCommands(program: Command): void {
  const config = group(program, 'config', 'the environment variables of this gateway');
  leaf(config, 'check', 'prints every effective value, without secrets, and all problems at once')
    .option(
      '--role <role>',
      'whose requirements apply in production',
      oneOf('all', 'api', 'worker', 'signer'),
      'all',
    )
    .option(...PRESET_OPTION)
    .action(answering(check));
  leaf(
    config,
    'docs',
    'prints docs/configuration.md, or writes it, .env.example, docs/openapi.json and the types in packages/sdk/src',
  )
    .option('--write', 'write the files')
    .action(answering(docs));
}

async function check({
  options,
}: {
  options: { readonly role: 'all' | 'api' | 'worker' | 'signer'; readonly preset?: string };
}) {
  const env = withPresetOption(terminal().env, options.preset);
  const { ConfigError, describeConfig, loadConfig } = await import('../../config/index.ts');
  let problems: readonly string[] = [];
  let warnings: readonly string[] = [];
  let problem: string | undefined;
  try {
    warnings = loadConfig(env, { role: options.role }).warnings;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems = error.problems;
    problem = error.message;
  }
  const values = describeConfig(env);
  const shown = values.map(({ name, value, source }) => [
    name,
    source === 'environment' ? 'set' : source,
    value,
  ]);
  const text = [
    table(['VARIABLE', 'FROM', 'VALUE'], shown),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join('\n');
  const next =
    problem === undefined ? 'All can be used. Whether the parts behind it are well: "doctor".' : undefined;
  return { json: { ok: problems.length === 0, problems, warnings, values }, text, next, problem };
}

async function docs({ options }: { options: { readonly write?: true } }) {
  const { renderConfigDocs, renderEnvExample } = await import('../../config/docs.ts');
  const { renderApiDocument } = await import('../../api/openapi/document.ts');
  const { renderSdkTypes } = await import('../../api/openapi/sdk-types.ts');
  const files = [
    { path: 'docs/configuration.md', text: renderConfigDocs() },
    { path: '.env.example', text: renderEnvExample() },
    { path: 'docs/openapi.json', text: renderApiDocument() },
    ...Object.entries(renderSdkTypes()).map(([path, text]) => ({ path, text })),
  ];
  if (options.write) {
    for (const file of files) await writeFile(new URL(file.path, `file://${ROOT}`), file.text);
    const written = files.map((file) => file.path);
    return { json: { written }, text: `Wrote ${written.join(' and ')}.` };
  }
  const stale: string[] = [];
  for (const file of files) {
    const kept = await readFile(new URL(file.path, `file://${ROOT}`), 'utf8').catch(() => undefined);
    if (kept !== file.text) stale.push(file.path);
  }
  const next =
    stale.length === 0
      ? undefined
      : `Not as the code has it: ${stale.join(', ')}. Write them with "config docs --write".`;
  return { json: { stale }, text: '', copy: [files[0]?.text.trimEnd() ?? ''], next };
}
