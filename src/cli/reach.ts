import { connect } from 'node:net';
import type { TemporalLink } from '../temporal/client.ts';
import type { TemporalPlace } from '../temporal/place.ts';

const WITHIN_MS = 3_000;

/**
 * Throws at once, with the reason, where nothing listens; else when Temporal does not know its
 * namespace or does not answer within some seconds. The client alone would try for its whole
 * time limit and then only say that it was over.
 */
export async function reachTemporal(link: TemporalLink, { address }: TemporalPlace): Promise<void> {
  await openAndClose(address);
  await link.ping();
}

function openAndClose(address: string): Promise<void> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number.parseInt(address.slice(colon + 1), 10), timeout: WITHIN_MS });
    socket.once('connect', () => resolve());
    socket.once('error', reject);
    socket.once('timeout', () => reject(new Error(`no connection within ${WITHIN_MS / 1_000} s`)));
    for (const event of ['connect', 'error', 'timeout']) socket.once(event, () => socket.destroy());
  });
}
