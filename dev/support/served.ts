import { createApp } from '../../src/api/app.ts';
import { createListDoor } from '../../src/api/requests/lists.ts';
import { createGuards } from '../../src/api/requests/rate-limits.ts';
import { createServer } from '../../src/api/server.ts';
import { pagesFor } from '../../src/app/pages.ts';
import { createPasswordLine } from '../../src/services/access/proof.ts';
import type { Deps } from '../../src/services/deps.ts';
import { loginPages } from '../../src/web/login.ts';

/** More than anything that is measured or tested here asks for. */
const LIMITS = {
  requestsPerSecond: 100_000,
  requestsBurst: 100_000,
  badCredentialsPerMinute: 100_000,
  testsPerSecond: 100_000,
};

/** API and pages over these parts, on a free port, as a process of the API serves them. */
export async function serve(deps: Deps): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const guards = createGuards(deps, { limits: LIMITS });
  const lists = createListDoor(deps);
  const passwordLine = createPasswordLine();
  const ending = new AbortController();
  const shared = { guards, lists, passwordLine, publicUrl: undefined, signal: ending.signal };
  const before = pagesFor(deps, { ...shared, chains: new Map() });
  const server = createServer(
    createApp({ deps, guards, lists, passwordLine, loginPages, checkResponses: true, before }),
  );
  const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      ending.abort();
      await server.close(2_000);
    },
  };
}
