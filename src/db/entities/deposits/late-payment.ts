import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from './deposit.ts';
import { PaymentLink } from './payment-link.ts';

const schema = defineEntity({
  name: 'LatePayment',
  tableName: 'late_payments',
  properties: {
    paymentLinkId: () =>
      p
        .manyToOne(PaymentLink)
        .mapToPk()
        .fieldName('payment_link_id')
        .primary()
        .updateRule('no action')
        .deleteRule('no action'),
    depositId: () =>
      p
        .manyToOne(Deposit)
        .mapToPk()
        .fieldName('deposit_id')
        .primary()
        .updateRule('no action')
        .deleteRule('no action'),
    at: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'late_payments_deposit_index', properties: ['depositId'] }],
});

/** Money that came for a link after its end: the deposit pays nothing of it, and the payer is shown it. */
export class LatePayment extends schema.class {}
schema.setClass(LatePayment);
