import type { Logger } from '../base/log.ts';
import type { Shutdown } from '../base/shutdown.ts';
import type { Config, Environment } from '../config/index.ts';

/**
 * What a role starts with. It registers with `shutdown`, in the order of its
 * start, how each of its parts is stopped.
 */
export type Starting = {
  readonly config: Config;
  readonly log: Logger;
  readonly shutdown: Shutdown;
  /** What {@link Starting.config} was read from. */
  readonly env: Environment;
};

/** Where a started role can be reached; null for what it does not have. */
export type Started = {
  readonly api: string | null;
  readonly ops: string | null;
  readonly temporalUi: string | null;
};
