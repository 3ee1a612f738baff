const SYSTEMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
/** The processors for which programs are published, as publishers call them. */
export const PROCESSORS: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * This machine as the publishers of programs call it (linux, amd64). Throws
 * where no program is published for it.
 */
export function publishedPlatform(): { readonly system: string; readonly processor: string } {
  const system = SYSTEMS[process.platform];
  const processor = PROCESSORS[process.arch];
  if (!system || !processor) throw new Error(`there is none for ${process.platform} ${process.arch}`);
  return { system, processor };
}
