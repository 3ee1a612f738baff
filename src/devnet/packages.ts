import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * The folder of the npm package `name`, looked for beside and inside the package `parent`, or undefined. It looks for
 * folders because a package that only carries a binary for one platform has nothing to import.
 */
export function packageFolder(parent: string, name: string): string | undefined {
  const roots = createRequire(import.meta.url).resolve.paths(parent) ?? [];
  return roots.flatMap((root) => [join(root, name), join(root, parent, 'node_modules', name)]).find(existsSync);
}
