import { exampleOf, type Parameter, type Route } from './model.ts';
import type { Snippet } from './snippets.ts';

/** A route's example, before it is written in any language. */
type Call = {
  readonly method: string;
  readonly url: string;
  /**
   * The header that says who calls: its name, what stands before the secret, and the variable that holds
   * it.
   */
  readonly credential:
    | { readonly header: string; readonly before: string; readonly variable: string }
    | undefined;
  readonly body: unknown;
};

/**
 * The route's example as a call that runs as it stands once the environment has an API key in `KEY` (for a
 * route of sessions, a session's cookie in `SESSION`): by curl, and by what Node, Python and PHP bring
 * along.
 */
export function callsOf(route: Route): Snippet[] {
  const call = callOf(route);
  return [
    { language: 'sh', text: curlOf(call) },
    { language: 'js', text: nodeOf(call) },
    { language: 'python', text: pythonOf(call) },
    { language: 'php', text: phpOf(call) },
  ];
}

function callOf(route: Route): Call {
  return {
    method: route.method.toUpperCase(),
    url: urlOf(route),
    credential: credentialOf(route),
    body: exampleOf(route.operation.requestBody?.content),
  };
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

function credentialOf({ operation }: Route): Call['credential'] {
  const schemes = operation.security?.map((one) => Object.keys(one)[0]) ?? ['bearer'];
  if (schemes.includes('bearer')) return { header: 'Authorization', before: 'Bearer ', variable: 'KEY' };
  if (schemes[0] !== 'session') return undefined;
  return { header: 'Cookie', before: 'ch_session=', variable: 'SESSION' };
}

/**
 * Values are quoted so that the shell changes nothing in them, but the variable, whose value it puts there.
 */
function curlOf({ method, url, credential, body }: Call): string {
  const usual = method === 'GET' || (method === 'POST' && body !== undefined);
  const parts = [`curl -s ${usual ? '' : `-X ${method} `}${single(url, `'\\''`)}`];
  if (credential) parts.push(`-H "${credential.header}: ${credential.before}$${credential.variable}"`);
  if (body !== undefined)
    parts.push(`-H 'Content-Type: application/json'`, `-d ${single(JSON.stringify(body), `'\\''`)}`);
  return parts.join(' \\\n  ');
}

function nodeOf({ method, url, credential, body }: Call): string {
  const headers = [
    credential && `${credential.header}: \`${credential.before}\${process.env.${credential.variable}}\``,
    body === undefined ? undefined : `'Content-Type': 'application/json'`,
  ].filter((header) => header !== undefined);
  const options = [
    method === 'GET' ? undefined : `  method: '${method}',\n`,
    headers.length === 0 ? undefined : `  headers: { ${headers.join(', ')} },\n`,
    body === undefined ? undefined : `  body: JSON.stringify(${literal(body, JAVASCRIPT)}),\n`,
  ].filter((option) => option !== undefined);
  const given = options.length === 0 ? '' : `, {\n${options.join('')}}`;
  return `const answer = await fetch(${single(url)}${given});\nconsole.log(answer.status, await answer.json());`;
}

function pythonOf({ method, url, credential, body }: Call): string {
  const headers = [
    credential && `"${credential.header}": "${credential.before}" + os.environ["${credential.variable}"]`,
    body === undefined ? undefined : `"Content-Type": "application/json"`,
  ].filter((header) => header !== undefined);
  const options = [
    `    ${JSON.stringify(url)},\n`,
    method === 'GET' ? undefined : `    method="${method}",\n`,
    headers.length === 0 ? undefined : `    headers={${headers.join(', ')}},\n`,
    body === undefined ? undefined : `    data=json.dumps(${literal(body, PYTHON)}).encode(),\n`,
  ].filter((option) => option !== undefined);
  return `import json, os, urllib.request

request = urllib.request.Request(
${options.join('')})
with urllib.request.urlopen(request) as answer:
    print(answer.status, json.load(answer))`;
}

function phpOf({ method, url, credential, body }: Call): string {
  const headers = [
    credential && `'${credential.header}: ${credential.before}' . getenv('${credential.variable}')`,
    body === undefined ? undefined : `'Content-Type: application/json'`,
  ].filter((header) => header !== undefined);
  const options = [
    method === 'GET' ? undefined : `    'method' => '${method}',\n`,
    headers.length === 0 ? undefined : `    'header' => [${headers.join(', ')}],\n`,
    body === undefined ? undefined : `    'content' => json_encode(${literal(body, PHP)}),\n`,
    `    'ignore_errors' => true, // a refusal says why\n`,
  ].filter((option) => option !== undefined);
  return `$context = stream_context_create(['http' => [
${options.join('')}]]);
echo file_get_contents(${single(url)}, false, $context);`;
}

type Words = {
  readonly text: (value: string) => string;
  readonly constant: (value: boolean | null) => string;
  readonly list: (items: readonly string[]) => string;
  readonly object: (members: readonly (readonly [string, string])[]) => string;
};

const JAVASCRIPT: Words = {
  text: (value) => single(value),
  constant: String,
  list: (items) => `[${items.join(', ')}]`,
  object: (members) =>
    members.length === 0
      ? '{}'
      : `{ ${members.map(([key, value]) => `${/^[a-z_]\w*$/i.test(key) ? key : single(key)}: ${value}`).join(', ')} }`,
};
const PYTHON: Words = {
  text: (value) => JSON.stringify(value),
  constant: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
  list: (items) => `[${items.join(', ')}]`,
  object: (members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`,
};
const PHP: Words = {
  text: (value) => single(value),
  constant: String,
  list: (items) => `[${items.join(', ')}]`,
  object: (members) =>
    members.length === 0
      ? 'new stdClass()'
      : `[${members.map(([key, value]) => `${single(key)} => ${value}`).join(', ')}]`,
};

/** A value of JSON as the language writes it. */
function literal(value: unknown, words: Words): string {
  if (typeof value === 'string') return words.text(value);
  if (value === null || typeof value === 'boolean') return words.constant(value);
  if (Array.isArray(value)) return words.list(value.map((item) => literal(item, words)));
  if (typeof value === 'object')
    return words.object(Object.entries(value).map(([key, member]) => [key, literal(member, words)]));
  return String(value);
}

/**
 * In single quotes. Without another way to write a quote, it and the backslash get a backslash before them.
 */
function single(text: string, quote?: string): string {
  const inner = quote === undefined ? text.replace(/[\\']/g, '\\$&') : text.replaceAll(`'`, quote);
  return `'${inner}'`;
}
