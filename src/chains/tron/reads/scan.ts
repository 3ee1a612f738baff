// A block with its infos, from one view of one node, and what each endpoint shows of it.
import { pause } from '../../../base/async/pause.ts';
import type { AddressKey } from '../../address-key.ts';
import type { AddressLookup, BlockRef, ChainReader, QuietBlock, ScannedBlock } from '../../reader.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { TRON_ADDRESSES } from '../addresses.ts';
import { type LoglessTransfer, readTronBlock, type TronBlock, type TronBlockRules } from '../block/block.ts';
import { isNothing } from '../block/header.ts';
import type { TronPool, TronSession } from '../protocol.ts';
import type { Bodies } from './bodies.ts';
import { checkBody } from './body-proof.ts';
import { type ConfirmedInfos, confirmInfos, EMPTY_FINGERPRINT, fingerprintOf } from './confirm.ts';
import { createInVain } from './in-vain.ts';
import type { LateInfos } from './late-infos.ts';
import type { ShownInternals } from './shown-internals.ts';

export type ScanDeps = {
  readonly pool: TronPool;
  readonly rules: Pick<TronBlockRules, 'token' | 'unrecognisedLimit'>;
  readonly bodies: Bodies;
  readonly internals: ShownInternals;
  readonly late: LateInfos;
  /** The height up to which blocks are read from the view that nothing can replace. */
  readonly finalHeight: (session: TronSession) => Promise<number>;
  /** Called with what two reads of a block leave open. Names hosts only. */
  readonly report?: ((message: string) => void) | undefined;
};
type Scans = Required<Pick<ChainReader, 'scan' | 'readings' | 'confirm'>>;
type Wanted = {
  readonly number: number;
  readonly watched: AddressLookup;
  readonly naming?: readonly AddressKey[] | undefined;
};
/** Where a body was taken from, and what it holds. */
type Body = { readonly block: object; readonly isFinal: boolean };

/**
 * A node has the infos of its newest block a moment after the block: they are asked for again after these.
 */
const LATE_MS = [250, 500];

/** Makes the reads of blocks for a reader of Tron; each promises what `ChainReader` says of it. */
export function createTronScans(deps: ScanDeps): Scans {
  const { pool, internals, late } = deps;
  const [scanInTurn, confirmInTurn] = [createInVain(), createInVain()];
  return {
    scan: (number, watched, signal, naming) => {
      const wanted = { number, watched, naming };
      const scanOn = async (session: TronSession): Promise<ScannedBlock | undefined> => {
        const body = await bodyOn(session, number, deps);
        const block = body && (await decodedOn(session, body, wanted, deps, signal));
        return block && (await completed(session, body, block, wanted, deps, signal));
      };
      const last = (endpoint: number): boolean => late.has(endpoint);
      return scanInTurn(number, () => pool.run(scanOn, signal, { last, block: number }));
    },
    readings: async (at, watched, signal) => {
      const answers = await pool.all(async (session) => {
        const block = await readingOn(session, at, watched, deps, signal);
        return block && { host: session.host, block };
      }, signal);
      return answers.filter((answer) => answer !== undefined);
    },
    confirm: async (quiet, watched, signal) => {
      // No infos exist of a block without transactions, so nothing but its body tells that it has none.
      if (quiet.fingerprint === EMPTY_FINGERPRINT) return false;
      const confirmOn = async (session: TronSession): Promise<boolean | undefined> => {
        const confirmed = await confirmedOn(session, quiet, watched, deps);
        if (!confirmed?.isQuiet || !mayHideInternals(confirmed, deps)) return confirmed?.isQuiet;
        return (await confirmedElsewhere(session, quiet, watched, deps, signal))?.isQuiet ?? true;
      };
      // No hash stands for what contracts passed on: whoever shows it is asked first.
      const last = (endpoint: number): boolean => !internals.has(endpoint);
      return await confirmInTurn(quiet.number, () =>
        pool.run(confirmOn, signal, { last, block: quiet.number }),
      );
    },
  };
}

