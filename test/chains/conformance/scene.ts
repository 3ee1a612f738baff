// Who is there in each case of the suite, and what is asked of them.
import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../src/chains/address-key.ts';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { chainOf } from '../../../src/chains/index.ts';
import type { BlockRef, ChainReader, ScannedBlock } from '../../../src/chains/reader.ts';
import { type Currency, NATIVE_CURRENCY } from '../../../src/domain/assets.ts';
import type { ChainStage, StageEndpoint } from './stage.ts';

/** A stage and a reader over all of its endpoints that knows nothing yet. */
export type Scene = { readonly stage: ChainStage; readonly reader: ChainReader };

/** Never stops anything. */
export const { signal } = new AbortController();
/** Addresses: two of ours, and one that nobody watches. */
export const OURS = keyOfHex('a1'.repeat(20));
export const OURS_TOO = keyOfHex('a2'.repeat(20));
export const STRANGER = keyOfHex('5e'.repeat(20));
/** Watches no address, and both of ours. */
export const NOBODY = new AddressSet();
export const WATCHED = new AddressSet();
WATCHED.add(OURS);
WATCHED.add(OURS_TOO);

/** Watches one of our addresses, beside these wallets of ours that are no deposit addresses. */
export function withGas(...wallets: readonly AddressKey[]): AddressSet {
  const watched = new AddressSet();
  watched.add(OURS);
  for (const wallet of wallets) watched.add(wallet, 'gas');
  return watched;
}

/** The stage with every endpoint well again. */
export function sceneOf(stage: ChainStage): Scene {
  for (const endpoint of stage.endpoints) endpoint.heal();
  return { stage, reader: stage.readerOf(stage.endpoints) };
}

type Question = (reader: ChainReader, stop: AbortSignal) => Promise<unknown>;

/** Everything that is asked of a chain, but its identity. */
export function questionsOf({ stage, reader }: Scene, height: number): readonly Question[] {
  return [
    (asked, stop) => asked.head(stop),
    (asked, stop) => asked.finalized(stop),
    (asked, stop) => asked.header(height, stop),
    (asked, stop) => asked.scan(height, WATCHED, stop),
    (asked, stop) => asked.views(height, stop),
    (asked, stop) => asked.locate(stage.unknownHash, stop),
    ...(reader.balances
      ? [async (asked: ChainReader, stop: AbortSignal) => await asked.balances?.([OURS], height, stop)]
      : []),
  ];
}

/** What the block brought to the watched addresses. Fails where there is no such block. */
export async function scan({ reader }: Scene, height: number): Promise<ScannedBlock> {
  return there(await reader.scan(height, WATCHED, signal));
}

/** The chain's coin. */
export const nativeOf = ({ stage }: Scene): Currency => NATIVE_CURRENCY[stage.network];
/** An address as the chain spells it. */
export const spell = ({ stage }: Scene, key: AddressKey): string =>
  chainOf(stage.network).addresses.spell(key);
/** The endpoint that is preferred. */
export const first = ({ stage }: Scene): StageEndpoint => there(stage.endpoints[0]);
/** The endpoint after it. */
export const second = ({ stage }: Scene): StageEndpoint => there(stage.endpoints[1]);
/** The transactions that a block shows. */
export const hashesOf = ({ transfers }: ScannedBlock): string[] => transfers.map(({ txHash }) => txHash);

/** The value. Fails where there is none. */
export function there<T>(value: T | undefined): T {
  return value ?? expect.fail('it is not there');
}

/** A reader that has not learned yet which endpoint fails. */
export const again = ({ stage }: Scene, endpoints = stage.endpoints, timeoutMs?: number): ChainReader =>
  stage.readerOf(endpoints, timeoutMs);

/** What a block is named by. */
export const refOf = ({ number, hash, parentHash, timestampMs }: BlockRef): BlockRef => ({
  number,
  hash,
  parentHash,
  timestampMs,
});

/** What the work failed with. */
export const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
