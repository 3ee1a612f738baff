import { expect } from 'chai';
import fc from 'fast-check';
import type { PublicPaymentView } from '../../../src/contract/payment-link.ts';
import { DEPOSIT_STATES } from '../../../src/domain/deposit.ts';
import { AMOUNT_STATUSES, LINK_STATUSES } from '../../../src/domain/payment-link.ts';
import { isLive } from '../../../src/web/checkout/followed.ts';
import { checkoutPage, type LiveParts } from '../../../src/web/checkout/index.ts';
import { payerState } from '../../../src/web/checkout/state.ts';
import { renderDocument } from '../../../src/web/layout.ts';
import { LANGS, wordsOf } from '../../../src/web/words/index.ts';
import { anyView, methodOn, REQUIRED, viewOf } from './views.ts';

const PARTS: LiveParts = {
  page: { src: '../page.js', integrity: 'sha256-p' },
  live: { src: '../live.js', integrity: 'sha256-l' },
  simulationKey: () => 'key-of-the-state',
};

const documentOf = (view: PublicPaymentView, more: object = {}, parts?: LiveParts) =>
  renderDocument(checkoutPage(view, REQUIRED, { refresh: true, lang: 'en', ...more }, parts));
const state = (view: PublicPaymentView) => payerState(view, REQUIRED, wordsOf('en'));
const paid = (amount: string, more: Partial<PublicPaymentView['transactions'][number]> = {}) => ({
  transaction_hash: `0x${'cd'.repeat(32)}`,
  network: 'bsc' as const,
  amount,
  confirmations: 15,
  status: 'completed' as const,
  failure_code: null,
  ...more,
});

