/**
 * The part of the test's own environment that a Node process of a test gets: where
 * programs are, and where compiled code is kept.
 */
export function processEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(['PATH', 'HOME', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name]]));
}
