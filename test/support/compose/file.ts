import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const ROOT = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** What is read of a service of the compose file. */
export type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly env_file?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly restart?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
};

/** The services of docker-compose.yml. */
export function composeServices(): Readonly<Record<string, Service>> {
  return (parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> })
    .services;
}

/** What the Dockerfile says of a process in its image. */
export function imageOfGateway(): {
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  /** Files and folders that are copied into it, besides the modules. */
  readonly copied: readonly string[];
  /** The command that is run once while it is built, for the workflows' bundle. */
  readonly bundles: string;
} {
  const text = read('Dockerfile');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const line = (pattern: RegExp): string => pattern.exec(last)?.[1] ?? '';
  return {
    env: Object.fromEntries(
      line(/^ENV (.+)$/m)
        .split(' ')
        .map((pair) => pair.split('=') as [string, string]),
    ),
    entrypoint: JSON.parse(line(/^ENTRYPOINT (.+)$/m)) as string[],
    copied: [...last.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => (match[1] ?? '').split(' ')),
    bundles: line(/^RUN (node -e .+)$/m),
  };
}

/** The lines of the block of commands below "## Production" in the README, continued ones as one. */
export function productionSteps(): readonly string[] {
  const section = read('README.md').split('\n## Production\n')[1]?.split('\n## ')[0] ?? '';
  const block = /```sh\n([\s\S]+?)```/.exec(section)?.[1] ?? '';
  return block
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The variables of an env file. */
export function variablesIn(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').split('\n');
  return Object.fromEntries(
    lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split(/=(.*)/s).slice(0, 2)),
  ) as Record<string, string>;
}
