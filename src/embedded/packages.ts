import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

/**
 * The folder of the npm package `name`, searched for beside and inside the package `parent`, or undefined. It
 * searches for folders because a package that only carries a binary for one platform has nothing to import.
 */
export function packageFolder(parent: string, name: string): string | undefined {
  const roots = createRequire(import.meta.url).resolve.paths(parent) ?? [];
  return roots
    .flatMap((root) => [join(root, name), join(root, parent, 'node_modules', name)])
    .find(existsSync);
}

/** The full path of a program on PATH, or undefined. */
export function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (folder !== '' && statSync(file).isFile()) return file;
    } catch {
      // it is not in this folder
    }
  }
  return undefined;
}
