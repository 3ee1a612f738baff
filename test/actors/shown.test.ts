import type { temporal } from '@temporalio/proto';
import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';

type Metadata = temporal.api.sdk.v1.IWorkflowMetadata;

/** What somebody sees who opens an actor in Temporal's Web UI. */
describe('what the Web UI shows of an actor', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ settings: { stuckAfterMs: 1_500 } });
  });
  after(() => live?.stop());

  const handleOf = (workflowId: string) => {
    const found = live.gateway.gateway.link;
    if (!found) throw new Error('no Temporal');
    return found.client.workflow.getHandle(workflowId);
  };
  const metadataOf = async (workflowId: string): Promise<Metadata> =>
    await handleOf(workflowId).query<Metadata>('__temporal_workflow_metadata');

  /** The summaries of the activities that it asked for, in their order. */
  async function summariesOf(workflowId: string): Promise<string[]> {
    const { events } = await handleOf(workflowId).fetchHistory();
    return (events ?? [])
      .filter((event) => event.activityTaskScheduledEventAttributes)
      .map((event) => Buffer.from(event.userMetadata?.summary?.data ?? []).toString('utf8'));
  }

  it('is the reason, the next action, a link to an explorer and the webhooks of a deposit that waits', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, 3n * USDT_UNIT]);
    await live.chain.mine(2);
    await live.eventOf('deposit.confirming', hash);
    const address = String((await live.deposits(hash))[0]?.['address']);
    const id = `deposit:bsc:${hash}:${address}:USDT`;
    const { currentDetails: details = '' } = await eventually('the alarm', async () => {
      const metadata = await metadataOf(id);
      return metadata.currentDetails?.includes('→') ? metadata : undefined;
    });
    expect(details).to.match(/^\*\*confirming\*\*\n\n\d of 3 confirmations/);
    expect(details).to.match(/\n\n→ check that the RPC endpoints answer/);
    expect(details).to.include(`[The transaction in an explorer](https://bscscan.com/tx/${hash})`);
    expect(details).to.match(/webhooks\\: 2 of 2 finished/);
    const host = new URL(live.receiver.url).host;
    const summaries = await eventually('both deliveries', async () => {
      const all = (await summariesOf(id)).filter((summary) => summary.includes('deposit.'));
      return all.length >= 2 ? all : undefined;
    });
    expect(summaries).to.deep.equal([`"deposit.detected → ${host}"`, `"deposit.confirming → ${host}"`]);
    await live.chain.mine(6);
    await live.eventOf('deposit.completed', hash);
  });

  it('names every query, signal and update, and says what each does', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
    await live.chain.mine(2);
    await live.eventOf('deposit.confirming', hash);
    const address = String((await live.deposits(hash))[0]?.['address']);
    const { definition } = await metadataOf(`deposit:bsc:${hash}:${address}:USDT`);
    const own = [
      ...(definition?.queryDefinitions ?? []),
      ...(definition?.signalDefinitions ?? []),
      ...(definition?.updateDefinitions ?? []),
    ].filter(({ name }) => !name?.startsWith('__'));
    expect(own.map(({ name }) => name).sort()).to.deep.equal(['changed', 'fail', 'view']);
    for (const { name, description } of own) expect(description, name ?? '').to.match(/^[A-Z].{20,}\.$/);
  });
});
