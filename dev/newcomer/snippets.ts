import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onPath } from '../../src/embedded/packages.ts';

export const LANGUAGES = ['sh', 'js', 'python', 'php'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * Where a snippet runs: its folder, what it finds in the environment, and which Node is the machine's. What
 * goes on for ever gets Ctrl-C when it has printed `until`.
 */
export type Place = {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly node?: string;
  readonly until?: string | undefined;
};

export type Outcome = { readonly code: number | null; readonly out: string; readonly err: string };

const LIMIT_MS = 60_000;
const PACKAGES: Readonly<Partial<Record<Language, string>>> = { python: 'python3', php: 'php-cli' };

/** Runs a text as a person does who has pasted it: into a shell, or into a file of that language. */
export async function runSnippet(language: Language, text: string, place: Place): Promise<Outcome> {
  const [command, ...args] = await commandFor(language, text, place);
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...place.env };
  if (PACKAGES[language] !== undefined && onPath(command ?? '', env) === undefined)
    throw new Error(
      `${command} is not on this machine. Install it: apt-get install -y ${PACKAGES[language]}`,
    );
  return await new Promise((resolve, reject) => {
    const child = spawn(command ?? '', args, {
      cwd: place.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
      detached: place.until !== undefined,
    });
    const told = { out: '', err: '' };
    child.stdout.on('data', (chunk) => {
      told.out += String(chunk);
      // To every process of it, as a terminal does.
      if (place.until && told.out.includes(place.until)) process.kill(-(child.pid ?? 0), 'SIGINT');
    });
    child.stderr.on('data', (chunk) => {
      told.err += String(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...told }));
  });
}

let files = 0;

async function commandFor(language: Language, text: string, { folder, node }: Place): Promise<string[]> {
  if (language === 'sh') return ['sh', '-ec', text];
  if (language === 'python') return ['python3', '-c', text];
  files += 1;
  const file = join(folder, `snippet-${files}.${language === 'php' ? 'php' : 'mjs'}`);
  await writeFile(file, language === 'php' ? `<?php\n${text}\n` : `${text}\n`);
  return language === 'php' ? ['php', file] : [node ?? process.execPath, file];
}
