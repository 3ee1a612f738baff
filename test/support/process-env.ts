/**
 * What a Node process of a test has of the test's own environment:
 * where programs lie, and where compiled code is kept.
 */
export function processEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', 'HOME', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name]]));
}
