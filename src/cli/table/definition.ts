import { NETWORKS } from '../../domain/assets.ts';
import { DECISION_LIMITS } from '../../domain/decision.ts';
import { oneOf, text, wholeNumber } from '../arguments.ts';
import { MAX_LISTED } from '../print.ts';
import type { CommandWork } from '../run.ts';

type Read = (given: string) => unknown;

/** An option as commander takes it: what reads its value (unset: any text), and its default. */
export type OptionGiven = readonly [
  flags: string,
  about: string,
  read?: Read,
  byDefault?: unknown,
  inWords?: string,
];

/** A command: its words, what help and the parser know of it, and the module that does its work. */
export type Definition = {
  /** Its words, and arguments of which there is nothing to say, in commander's notation. */
  readonly name: string;
  readonly about: string;
  /** Further arguments, what each is, and what reads it (any text, if unset). */
  readonly takes?: readonly (readonly [notation: string, about: string, read?: Read])[];
  /** Options that have to be given. */
  readonly needs?: readonly OptionGiven[];
  readonly options?: readonly OptionGiven[];
  /** What stands behind its words in a shell; without any, it is called by these alone. */
  readonly examples?: readonly string[];
  /** Loads the work, which is heavy, only for the command that is called. */
  readonly work: () => Promise<CommandWork>;
};

const NAME = text(DECISION_LIMITS.name);
const REASON = text(DECISION_LIMITS.reason);

/** Who changes something: every such command writes it down. */
export const BY: OptionGiven = [
  '--by <name>',
  'who changes it, for the audit (default: the login name of this shell)',
  NAME,
];
export const WHY: OptionGiven = ['--reason <text>', 'why', REASON];
/** What has to be said for a decision that a person alone takes. */
export const DECISION: readonly OptionGiven[] = [['--by <name>', 'who decided', NAME], WHY];

export const OF_MERCHANT: OptionGiven = ['--merchant <id>', 'only of this merchant'];
export const MERCHANT: OptionGiven = ['--merchant <id>', 'merchant id'];
export const LIMIT: OptionGiven = ['--limit <n>', 'how many', wholeNumber(1, MAX_LISTED), 50];
export const MODE: OptionGiven = ['--mode <mode>', 'live or test', oneOf('live', 'test')];
export const NETWORK: OptionGiven = ['--network <network>', 'which chain', oneOf(...NETWORKS)];
export const ON_NETWORK: OptionGiven = ['--network <network>', 'only on this chain', oneOf(...NETWORKS)];

// For examples.
export const ID = '0191c2f0-6f4e-7c3a-9d51-3f2b8a6c1e70';
export const HASH = `0x${'5f'.repeat(32)}`;
export const BSC = '0x52908400098527886E0F7030069857D2E4169EE7';
export const SAID = `--by "$USER" --reason 'seen on an explorer'`;
