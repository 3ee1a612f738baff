import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { expect } from 'chai';
import { ownTemporal } from '../../dev/support/parts.ts';
import { failureOf } from '../support/repository/scripts.ts';

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
});
