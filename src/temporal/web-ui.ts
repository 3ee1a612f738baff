/** Actors that wait for a person, in Temporal's list syntax. */
export const NEEDS_OPERATOR_QUERY = 'NeedsOperator = true';

/** The page of Temporal's web interface about one actor; null where nobody knows where the interface is. */
export function actorPage(uiUrl: string | null, namespace: string, workflowId: string): string | null {
  return uiUrl === null ? null : `${listOf(uiUrl, namespace)}/${encodeURIComponent(workflowId)}`;
}

/** Its list of actors with a filter in Temporal's list syntax; null where nobody knows where it is. */
export function actorsPage(uiUrl: string | null, namespace: string, query: string): string | null {
  return uiUrl === null ? null : `${listOf(uiUrl, namespace)}?query=${encodeURIComponent(query)}`;
}

function listOf(uiUrl: string, namespace: string): string {
  return `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}
