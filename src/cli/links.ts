import { settingsOf } from '../app/compose.ts';
import { readRun } from '../base/data-dir.ts';
import type { Config } from '../config/index.ts';
import type { Mode } from '../domain/assets.ts';
import type { Pages } from '../services/find/found.ts';
import { actorPage, actorsPage, NEEDS_OPERATOR_QUERY } from '../temporal/web-ui.ts';

/** Temporal's web interface: the one that is configured, else that of the gateway over this data folder. */
function temporalUiOf(config: Config): string | null {
  if (config.temporal.uiUrl !== undefined) return config.temporal.uiUrl;
  return (config.temporal.kind === 'embedded' ? readRun(config.dataDir)?.temporalUi : undefined) ?? null;
}

/** The pages to which an operator's commands lead, as far as the configuration says where they are. */
export function pagesOf(config: Config): Pages {
  const ui = temporalUiOf(config);
  const api = readRun(config.dataDir)?.api;
  const base = config.http.publicUrl ?? (api ? new URL(api).origin : undefined);
  return {
    workflow: (workflowId) => actorPage(ui, config.temporal.namespace, workflowId),
    dashboard: (mode, path) => (base === undefined ? null : base + dashboardPath(mode) + path),
    explorers: settingsOf(config).explorerUrls,
  };
}

/** Temporal's list of the actors that wait for a person; null where nobody knows where it is. */
export function needsOperatorPage(config: Config): string | null {
  return actorsPage(temporalUiOf(config), config.temporal.namespace, NEEDS_OPERATOR_QUERY);
}

const dashboardPath = (mode: Mode): string => (mode === 'live' ? '/dashboard' : '/dashboard/test');
