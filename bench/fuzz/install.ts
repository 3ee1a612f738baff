import { join } from 'node:path';
import { findPythonProgram } from '../../dev/support/python.ts';

/**
 * Pinned with all that it needs: another version has other checks,
 * and a figure is only worth something beside the same checks.
 */
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');

/** The pinned Schemathesis, installed at the first call. Throws a sentence that names what is missing. */
export function findSchemathesis(log: (line: string) => void, env: NodeJS.ProcessEnv): string {
  return findPythonProgram({ name: 'schemathesis', requirements: REQUIREMENTS }, log, env);
}
