import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import type { Release, SdkFile } from './releases.ts';

/** What each file is for, in the order of the list. */
const FILES: Readonly<Record<string, string>> = {
  'README.md': 'the first use',
  'index.mjs': 'one module for Node 18 and newer, Deno and Bun',
  'index.cjs': 'the same for require',
  'web.mjs': 'one module for Workers and every other runtime with fetch',
  'web.cjs': 'the same for require',
  'index.d.mts': 'its types',
  'index.d.cts': 'its types for require',
  'listen.mjs':
    'a program for Node 18 and newer: forwards the events of a key to a server on your own machine',
  'gateway_webhook.py': 'the verifier for Python 3.9 and newer, standard library alone',
  'GatewayWebhook.php': 'the verifier for PHP 8.1 and newer, no package',
  LICENSE: 'MIT',
};

/** The same as the page, for programs: each version with its files, their sizes and hashes. */
export function listingOf(releases: readonly Release[]) {
  const told = ({ name, bytes, integrity }: SdkFile, path: string) => ({
    name,
    path,
    size: bytes.length,
    integrity,
  });
  return {
    latest: releases[0]?.version,
    versions: releases.map(({ version, tarball, files }) => ({
      version,
      tarball: told(tarball, tarball.name),
      files: [...files.values()].map((file) => told(file, `v${version}/${file.name}`)),
    })),
  };
}

/** The page that says how to get the SDK of this gateway; `origin` is where shops reach it. */
export function sdkPage(releases: readonly Release[], origin: string): Page {
  const [newest] = releases;
  const url = (path: string): string => `${origin}/sdk/${path}`;
  return {
    title: 'SDK',
    body: html`<h1>SDK</h1>
<p>A typed client, the verifier of webhooks and a signer for tests. No dependencies.</p>
${
  newest &&
  html`<section>
<h2>Version ${newest.version}</h2>
<pre tabindex="0"><code>npm install ${url(newest.tarball.name)}</code></pre>
<pre tabindex="0"><code>curl -O ${url('gateway_webhook.py')}
curl -O ${url('GatewayWebhook.php')}</code></pre>
${fileList(newest)}
</section>
`
}${
  releases.length > 1 &&
  html`<section>
<h2>Earlier versions</h2>
<ul>
${releases.slice(1).map(({ tarball }) => html`<li><a href="${tarball.name}">${tarball.name}</a></li>\n`)}</ul>
</section>
`
}<p class="muted">For programs: <a href="index.json">index.json</a>. What lies below a version never changes.</p>`,
  };
}

function fileList({ version, files, tarball }: Release): Html {
  const told = Object.entries(FILES).flatMap(([name, what]) => {
    const file = files.get(name);
    return file ? [{ path: `v${version}/${name}`, name, what, bytes: file.bytes.length }] : [];
  });
  const whole = {
    path: tarball.name,
    name: tarball.name,
    what: 'all of it for npm',
    bytes: tarball.bytes.length,
  };
  return html`<ul>
${[whole, ...told].map(
  ({ path, name, what, bytes }) =>
    html`<li><a href="${path}">${name}</a>: ${what} (${Math.ceil(bytes / 1_024)} KB)</li>\n`,
)}</ul>`;
}
