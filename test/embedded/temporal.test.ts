import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { expect } from 'chai';
import { ownTemporal, tempDir } from '../../dev/support/parts.ts';
import { startTemporal } from '../../src/embedded/temporal.ts';
import { failureOf } from '../support/repository/scripts.ts';

const silent = () => undefined;

async function withClient<T>(
  server: { address: string; namespace: string },
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(new Client({ connection, namespace: server.namespace }));
  } finally {
    await connection.close();
  }
}

const typedSearchAttributes = new TypedSearchAttributes([
  { key: defineSearchAttributeKey('MerchantId', 'KEYWORD'), value: 'm1' },
  { key: defineSearchAttributeKey('Network', 'KEYWORD'), value: 'bsc' },
  { key: defineSearchAttributeKey('DepositStage', 'KEYWORD'), value: 'confirming' },
  { key: defineSearchAttributeKey('StageSince', 'DATETIME'), value: new Date(0) },
  { key: defineSearchAttributeKey('NeedsOperator', 'BOOL'), value: true },
]);

describe('the Temporal server', () => {
  it('keeps workflows and their search attributes through kill -9, on the same ports, with its Web UI', async () => {
    const server = await ownTemporal();
    const { address, uiUrl } = server.now;
    await withClient(server.now, (client) =>
      client.workflow.start('nobody-runs-this', {
        workflowId: 'kept',
        taskQueue: 'none',
        typedSearchAttributes,
        priority: { fairnessKey: 'm1' },
      }),
    );
    await server.kill();
    await server.start();
    expect([server.now.address, server.now.uiUrl]).to.deep.equal([address, uiUrl]);
    const found = await withClient(server.now, async (client) => {
      const { status } = await client.workflow.getHandle('kept').describe();
      const ids: string[] = [];
      // The list is written a little after the workflow.
      for (let tries = 0; ids.length === 0 && tries < 50; tries++) {
        for await (const run of client.workflow.list({ query: "NeedsOperator = true and MerchantId = 'm1'" }))
          ids.push(run.workflowId);
        await sleep(100);
      }
      return { status: status.name, ids };
    });
    expect(found).to.deep.equal({ status: 'RUNNING', ids: ['kept'] });
    expect((await fetch(uiUrl)).status).to.equal(200);
    await server.stop();
    expect(await failureOf(fetch(uiUrl))).to.match(/fetch failed/);
  });

  it('serves two folders at once, each with its own namespace, readable by their owner only', async () => {
    const dirs = [await tempDir(), await tempDir()] as const;
    const [one, two] = await Promise.all(
      dirs.map((dataDir, at) => startTemporal({ dataDir, namespace: `n${at}`, log: silent })),
    );
    expect((await stat(`${dirs[0]}/temporal.sqlite`)).mode & 0o077).to.equal(0);
    if (!one || !two) throw new Error('both must run');
    await withClient(one, (client) =>
      client.workflow.start('x', { workflowId: 'only-here', taskQueue: 'none' }),
    );
    expect(
      await failureOf(withClient(two, (client) => client.workflow.getHandle('only-here').describe())),
    ).to.match(/not found/i);
    expect(await failureOf(startTemporal({ dataDir: dirs[1], port: one.port, log: silent }))).to.contain(
      `port ${one.port}`,
    );
    await Promise.all([one.stop(), two.stop()]);
  });
});
