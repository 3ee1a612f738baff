import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES, type TemporalLink } from './client.ts';

const TYPES = {
  Keyword: proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  Datetime: proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
  Bool: proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
} as const;

/** A server whose own store is unreachable accepts a call and never answers it. */
const CALL_TIMEOUT_MS = 5_000;

/**
 * The names of our search attributes that the server does not know. Throws within
 * five seconds while Temporal is unreachable.
 */
export async function missingSearchAttributes(link: TemporalLink, namespace: string): Promise<string[]> {
  const { customAttributes } = await within(link, () =>
    link.client.connection.operatorService.listSearchAttributes({ namespace }),
  );
  return Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in (customAttributes ?? {})));
}

/**
 * Registers what is missing: a start that names an unknown attribute would be
 * refused, and money would wait. Throws as {@link missingSearchAttributes} does.
 */
export async function ensureSearchAttributes(link: TemporalLink, namespace: string): Promise<string[]> {
  const missing = await missingSearchAttributes(link, namespace);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES)
      .filter(([name]) => missing.includes(name))
      .map(([name, type]) => [name, TYPES[type]]),
  );
  await within(link, () =>
    link.client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
  );
  return missing;
}

function within<T>(link: TemporalLink, call: () => Promise<T>): Promise<T> {
  return link.client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}
