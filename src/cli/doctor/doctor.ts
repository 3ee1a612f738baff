import { within } from '../../base/async/within.ts';
import { readRun } from '../../base/data-dir.ts';
import { bad, type Finding, good } from '../../base/finding.ts';
import { createLogger } from '../../base/log.ts';
import { reasonOf } from '../../base/reason.ts';
import { type Config, ConfigError, loadConfig } from '../../config/index.ts';
import { needsOperatorPage } from '../links.ts';
import { besideRunning } from '../process.ts';
import { terminal } from '../terminal.ts';
import { checkChains } from './chains.ts';
import { checkConditions } from './conditions.ts';
import { checkDataDir, checkSecretsKey, checkWallet } from './files.ts';
import { checkDatabase, checkTemporal } from './stores.ts';

/** Longer than any single limit inside the checks: it catches only what they miss. */
const CHECK_WITHIN_MS = 30_000;

/**
 * Checks every part, changes nothing and starts nothing. A part that does not answer or throws becomes a
 * check that is not ok; a part that is off by choice is reported as such and is ok.
 */
export async function examine(given: NodeJS.ProcessEnv): Promise<Finding[]> {
  const env = besideRunning(given);
  let config: Config;
  try {
    config = loadConfig(env, { role: 'tool' });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [bad('config', error.problems.join(' '), error.nextAction)];
  }
  const { log: destination } = terminal();
  const log = createLogger({
    level: env['LOG_LEVEL'] ? config.logLevel : 'silent',
    format: config.logFormat,
    ...(destination && { destination }),
  });
  const run = readRun(config.dataDir);
  const parts = await Promise.all([
    guarded('data_dir', async () => [await checkDataDir(config)]),
    guarded('database', () => checkDatabase(config, run, log)),
    guarded('alarms', () => checkConditions(config, run, log)),
    guarded('temporal', () => checkTemporal(config, run)),
    guarded('chains', () => checkChains(config, log)),
    guarded('wallet', async () => [await checkWallet(config)]),
    guarded('secrets_key', async () => [await checkSecretsKey(config, run, log)]),
  ]);
  return [checkConfig(config), ...parts.flat()];
}

/** The page of Temporal's web interface that lists what waits for a person; null where it is not known. */
export function pagesOfDoctor(env: NodeJS.ProcessEnv): { readonly temporal_url: string | null } {
  try {
    return { temporal_url: needsOperatorPage(loadConfig(env, { role: 'tool' })) };
  } catch (error) {
    // What is wrong with it is a check already.
    if (error instanceof ConfigError) return { temporal_url: null };
    throw error;
  }
}

function checkConfig(config: Config): Finding {
  const count = config.warnings.length;
  return good(
    'config',
    count === 0
      ? `valid (${config.environment})`
      : `valid (${config.environment}); ${config.warnings.join(' ')}`,
  );
}

async function guarded(name: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await within(CHECK_WITHIN_MS, check(), () => [
      bad(name, 'no answer in time', 'See whether it hangs, and try again'),
    ]);
  } catch (error) {
    return [bad(name, reasonOf(error), 'Set LOG_LEVEL=debug and run it again to see more')];
  }
}
