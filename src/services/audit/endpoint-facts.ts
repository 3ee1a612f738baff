import { hash } from 'node:crypto';
import type { WebhookEndpoint } from '../../db/entities/index.ts';
import type { Facts } from './record.ts';

const MARK_LENGTH = 8;

/**
 * An endpoint as an audit row shows it. Path and query of a URL often hold a token: they are shown
 * as a mark that changes with them. Of the signing secret only the end is shown, as everywhere.
 */
export function endpointFacts(
  row: Pick<WebhookEndpoint, 'url' | 'events' | 'enabled' | 'secretHint'>,
): Facts {
  const mark = hash('sha256', row.url).slice(0, MARK_LENGTH);
  return {
    url: `${new URL(row.url).origin}/… (${mark})`,
    events: row.events,
    enabled: row.enabled,
    secret_ends_with: row.secretHint,
  };
}
