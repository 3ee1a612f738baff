// The package where Node's crypto is: Node, Deno and Bun.
export * from './client.ts';
export * from './webhook/node.ts';
