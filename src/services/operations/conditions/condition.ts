import type { Severity } from '../../../db/entities/index.ts';
import type { Deps } from '../../deps.ts';

/** Something that an operator should know of for as long as it holds. */
export type Condition = {
  /** By which it is known again. */
  readonly key: string;
  readonly severity: Severity;
  /** What it is about and how that stands, where the reason does not say it: "deposit ID … is detected". */
  readonly subject?: string | undefined;
  /** Since when, as ISO 8601, where that is known. */
  readonly since?: string;
  readonly reason: string;
  /** What to do, with the command to type. */
  readonly action: string;
  /** Of how many rows it tells, where that is not one. */
  readonly count?: number;
  /** Whether nothing of its kind goes on, so that `/health/ready` says no. */
  readonly urgent?: boolean;
  /** The check of `doctor` that fails; a kind with a label fails under its label. */
  readonly check?: string | undefined;
  /** Its entry in `deposit stuck --json`; one without is not listed there. */
  readonly row?: Readonly<Record<string, unknown>>;
};

/** What a reader found, and what `doctor` says by the name of a check where all is well. */
export type ConditionReading = {
  readonly found: readonly Condition[];
  readonly well?: Readonly<Record<string, string>>;
};

/** How many there are, in one sentence for all. */
export type ConditionSum = Pick<Condition, 'reason' | 'action'> & { readonly count: number };

/** One kind of what can need a person. Whatever is listed in `CONDITIONS` is in every view that it names. */
export type ConditionKind = {
  /** What notices call it. */
  readonly name: string;
  /** Counted in `gateway_alarms` and told as one check of `doctor` and one sentence of `/health/ready`. */
  readonly label?: string;
  /** What `doctor` says under the label where nothing holds. */
  readonly well?: string | ((deps: Deps) => Promise<string>);
  /** The list of `deposit stuck --json` that has its rows. */
  readonly group?: string;
  /** The commands that name all of them, where that is not `deposit stuck`. */
  readonly namedBy?: string;
  /** By indexes, and never more than some thousand rows; throws where PostgreSQL does not answer. */
  readonly read: (deps: Deps) => Promise<ConditionReading>;
  /** Where it is cheaper to count them than to read them, or another sentence says more. */
  readonly sum?: (deps: Deps) => Promise<ConditionSum>;
};

/** The whole sentence, as one reads it where nothing stands around it. */
export function sentenceOf({ subject, since, reason }: Condition): string {
  if (subject === undefined) return reason;
  return `${subject}${since === undefined ? '' : ` since ${since}`}: ${reason}`;
}

/** A condition that `deposit stuck` lists, from its entry there. */
export function listed(
  row: Pick<Condition, 'reason' | 'action'> & { readonly since: string },
  about: Pick<Condition, 'key' | 'severity' | 'subject' | 'check'>,
): Condition {
  return { ...about, since: row.since, reason: row.reason, action: row.action, row };
}

/** A time as operators' sentences have it, in UTC. */
export const shownTime = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
