import { Agent, get } from 'node:http';

export type Load = {
  /** A new URL for each request. */
  readonly url: () => string;
  readonly key: string;
  readonly durationMs: number;
  readonly connections: number;
};

/**
 * Requests per second over keep-alive connections, each waiting for
 * its answer before it asks again. Throws for any answer but a 200.
 */
export async function load({ url, key, durationMs, connections }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + durationMs;
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      await ask(url(), key, agent);
      done += 1;
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return (done / (performance.now() - startedAt)) * 1_000;
}

/** One request whose answer is read and dropped. Throws for any answer but a 200. */
export function ask(url: string, key: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { Authorization: `Bearer ${key}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
      response.resume();
      response.once('end', resolve);
    }).once('error', reject);
  });
}
