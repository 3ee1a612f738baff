import { expect } from 'chai';
import { linkExample, paidLinkExample } from '../../../src/contract/payment-link.ts';
import { standOf } from '../../../src/web/dashboard/pages/link-words.ts';

const BEFORE = new Date('2026-11-20T10:30:00Z');
const AFTER = new Date('2026-11-20T11:00:01Z');
const part = {
  ...linkExample,
  paid_amount_usd: 10,
  remaining_amount_usd: 15.5,
  amount_status: 'underpaid',
} as const;

describe('the words for how a payment link stands', () => {
  it('say what is missing and until when it can be paid', () => {
    expect(standOf(linkExample, BEFORE)).to.include({
      title: 'Nothing has been paid of 25.50 USD',
      text: 'It can be paid until 2026-11-20 11:00 UTC.',
    });
    expect(standOf({ ...part, status: 'partially_paid' }, BEFORE)).to.include({
      tone: 'warn',
      title: '15.50 USD of 25.50 USD is missing',
    });
  });

  it('say of an open link whose time is over that what was sent in time still counts', () => {
    expect(standOf(linkExample, AFTER).text).to.include('The time to pay it is over.');
    expect(standOf({ ...part, status: 'partially_paid' }, AFTER).text).to.include(
      'sent in time still counts',
    );
  });

  it('never say paid of what is only seen', () => {
    const seen = standOf({ ...linkExample, status: 'processing' }, BEFORE);
    expect(seen.title).to.equal('A payment was seen and is not confirmed yet');
    expect(seen.text).to.include('Nothing of 25.50 USD is confirmed yet.');
  });

  it('tell exactly paid, overpaid, short within the tolerance and taken back apart', () => {
    const words = (more: object) => standOf({ ...paidLinkExample, ...more }, AFTER);
    expect(words({}).text).to.equal('Exactly what was asked for is confirmed.');
    expect(words({ amount_status: 'overpaid', paid_amount_usd: 30, overpaid_amount_usd: 4.5 })).to.include({
      tone: 'good',
      title: 'Paid: 30.00 USD',
    });
    expect(words({ amount_status: 'underpaid', paid_amount_usd: 25.4 }).text).to.include('tolerated');
    const failed = paidLinkExample.transactions.map((row) => ({ ...row, status: 'failed' }));
    const lost = words({ amount_status: 'none', paid_amount_usd: 0, transactions: failed });
    expect(lost).to.include({ tone: 'warn' });
    expect(lost.title).to.equal('It was paid, and now 0.00 USD of 25.50 USD is confirmed');
    const again = words({ amount_status: 'none', paid_amount_usd: 0, transactions: [] });
    expect(again).to.include({ tone: 'warn', title: lost.title });
    expect(again.text).to.include('a deposit of the customer');
    const part = words({ amount_status: 'underpaid', paid_amount_usd: 10, transactions: [] });
    expect(part.title).to.equal('It was paid, and now 10.00 USD of 25.50 USD is confirmed');
    expect(part.text).to.include('a deposit of the customer');
  });

  it('pass over no money that a link was not paid with in the end', () => {
    for (const status of ['expired', 'cancelled'] as const) {
      expect(standOf({ ...linkExample, status }, AFTER).text).to.include('Nothing was paid.');
      expect(standOf({ ...part, status }, AFTER).title).to.include('a part was paid');
      const transactions = paidLinkExample.transactions.map((row) => ({
        ...row,
        status: 'confirming' as const,
      }));
      const seen = standOf({ ...linkExample, status, transactions }, AFTER);
      expect(seen.title, 'what waits is not nothing').to.include('a payment was seen');
      expect(seen.text).to.not.include('Nothing was paid');
      expect(standOf({ ...part, status, amount_status: 'late' }, AFTER).title).to.include(
        'confirmed afterwards',
      );
    }
  });
});