/** What a text is that was made of a value which is not there. */
const ACCIDENT = /undefined|NaN|\[object|=> |Invalid Date/;

describe('the page of a payment link as a text', () => {
  it('is a whole document for every view there can be, in each language', () => {
    fc.assert(
      fc.property(anyView, fc.constantFrom(...LANGS), fc.boolean(), (view, lang, withScript) => {
        const text = documentOf(view, { lang }, withScript ? PARTS : undefined);
        const ours = text.replaceAll(/<bdi>[\s\S]*?<\/bdi>/g, '').replace(/<title>[\s\S]*?<\/title>/, '');
        expect(ours).not.to.match(ACCIDENT);
        expect(ours).to.include(`<html lang="${lang}">`);
        expect(ours.match(/<h1>/g)).to.have.length(1);
        const ids = [...ours.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
        expect(ids).to.deep.equal([...new Set(ids)]);
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it('has one state for every status, amount, way to pay and payment, with a title and no gap', () => {
    for (const status of LINK_STATUSES)
      for (const amount_status of AMOUNT_STATUSES)
        for (const methods of [[], [methodOn('bsc')]])
          for (const transactions of [[], ...DEPOSIT_STATES.map((one) => [paid('10', { status: one })])])
            for (const server_time of ['2026-11-20T10:01:00Z', '2026-11-20T12:00:00Z'])
              for (const lang of LANGS) {
                const view = viewOf({ status, amount_status, methods, transactions, server_time });
                const { title, texts, tone } = payerState(view, REQUIRED, wordsOf(lang));
                expect([title, ...texts].every((text) => text.length > 3)).to.equal(true);
                expect([title, ...texts].join(' ')).not.to.match(ACCIDENT);
                expect(tone).to.be.oneOf(['info', 'good', 'warn', 'bad']);
              }
  });

  it('asks for a payment only where there is one to make, and says so where money would be lost', () => {
    for (const status of LINK_STATUSES) {
      const text = documentOf(viewOf({ status, methods: [] }));
      expect(text, status).not.to.match(/data-part="address"|<svg/);
      expect(text, status).not.to.include('data-until');
    }
    expect(state(viewOf({ methods: [] })).texts.join()).to.match(/^Do not send anything/);
    expect(state(viewOf({ methods: [], server_time: '2026-11-20T11:00:00Z' })).title).to.equal(
      'The time to pay is over',
    );
    expect(state(viewOf({ status: 'partially_paid', methods: [] })).title).to.equal(
      'This link cannot be paid at the moment',
    );
  });

  it('folds the way to pay where money is held or was taken back, and not for dust, which anybody can send', () => {
    for (const [failure_code, folds] of [
      [null, true],
      ['REORGED', true],
      ['BELOW_MINIMUM', false],
    ] as const) {
      const text = documentOf(viewOf({ transactions: [paid('1', { status: 'failed', failure_code })] }));
      expect(text.includes('id="anyway"'), String(failure_code)).to.equal(folds);
      expect(text).to.include('data-part="address"');
    }
  });

  it('says that late money is not lost while the link is late, else what of it may still come', () => {
    const ended = (amount_status: 'late' | 'none', ...statuses: ('failed' | 'detected' | 'completed')[]) =>
      state(
        viewOf({
          status: 'expired',
          amount_status,
          methods: [],
          server_time: '2026-11-20T13:00:00Z',
          late_transactions: statuses.map((status) =>
            paid('25', { status, failure_code: status === 'failed' ? 'REORGED' : null }),
          ),
        }),
      );
    for (const statuses of [[], ['completed'], Array.from({ length: 20 }, () => 'failed' as const)] as const)
      expect(ended('late', ...statuses).title).to.equal('Your payment was confirmed too late');
    expect(ended('none', 'failed')).to.deep.include({
      title: 'This payment link has expired',
      texts: ['Do not send money for it. The shop can make a new link.'],
    });
    expect(ended('none', 'failed', 'detected').texts.join()).to.include('Something has arrived');
  });

  it('does not say that a link is paid whose payment failed afterwards', () => {
    const of = (amount_status: 'none' | 'underpaid' | 'exact', ...transactions: ReturnType<typeof paid>[]) =>
      viewOf({ status: 'completed', methods: [], amount_status, transactions });
    const failed = paid('15', { status: 'failed' });
    for (const view of [of('none', failed), of('none'), of('underpaid', paid('10'), failed)]) {
      expect(state(view)).to.deep.include({ tone: 'warn', title: 'A payment was taken back' });
      const text = documentOf(view);
      expect(text).not.to.match(/id="receipt"|Thank you/);
      expect(text).to.match(/\b1?0 of 25\.5 USDT is confirmed now/);
    }
    for (const view of [of('exact', paid('25'), failed), of('underpaid', paid('24.9'))])
      expect(state(view).title).to.equal('Paid');
  });

  it('awaits late money for an hour after the time of a link that was not paid', () => {
    const ended = (status: (typeof LINK_STATUSES)[number], server_time: string) =>
      viewOf({ status, methods: [], server_time });
    for (const status of ['expired', 'cancelled'] as const) {
      const [soon, then] = ['2026-11-20T11:59:59Z', '2026-11-20T12:00:00Z'].map((at) => ended(status, at));
      if (!soon || !then) throw new Error('two times');
      expect([soon, then].map((view) => [isLive(view), state(view).texts.length])).to.deep.equal([
        [true, 2],
        [false, 1],
      ]);
    }
    expect(isLive(ended('completed', '2026-11-20T11:00:01Z'))).to.equal(false);
  });

  it('says how far the slowest payment is, and never more confirmations than are needed', () => {
    const transactions = [
      paid('1', { status: 'confirming', confirmations: 14 }),
      paid('2', { status: 'confirming', confirmations: 3, network: 'tron' }),
      paid('3', { status: 'failed', confirmations: 0 }),
    ];
    const view = viewOf({ status: 'processing', methods: [], transactions });
    expect(state(view).bar).to.deep.equal({ done: 3, needed: 19, text: '3 of 19 confirmations' });
    const waits = viewOf({
      status: 'processing',
      methods: [],
      transactions: [paid('1', { status: 'confirming', confirmations: 400 })],
    });
    expect(state(waits).bar).to.deep.equal({
      done: 15,
      needed: 15,
      text: '15 confirmations reached; one last check',
    });
    expect(documentOf(waits)).to.include('<progress max="15" value="15"');
  });

  it('says what is left of the amount, and what came too much, to the last unit', () => {
    const part = viewOf({
      status: 'partially_paid',
      amount_status: 'underpaid',
      methods: [methodOn('bsc', '15.499999999999999999')],
      transactions: [paid('10'), paid('0.000000000000000001', { status: 'settled' })],
    });
    expect(state(part).texts).to.deep.equal(['15.499999999999999999 USDT is still missing.']);
    expect(documentOf(part)).to.include('Arrived: 10.000000000000000001 of 25.5 USDT.');
    const over = viewOf({ status: 'completed', amount_status: 'overpaid', methods: [] });
    expect(state({ ...over, transactions: [paid('25.500000000000000001')] }).texts[1]).to.equal(
      'You sent 0.000000000000000001 USDT more than was asked for. Ask the shop about it.',
    );
    // Beyond the payments that are shown, a figure would be too small: none is said.
    const many = Array.from({ length: 100 }, () => paid('1'));
    expect(state({ ...over, transactions: many }).texts[1]).to.match(/^You sent more than was asked for/);
    expect(documentOf({ ...over, transactions: many }))
      .to.include('Only the first 100 are shown.')
      .and.not.include('data-part="received"');
  });

  it('tells whoever paid a little less that it is accepted, and of how much that is so beforehand', () => {
    const enough = viewOf({ status: 'completed', amount_status: 'underpaid', transactions: [paid('25.4')] });
    expect(state(enough).texts[1]).to.equal(
      'A little less than asked for has arrived, and is accepted as it is.',
    );
    expect(documentOf(viewOf()))
      .to.include('From 25.3725 USDT on it counts as paid.')
      .and.include('(until 11:00 UTC)');
    const later = viewOf({ expires_at: '2026-11-22T11:00:00Z' });
    expect(documentOf(later)).to.include('(until 22 Nov 2026, 11:00 UTC)');
    const strict = viewOf({ methods: [methodOn('bsc', '25.5', '25.5')] });
    expect(documentOf(strict)).to.not.include('counts as paid.');
  });

  it('keeps language, network and refreshing in its links, also a network while there is nothing to pay', () => {
    const text = documentOf(viewOf(), { network: 'tron', lang: 'de', refresh: false });
    const links = [...text.matchAll(/href="(\?[^"]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    expect(links).to.deep.equal([
      '?network=bsc&lang=de&refresh=off',
      '?network=tron&lang=de&refresh=off',
      '?network=tron&lang=de&refresh=off',
      '?network=tron&lang=de',
      '?network=tron&lang=en&refresh=off',
    ]);
    const seen = viewOf({ status: 'processing', methods: [] });
    expect(documentOf(seen, { network: 'tron' })).to.include('href="?network=tron&amp;lang=de"');
    const narrowed = viewOf({ methods: [methodOn('bsc')] });
    expect(documentOf(narrowed, { network: 'tron' })).to.include('href="?network=bsc&amp;lang=de"');
  });

  it('is live where there are scripts for it, and loads itself again without script alone', () => {
    const page = (view: PublicPaymentView) =>
      checkoutPage(view, REQUIRED, { refresh: true, lang: 'en' }, PARTS);
    expect(page(viewOf())).to.deep.include({
      scripts: [PARTS.page, PARTS.live],
      connects: true,
      hasForm: false,
      refreshSeconds: 15,
    });
    expect(page(viewOf()).body.markup).to.match(/<noscript><p>This page loads again/);
    expect(page(viewOf({ status: 'completed', methods: [] }))).to.deep.include({
      scripts: [PARTS.page],
      connects: false,
      refreshSeconds: undefined,
    });
    const late = {
      status: 'expired' as const,
      methods: [],
      transactions: [paid('1', { status: 'confirming' })],
    };
    expect(page(viewOf(late)).connects).to.equal(true);
    expect(checkoutPage(viewOf(), REQUIRED, { refresh: false, lang: 'en' })).to.deep.include({
      scripts: undefined,
      connects: false,
      refreshSeconds: undefined,
    });
  });

  it('marks a rehearsal everywhere, opens no wallet for it, and alone offers to simulate a payment', () => {
    const test = documentOf(viewOf({ is_live: false }));
    expect(test)
      .to.match(/<title>TEST · /)
      .and.include('Test mode: no real money')
      .and.include('To this test address')
      .and.include('Do not send real money')
      .and.include('class="stamp"');
    expect(test).not.to.match(/href="(ethereum|tron):|Send only/);
    expect(documentOf(viewOf())).not.to.match(/TEST|rehearsal"/);
    const form = documentOf(viewOf({ is_live: false }), { network: 'tron', lang: 'de' }, PARTS);
    expect(form)
      .to.include(`action="${viewOf().token}/simulate?network=tron&amp;lang=de"`)
      .and.include('name="key" value="key-of-the-state"')
      .and.include('name="network" value="tron"');
    const shares = [...form.matchAll(/name="share" value="(\w+)"/g)].map(([, share]) => share);
    expect(shares).to.deep.equal(['full', 'half', 'double']);
    for (const view of [viewOf(), viewOf({ is_live: false, methods: [] })])
      expect(documentOf(view, {}, PARTS)).not.to.include('<form');
  });
});
