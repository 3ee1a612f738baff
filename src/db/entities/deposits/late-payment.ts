import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from './deposit.ts';
import { PaymentLink } from './payment-link.ts';

const schema = defineEntity({
  name: 'LatePayment',
  tableName: 'late_payments',
  properties: {
    depositId: () =>
      p
        .manyToOne(Deposit)
        .mapToPk()
        .fieldName('deposit_id')
        .primary()
        .updateRule('no action')
        .deleteRule('no action'),
    paymentLinkId: () =>
      p
        .manyToOne(PaymentLink)
        .mapToPk()
        .fieldName('payment_link_id')
        .updateRule('no action')
        .deleteRule('no action'),
    at: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'late_payments_link_index', properties: ['paymentLinkId', 'at', 'depositId'] }],
});

/**
 * Money that came for a link after its end: its payer is shown it. A deposit is late for one link at a time;
 * mined once more, it may be late for another one, or pay one.
 */
export class LatePayment extends schema.class {}
schema.setClass(LatePayment);
