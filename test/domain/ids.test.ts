import { expect } from 'chai';
import fc from 'fast-check';
import {
  chainWorkflowId,
  deliveryActivityId,
  depositWorkflowId,
  eventWorkflowId,
  isUuid,
  resendWorkflowId,
} from '../../src/domain/ids.ts';

const DEPOSIT = {
  network: 'bsc',
  txHash: '0xabc',
  address: '0xDEF',
  currency: 'USDT',
  generation: 1,
} as const;

describe('the id of an actor', () => {
  it('names the deposit by its identity', () => {
    expect(depositWorkflowId(DEPOSIT)).to.equal('deposit:bsc:0xabc:0xDEF:USDT');
  });

  it('is the same for two deposits only if they are the same', () => {
    const hex = fc.stringMatching(/^0x[0-9a-f]{1,8}$/);
    const deposit = fc.record({
      network: fc.constantFrom('bsc' as const, 'tron' as const),
      txHash: hex,
      address: hex,
      currency: fc.constantFrom('USDT' as const, 'BNB' as const, 'TRX' as const),
      generation: fc.integer({ min: 1, max: 12 }),
    });
    fc.assert(
      fc.property(deposit, deposit, (a, b) => {
        expect(depositWorkflowId(a) === depositWorkflowId(b)).to.equal(
          JSON.stringify(a) === JSON.stringify(b),
        );
      }),
    );
  });

  it('names everything else in one form', () => {
    expect(eventWorkflowId('e1')).to.equal('event:e1');
    expect(resendWorkflowId('d1', 2)).to.equal('resend:d1:2');
    expect(chainWorkflowId('tron')).to.equal('chain:tron');
    expect(deliveryActivityId('d1')).to.equal('deliver:d1');
  });
});

describe('the form of an id', () => {
  it('refuses everything else', () => {
    for (const text of [
      '',
      'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\n',
      "' or '1'='1",
    ])
      expect(isUuid(text), JSON.stringify(text)).to.equal(false);
  });
});