const INFOS = {
  newest: 'wallet/gettransactioninfobyblocknum',
  final: 'walletsolidity/gettransactioninfobyblocknum',
} as const;

async function confirmedOn(
  session: TronSession,
  quiet: QuietBlock,
  watched: AddressLookup,
  { internals, rules }: ScanDeps,
): Promise<ConfirmedInfos | undefined> {
  const infos = await session.solidity(INFOS.final, { num: quiet.number });
  const confirmed = confirmInfos(quiet, infos, { token: rules.token, watched });
  if (confirmed?.showsInternals) internals.note(session.endpoint);
  return confirmed;
}

/** Whether contracts may have passed on TRX in the block that these infos do not show. */
function mayHideInternals({ ranCode, showsInternals }: ConfirmedInfos, { internals }: ScanDeps): boolean {
  return ranCode && !showsInternals && internals.mayBeElsewhere();
}

/** The infos as another endpoint has them that shows what contracts passed on; undefined where none does. */
async function confirmedElsewhere(
  { endpoint }: TronSession,
  quiet: QuietBlock,
  watched: AddressLookup,
  deps: ScanDeps,
  signal: AbortSignal,
): Promise<ConfirmedInfos | undefined> {
  const shown = await deps.pool.elsewhere(
    endpoint,
    async (other) => {
      const confirmed = await confirmedOn(other, quiet, watched, deps);
      return confirmed?.showsInternals ? confirmed : undefined;
    },
    signal,
  );
  if (!shown) deps.internals.noteVain();
  return shown;
}

async function bodyOn(session: TronSession, number: number, deps: ScanDeps): Promise<Body | undefined> {
  const { bodies, finalHeight } = deps;
  const lastFinal = await finalHeight(session);
  const isFinal = number <= lastFinal;
  const block = isFinal
    ? await bodies.final(session, number, lastFinal)
    : await bodies.newest(session, number);
  return isNothing(block) ? undefined : { block, isFinal };
}

async function infosOn(session: TronSession, number: number, { block, isFinal }: Body): Promise<object> {
  // Of a block without transactions there are none to ask for; its header says whether that is true.
  if (!('transactions' in block)) return [];
  const num = { num: number };
  return isFinal ? await session.solidity(INFOS.final, num) : await session.call(INFOS.newest, num);
}

async function decodedOn(
  session: TronSession,
  body: Body,
  wanted: Wanted,
  deps: ScanDeps,
  signal: AbortSignal,
): Promise<TronBlock | undefined> {
  const waits = body.isFinal ? [] : LATE_MS;
  for (let tries = 0; ; tries += 1) {
    const block = decode(session, body, await infosOn(session, wanted.number, body), wanted, deps);
    const waitMs = waits[tries];
    if (!block && waitMs === undefined) deps.late.note(session.endpoint);
    if (block || waitMs === undefined) return block;
    await pause(waitMs, signal);
  }
}

function decode(
  { endpoint }: TronSession,
  body: Body,
  infos: unknown,
  { number, watched, naming }: Wanted,
  { rules, internals }: ScanDeps,
): TronBlock | undefined {
  const block = readTronBlock(body.block, infos, {
    ...rules,
    watched,
    naming,
    expected: number,
  });
  if (block && block.number > 0) checkBody(block.number, body.block);
  if (block?.showsInternals) internals.note(endpoint);
  return block;
}

/**
 * The block with TRX that contracts passed on shown by another endpoint, where its own shows none and another
 * one does. A block at the head is not worth the wait: the second read decides. Throws EndpointFailure where
 * logs are missing that another endpoint may have.
 */
