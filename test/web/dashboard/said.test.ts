import { expect } from 'chai';
import { changeLine, presentChange } from '../../../src/cli/commands/withdraw-changes.ts';
import type { WithdrawChangeView } from '../../../src/services/merchants/withdraw-notices.ts';
import { payoutWords } from '../../../src/services/payouts/words.ts';
import { bannersOf } from '../../../src/web/dashboard/frame.ts';
import { noDeliveries } from '../../../src/web/dashboard/pages/deliveries.ts';
import { lastDays, OVERVIEW } from '../../../src/web/dashboard/pages/overview.ts';
import type { Visit } from '../../../src/web/dashboard/visit.ts';

const NONE = { count: 0, at_least: false, oldest: null };
const DUE = new Date('2026-11-20T09:00:00Z');

describe('what people are told in states that are rare', () => {
  it('is not that a changed withdraw address counts since a time, while it does not count', () => {
    const asked: WithdrawChangeView = {
      id: 'x',
      merchantId: 'm',
      network: 'bsc',
      address: '0xA',
      present: null,
      contractAllowed: false,
      askedBy: { userId: 'u', email: 'a@b.c' },
      askedFrom: 'here',
      askedAt: DUE,
      countsAt: DUE,
      endedAt: null,
      outcome: null,
      reason: null,
    };
    const change = presentChange(asked);
    const standing = { withdrawals: { pending: [asked], refused: [] } };
    const said = (seconds: number): string[] => {
      const now = new Date(DUE.getTime() + seconds * 1_000);
      const visit = { standing, owner: { subscribed: true }, door: { prefix: '' }, deps: { now: () => now } };
      return [bannersOf(visit as unknown as Visit).markup, changeLine(change, now)];
    };
    const [banner, line] = said(-1);
    expect(banner).to.include('From 2026-11-20 09:00 UTC on, the withdraw address is');
    expect(line).to.include('from 2026-11-20T09:00:00Z on payouts go to 0xA');
    for (const text of said(3 * 86_400))
      expect(text)
        .to.match(/due since 2026-11-20.* does not count yet.* once it does/i)
        .and.not.match(/ on,? payouts/);
  });

  it('is not that another payout has the deposits of one that ended without paying', () => {
    for (const state of ['cancelled', 'failed'] as const)
      expect(payoutWords(state))
        .to.include('free for another payout')
        .and.not.include('Another payout covers');
  });

  it('is not that no endpoint was to be told, once what was sent is removed', () => {
    const settings = { webhookRetentionMs: 30 * 86_400_000 };
    const at = (days: number) => {
      const deps = { settings, now: () => new Date(DUE.getTime() + days * 86_400_000) };
      return noDeliveries({ deps } as unknown as Visit, DUE.toISOString());
    };
    expect(at(29)).to.equal('No endpoint was to be told.');
    expect(at(31)).to.include('not here any more');
  });

  it('is not that a sum is all there is, while a coin has no price', async () => {
    const waiting = { why: [], failed: NONE, unconfirmed: NONE, unpaid: NONE, open_links: NONE };
    const said = async (worth: number | null) => {
      const coin = { currency: 'BNB', available: '5', pending: '0', settled: '0', amount_usd: worth };
      const balance = { total_usd: worth ?? 0, available_usd: worth ?? 0, pending_usd: 0, balances: [coin] };
      const view = { balance, waiting, days: [], deposits: [], endpoints: [] };
      const visit = { scope: {}, inTurn: async () => view, to: (path: string) => path };
      return (await OVERVIEW.show?.(visit as unknown as Visit))?.body.markup;
    };
    expect(await said(null)).to.include('no price at the moment: BNB.');
    expect(await said(3_000)).to.not.include('no price');
  });

  it('is not that nothing was completed, where it was worth less than a cent', () => {
    const days = (...deposits: number[]) =>
      lastDays(
        deposits.map((count, index) => ({ day: `2026-11-0${index + 1}`, deposits: count, amount_usd: 0 })),
      );
    expect(days(0, 0).markup).to.include('No deposit was completed in the last 2 days');
    expect(days(0, 3, 0).markup).to.not.include('No deposit was completed');
    expect(days(0, 3, 0).markup).to.include('Highest day: 0.00 USD on 2026-11-02');
  });
});
