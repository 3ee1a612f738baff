// A gateway that sends webhooks and watches no chain, and how long they take.
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveGateway, type LiveOptions, startLiveGateway } from '../../dev/support/live-gateway.ts';
import { freshDatabase, ownTemporal } from '../../dev/support/parts.ts';

/** Does the work with a gateway on a Temporal server and a database of its own. */
export async function withGateway<T>(
  work: (gateway: LiveGateway) => Promise<T>,
  settings: LiveOptions['settings'] = {},
): Promise<T> {
  const [temporal, { url: databaseUrl }] = await Promise.all([ownTemporal(), freshDatabase()]);
  const { address: temporalAddress } = temporal.now;
  const env = { LOG_LEVEL: 'fatal' };
  const gateway = await startLiveGateway({ databaseUrl, temporalAddress, env, settings });
  const result = await work(gateway);
  await gateway.stop();
  await temporal.stop();
  return result;
}

/**
 * Milliseconds from each call to the arrival of what it sends, one call at a time by the clock, whether or
 * not the one before has arrived. `send` returns the id by which `arrivals` finds it; what does not
 * come within `limitMs` counts as endless.
 */
export async function latencies(
  input: { samples: number; everyMs: number; limitMs: number },
  send: () => Promise<string>,
  arrivals: () => readonly { readonly id: string; readonly at: number }[],
): Promise<number[]> {
  const { samples, everyMs, limitMs } = input;
  const sentAt = new Map<string, number>();
  const began = Date.now();
  for (let index = 0; index < samples; index += 1) {
    await sleep(Math.max(0, began + index * everyMs - Date.now()));
    const now = Date.now();
    sentAt.set(await send(), now);
  }
  const arrived = () =>
    arrivals().flatMap(({ id, at }) => {
      const sent = sentAt.get(id);
      return sent === undefined ? [] : [at - sent];
    });
  for (const until = Date.now() + limitMs; arrived().length < samples && Date.now() < until; )
    await sleep(100);
  return [...arrived(), ...Array<number>(samples).fill(Number.POSITIVE_INFINITY)].slice(0, samples);
}
