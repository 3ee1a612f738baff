/**
 * The scopes that a route may require of an API key: to read, to make customers and
 * payment links, to change endpoints and send again.
 */
export const ROUTE_SCOPES = ['read', 'payments', 'webhooks'] as const;
export type RouteScope = (typeof ROUTE_SCOPES)[number];

/** The scopes that a key may be given: any of these, or everything. */
export const KEY_SCOPES = [...ROUTE_SCOPES, 'all'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/**
 * Whether a key with these scopes may use a route that requires one. No scope contains another:
 * a key that makes links can read only with `read`.
 */
export function opens(scopes: readonly KeyScope[], needed: RouteScope): boolean {
  return scopes.includes('all') || scopes.includes(needed);
}

/**
 * The scopes that a text such as `read,payments` names, each once,
 * in the order of the table. Undefined for an unknown name or none.
 */
export function parseScopes(text: string): readonly KeyScope[] | undefined {
  const named = text.split(',').map((name) => name.trim());
  if (!named.every((name) => KEY_SCOPES.some((scope) => scope === name))) return undefined;
  return KEY_SCOPES.filter((scope) => named.includes(scope));
}
