// The package everywhere else: the same names, with Web Crypto below them.
export * from './client.ts';
export * from './webhook/web.ts';
