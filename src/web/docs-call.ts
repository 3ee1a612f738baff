import { exampleOf, type Parameter, type Route } from './docs-model.ts';

/**
 * The route's example as a call of curl that runs in any shell once `KEY` holds an API key (for a route of
 * sessions, `SESSION` a session's cookie). Values are quoted so that the shell changes nothing in them.
 */
export function curlOf(route: Route): string {
  const { method, operation } = route;
  const body = exampleOf(operation.requestBody?.content);
  const parts = [
    `curl -s ${method === 'get' || (method === 'post' && body !== undefined) ? '' : `-X ${method.toUpperCase()} `}${quoted(urlOf(route))}`,
  ];
  const credential = credentialOf(route);
  if (credential) parts.push(`-H ${credential}`);
  if (body !== undefined)
    parts.push(`-H ${quoted('Content-Type: application/json')}`, `-d ${quoted(JSON.stringify(body))}`);
  return parts.join(' \\\n  ');
}

function urlOf({ baseUrl, path, operation }: Route): string {
  const given = (parameter: Parameter): string => encodeURIComponent(String(parameter.example ?? ''));
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.example !== undefined);
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, given(parameter)), path);
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => `${parameter.name}=${given(parameter)}`);
  return `${baseUrl}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** In double quotes, where the shell puts the variable's value. */
function credentialOf({ operation }: Route): string | undefined {
  const schemes = operation.security?.map((one) => Object.keys(one)[0]) ?? ['bearer'];
  if (schemes[0] === 'bearer') return '"Authorization: Bearer $KEY"';
  return schemes[0] === 'session' ? '"Cookie: ch_session=$SESSION"' : undefined;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
