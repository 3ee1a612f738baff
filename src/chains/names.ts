import type { Network } from '../domain/assets.ts';

/** What each chain is called in sentences. */
export const CHAIN_NAMES: Readonly<Record<Network, string>> = { bsc: 'BNB Chain', tron: 'Tron' };
