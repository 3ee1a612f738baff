import { NETWORKS } from '../domain/assets.ts';

/** The networks as a list in an SQL expression. */
export const KNOWN_NETWORKS = NETWORKS.map((network) => `'${network}'`).join(', ');
