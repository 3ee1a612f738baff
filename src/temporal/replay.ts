import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { OperatorError } from '../base/errors.ts';
import { linkTemporal } from './client.ts';
import type { TemporalPlace } from './place.ts';
import { workflowBundle } from './workflow-bundle.ts';

export type ReplayReport = {
  readonly replayed: number;
  readonly failed: readonly { readonly file: string; readonly error: string }[];
};

/**
 * Lets the SDK say nothing of its workers' coming and going, for a process that only replays: what a replay
 * finds is in its report. Once in a process, before anything else of the SDK's workers.
 */
export function quietReplays(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

/** What is replayed by default: the actors that move money, in the last runs that the server still holds. */
const SERVER_QUERY = "WorkflowType IN ('deposit', 'paymentLink', 'settlement', 'wallet')";
const SERVER_LIMIT = 2_000;

/**
 * Replays stored histories (JSON files, or folders of them) against the workflow code of
 * this program, or against another bundle. A history that the code would not have written
 * is reported with the reason. Throws an OperatorError for a file that is no history.
 */
export async function replayFiles(
  paths: readonly string[],
  bundle?: { code: string },
): Promise<ReplayReport> {
  const files = (await Promise.all(paths.map(jsonFilesUnder))).flat().sort();
  if (files.length === 0)
    throw new OperatorError(
      `There is no history in ${paths.join(', ') || 'nothing'}`,
      'Name .json files, as "temporal workflow show --output json" writes them',
    );
  const histories = await Promise.all(
    files.map(async (file) => ({
      workflowId: basename(file, '.json'),
      history: await readHistory(file),
      file,
    })),
  );
  return await replay(histories, bundle);
}

/** Replays the histories that a server holds, newest first, at most 2,000. */
export async function replayServer(
  place: TemporalPlace,
  query: string = SERVER_QUERY,
): Promise<ReplayReport> {
  const link = linkTemporal(place);
  try {
    const histories = [];
    for await (const run of link.client.workflow.list({ query })) {
      const history = await link.client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
      histories.push({ workflowId: run.workflowId, history, file: run.workflowId });
      if (histories.length >= SERVER_LIMIT) break;
    }
    return await replay(histories);
  } finally {
    await link.close();
  }
}

type Stored = { workflowId: string; history: ReturnType<typeof historyFromJSON>; file: string };

async function replay(histories: readonly Stored[], bundle?: { code: string }): Promise<ReplayReport> {
  const failed: { file: string; error: string }[] = [];
  let replayed = 0;
  const results = Worker.runReplayHistories(
    { workflowBundle: bundle ?? (await workflowBundle()) },
    histories,
  );
  for await (const result of results) {
    const file = histories[replayed]?.file ?? result.workflowId;
    replayed += 1;
    if (result.error) failed.push({ file, error: result.error.message });
  }
  return { replayed, failed };
}

async function readHistory(file: string): Promise<ReturnType<typeof historyFromJSON>> {
  try {
    return historyFromJSON(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `${file} is not a workflow history: ${reason}`,
      'Export it with "temporal workflow show --output json"',
      {
        cause: error,
      },
    );
  }
}

async function jsonFilesUnder(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new OperatorError(`${path} does not exist`, 'Name a history file or a folder of them');
  if (!found.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  return names.filter((name) => name.endsWith('.json')).map((name) => join(path, name));
}
