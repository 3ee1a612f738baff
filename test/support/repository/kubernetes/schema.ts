import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPythonProgram } from '../../../../dev/support/python.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const LIMIT_MS = 60_000;

type Input = { readonly log: (line: string) => void; readonly env: NodeJS.ProcessEnv };

/** The checker with the schemas, installed once for this user. Throws a sentence where it cannot be had. */
export async function findKubernetesSchemas({ log, env }: Input): Promise<string> {
  return findPythonProgram({ name: 'kubernetes-validate', requirements: REQUIREMENTS }, log, env);
}

/**
 * What is wrong with these manifests by the schemas of a version of Kubernetes, which the pinned package
 * brings along; a field that a kind does not have is wrong too. Empty where all are right.
 */
export async function schemaProblems(yaml: string, version: string): Promise<string> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const program = await findKubernetesSchemas({ log, env: process.env });
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  try {
    const file = join(folder, 'all.yaml');
    writeFileSync(file, yaml);
    const args = ['--strict', '--quiet', '--kubernetes-version', version, file];
    execFileSync(program, args, { encoding: 'utf8', timeout: LIMIT_MS, stdio: 'pipe' });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || (error as Error).message;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
