import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { PaymentLink } from '../deposits/payment-link.ts';
import { Merchant } from '../merchants/merchant.ts';

/** A replaced secret that still signs beside the newest one until its time: sealed, in base64. */
export type EarlierSecret = { readonly sealed: string; readonly until: string };

const schema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    url: p.string().length(2048),
    description: p.string().length(500).nullable(),
    events: p.array(),
    enabled: p.boolean(),
    secretSealed: p.blob(),
    secretHint: p.string().length(16),
    earlierSecrets: p.json().$type<EarlierSecret[]>(),
    lastDeliveryAt: p.datetime().columnType('timestamptz').nullable(),
    lastStatusCode: p.integer().nullable(),
    consecutiveFailures: p.integer(),
    failingSince: p.datetime().columnType('timestamptz').nullable(),
    goneSince: p.datetime().columnType('timestamptz').nullable(),
    goneCount: p.integer(),
    disabledReason: p.string().length(200).nullable(),
    /**
     * Set on the endpoint that stands for a payment link's own webhook URL; its
     * id is the link's, and no list shows it.
     */
    paymentLinkId: () =>
      p.manyToOne(PaymentLink).mapToPk().fieldName('payment_link_id').nullable().deleteRule('no action'),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    deletedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  indexes: [
    {
      name: 'webhook_endpoints_list_index',
      properties: ['merchantId', 'mode', 'createdAt', 'id'],
      where: 'payment_link_id is null',
    },
    {
      name: 'webhook_endpoints_unwell_index',
      properties: ['mode'],
      where:
        'payment_link_id is null and deleted_at is null and (failing_since is not null or disabled_reason is not null)',
    },
  ],
  uniques: [
    {
      name: 'webhook_endpoints_payment_link_unique',
      properties: ['paymentLinkId'],
      where: 'payment_link_id is not null',
    },
  ],
  checks: [{ name: 'webhook_endpoints_mode_check', expression: "mode in ('live', 'test')" }],
});

/** A registered URL with its sealed secrets and its health. */
export class WebhookEndpoint extends schema.class {}
schema.setClass(WebhookEndpoint);
