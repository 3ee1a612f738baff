// Records the histories of the payment link's actor, for each way that it can go: `npm run histories`.

import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import type { LiveMoney } from '../../../dev/support/live-money.ts';
import { startReceiver } from '../../../dev/support/receiver.ts';
import {
  cancelPaymentLink,
  createCustomer,
  createPaymentLink,
  simulateDeposit,
} from '../../../dev/support/use-cases.ts';
import type { PaymentLinkView } from '../../../src/contract/payment-link.ts';
import { getPaymentLink } from '../../../src/services/payment-links/reads.ts';

/** Stores a history under a name once its actor has ended. */
export type Store = (scenario: string, workflowId: string) => Promise<void>;

type Made = PaymentLinkView & { address: string };

async function newLink(live: LiveMoney, more: { webhookUrl?: string; expiresAt?: Date } = {}): Promise<Made> {
  const customer = await live.newCustomer();
  const now = more.expiresAt ? new Date(more.expiresAt.getTime() - 300_000) : new Date();
  const terms = {
    merchantId: live.merchantId,
    mode: 'live' as const,
    customerId: customer.id,
    amountCents: 2_500n,
  };
  const { deps } = live.gateway;
  const place = { publicUrl: 'https://pay.example', webhookUrl: more.webhookUrl, expiresInS: 300 };
  return {
    ...(await createPaymentLink({ ...deps, storedNow: async () => now }, { ...terms, ...place })).link,
    address: customer.address,
  };
}

async function becomes(live: LiveMoney, link: PaymentLinkView, status: string): Promise<void> {
  const read = () =>
    getPaymentLink(live.gateway.deps, { merchantId: live.merchantId, mode: 'live', id: link.id });
  await eventually(`the link ${status}`, async () => (await read()).status === status, 60_000);
}

async function pay(live: LiveMoney, link: Made, coins: bigint, status: string): Promise<void> {
  await live.chain.usdt.call('transfer', [link.address, coins * USDT_UNIT]);
  await live.chain.mine(1);
  await becomes(live, link, 'processing');
  await live.chain.mine(6);
  await becomes(live, link, status);
}

/** A moment that is still ahead of our clock and of the chain's. */
async function soon(live: LiveMoney): Promise<Date> {
  const newest = (await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false])) as {
    timestamp: string;
  };
  return new Date(Math.max(Number.parseInt(newest.timestamp, 16) * 1_000, Date.now()) + 2_000);
}

/** The link's time is over by our clock, and its actor waits for the chain. */
async function waitsForChain(live: LiveMoney, link: PaymentLinkView): Promise<void> {
  const handle = live.gateway.gateway.link?.client.workflow.getHandle(`payment:${link.id}`);
  // The actor is started right after the commit, so it may not be there when it is first asked for.
  const look = () => handle?.describe().catch(() => undefined);
  await eventually(
    'the wait',
    async () => (await look())?.raw.pendingActivities?.[0]?.lastFailure != null,
    30_000,
  );
}

/** Runs every scenario of the actor. */
export async function recordPaymentHistories(live: LiveMoney, store: Store): Promise<void> {
  const id = (link: PaymentLinkView) => `payment:${link.id}`;
  const receiver = await startReceiver({ behaviour: [503, 200] });

  const inParts = await newLink(live, { webhookUrl: receiver.url });
  await pay(live, inParts, 10n, 'partially_paid');
  await pay(live, inParts, 15n, 'completed');
  await store('completed-in-parts', id(inParts));

  const cancelled = await newLink(live);
  await cancelPaymentLink(live.gateway.deps, { merchantId: live.merchantId, mode: 'live', id: cancelled.id });
  await store('cancelled', id(cancelled));

  const inTime = await newLink(live, { webhookUrl: receiver.url, expiresAt: await soon(live) });
  await waitsForChain(live, inTime);
  await live.chain.usdt.call('transfer', [inTime.address, 25n * USDT_UNIT]);
  await live.chain.anvil.rpc('evm_setNextBlockTimestamp', [
    Math.floor(Date.parse(inTime.expires_at) / 1_000),
  ]);
  await live.chain.mine(1);
  await becomes(live, inTime, 'processing');
  await live.chain.mine(6);
  await becomes(live, inTime, 'completed');
  await store('completed-while-waiting-for-the-chain', id(inTime));

  const expired = await newLink(live, { expiresAt: await soon(live) });
  await waitsForChain(live, expired);
  await live.chain.anvil.rpc('evm_setNextBlockTimestamp', [
    Math.ceil(Date.parse(expired.expires_at) / 1_000) + 5,
  ]);
  await live.chain.mine(1);
  await becomes(live, expired, 'expired');
  await store('expired', id(expired));

  await store('simulated', id(await simulated(live, receiver.url)));
  await receiver.stop();
}

async function simulated(live: LiveMoney, webhookUrl: string): Promise<PaymentLinkView> {
  const { deps } = live.gateway;
  const scope = { merchantId: live.merchantId, mode: 'test' as const };
  const customer = await createCustomer(deps, {
    ...scope,
    externalId: 'history-payer',
    email: null,
    name: null,
    metadata: {},
  });
  const terms = { ...scope, customerId: customer.id, amountCents: 2_500n, publicUrl: '', webhookUrl };
  const { link } = await createPaymentLink(deps, terms);
  const money = {
    network: 'tron',
    currency: 'USDT',
    amountUnits: 25_000_000n,
    outcome: 'completed',
    events: 'final',
  } as const;
  await simulateDeposit(deps, { merchantId: live.merchantId, customerId: customer.id, ...money });
  return link;
}