async function completed(
  session: TronSession,
  body: Body,
  block: TronBlock,
  wanted: Wanted,
  deps: ScanDeps,
  signal: AbortSignal,
): Promise<ScannedBlock> {
  if (block.logless) await requireLogless(block.logless, body, wanted, deps, signal);
  if (!block.untraced || !body.isFinal) return scannedOf(withLogless(block, deps), body);
  const saves = ({ endpoint }: TronSession): boolean => deps.internals.has(endpoint);
  let isDeniedTwice = false;
  const shown = await deps.pool.elsewhere(
    session.endpoint,
    async (other) => {
      const again = decode(other, body, await infosOn(other, wanted.number, body), wanted, deps);
      if (again && !again.untraced && (block.logless || !again.logless)) return again;
      isDeniedTwice ||= again?.untraced !== undefined && saves(session) && saves(other);
      return undefined;
    },
    signal,
  );
  return scannedOf(withLogless(shown ?? (isDeniedTwice ? traced(block) : block), deps), body);
}

/**
 * Throws EndpointFailure, so that the next endpoint is read, unless the block is final and every endpoint
 * says of each of these calls that no log tells of it. One that does not answer may have the log.
 */
async function requireLogless(
  missing: readonly LoglessTransfer[],
  body: Body,
  wanted: Wanted,
  deps: ScanDeps,
  signal: AbortSignal,
): Promise<void> {
  const answers = body.isFinal
    ? await deps.pool.each(
        async (other) => decode(other, body, await infosOn(other, wanted.number, body), wanted, deps),
        signal,
      )
    : [];
  const lacks = (other: TronBlock | undefined): boolean =>
    missing.every(({ txHash }) => other?.logless?.some((one) => one.txHash === txHash));
  if (answers.length > 0 && answers.every(({ value }) => lacks(value))) return;
  const silent = answers.find(({ value }) => value === undefined);
  const why = silent
    ? `, and ${silent.host} does not show them: ${silent.problem ?? 'it lacks the block'}`
    : '';
  throw new EndpointFailure(`incomplete block: logs are missing in ${missing[0]?.txHash}${why}`);
}

/** The block as one in which nothing was passed on: two endpoints that show such things show none of it. */
function traced({ untraced: _untraced, ...block }: TronBlock): TronBlock {
  return block;
}

/** A transfer to us that no endpoint shows a log of moved nothing; it is kept for the operator. */
function withLogless(block: TronBlock, { rules }: ScanDeps): TronBlock {
  if (!block.logless) return block;
  const toUs = block.logless.filter(({ paysUs }) => paysUs);
  const aside = toUs.map(({ txHash, to }) => ({
    txHash,
    to,
    contract: TRON_ADDRESSES.format(rules.token),
    amountUnits: null,
    reason: 'a successful transfer of the token of which no log tells',
  }));
  return { ...block, unrecognised: [...block.unrecognised, ...aside].slice(0, rules.unrecognisedLimit) };
}

/** This very block as one endpoint shows it, in the view in which it has it. */
async function readingOn(
  session: TronSession,
  at: Pick<BlockRef, 'number' | 'hash'>,
  watched: AddressLookup,
  deps: ScanDeps,
  signal: AbortSignal,
): Promise<ScannedBlock | undefined> {
  const body = await bodyOn(session, at.number, deps);
  const block = body && (await decodedOn(session, body, { number: at.number, watched }, deps, signal));
  return body && block?.hash === at.hash ? scannedOf(block, body) : undefined;
}

/** What the rest of the gateway is told of a block. */
function scannedOf(block: TronBlock, body: Body): ScannedBlock {
  const { touches, touching: _touching, showsInternals: _shows, logless: _logless, ...scanned } = block;
  // Of the genesis block no node has infos, so there is nothing to confirm it by.
  const isQuiet =
    !touches && scanned.unrecognised.length + scanned.unrecognisedDropped === 0 && scanned.number > 0;
  return isQuiet ? { ...scanned, fingerprint: fingerprintOf(hashesIn(body.block)) } : scanned;
}

/** The ids of a block's transactions, once the decoder has accepted it. */
function hashesIn(block: object): string[] {
  const { transactions = [] } = block as { transactions?: readonly { readonly txID: string }[] };
  return transactions.map(({ txID }) => txID.toLowerCase());
}
