import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { z } from 'zod';
import type * as sdk from '../../packages/sdk/src/client.ts';
import type { ErrorCode } from '../../src/api/errors.ts';
import { renderSdkTypes } from '../../src/api/openapi/sdk-types.ts';
import type * as balances from '../../src/contract/balance.ts';
import type { listOf } from '../../src/contract/common.ts';
import type * as customers from '../../src/contract/customer.ts';
import type * as deposits from '../../src/contract/deposit.ts';
import type * as endpoints from '../../src/contract/endpoint.ts';
import type * as deliveries from '../../src/contract/event.ts';
import type * as payments from '../../src/contract/payment-link.ts';
import type * as requests from '../../src/contract/payment-request.ts';
import type * as events from '../../src/domain/events.ts';

/** The same members with the same types, however they were put together. */
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Same<A, B> =
  (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
/**
 * What the client lets through is what the API takes, and no member of it is one that the API would ignore.
 */
type Takes<A, B> = A extends B ? (keyof A extends keyof B ? true : false) : false;
/** A query's values are made text on the way: only its members are compared. */
type Asks<A, B> = Same<keyof (A & sdk.PageQuery), keyof B>;

type Is<T extends true> = T;

/** The type checker proves each of these. */
type Proven = [
  Is<Same<sdk.Customer, z.output<typeof customers.customer>>>,
  Is<Same<sdk.CustomerExists, z.output<typeof customers.existsAnswer>>>,
  Is<Same<sdk.Deposit, z.output<typeof deposits.deposit>>>,
  Is<Same<sdk.Endpoint, z.output<typeof endpoints.endpoint>>>,
  Is<Same<sdk.EndpointWithSecret, z.output<typeof endpoints.endpointWithSecret>>>,
  Is<Same<sdk.EndpointMaybeSecret, z.output<typeof endpoints.endpointMaybeSecret>>>,
  Is<Same<sdk.Deleted, z.output<typeof endpoints.endpointDeleted>>>,
  Is<Same<sdk.Delivery, z.output<typeof deliveries.delivery>>>,
  Is<Same<sdk.StoredEvent, z.output<typeof deliveries.event>>>,
  Is<Same<sdk.EventPage, z.output<typeof deliveries.eventList>>>,
  Is<Same<sdk.LatePaymentLink, z.output<typeof payments.lateLink>>>,
  Is<Same<sdk.ResentFailed, z.output<typeof deliveries.resentFailed>>>,
  Is<Same<sdk.PaymentLink, z.output<typeof payments.paymentLink>>>,
  Is<Same<sdk.NewPaymentLink, z.output<typeof payments.newPaymentLinkAnswer>>>,
  Is<Same<sdk.PublicPayment, z.output<typeof payments.publicPayment>>>,
  Is<Same<sdk.Balance, z.output<typeof balances.balance>>>,
  Is<Same<sdk.MerchantBalance, z.output<typeof balances.merchantBalance>>>,
  Is<Same<sdk.Page<sdk.Customer>, z.output<ReturnType<typeof listOf<typeof customers.customer>>>>>,
  Is<Same<sdk.EventType, events.EventType>>,
  Is<Same<Exclude<sdk.KnownErrorCode, 'NO_ANSWER' | 'TIMEOUT' | 'INVALID_ANSWER'>, ErrorCode>>,
  Is<Takes<sdk.NewCustomer, z.input<typeof customers.newCustomer>>>,
  Is<Takes<sdk.NewEndpoint, z.input<typeof endpoints.newEndpoint>>>,
  Is<Takes<sdk.EndpointChange, z.input<typeof endpoints.endpointChange>>>,
  Is<Takes<sdk.PaymentRequest, z.input<typeof requests.newPaymentLink>>>,
  Is<Same<keyof sdk.PaymentRequest, keyof z.input<typeof requests.newPaymentLink>>>,
  Is<Takes<sdk.Simulation, z.input<typeof deposits.simulationRequest>>>,
  Is<Same<keyof sdk.Simulation, keyof z.input<typeof deposits.simulationRequest>>>,
  Is<Asks<sdk.CustomerQuery, z.input<typeof customers.customerQuery>>>,
  Is<Asks<sdk.DepositQuery, z.input<typeof deposits.depositQuery>>>,
  Is<Asks<sdk.PaymentLinkQuery, z.input<typeof payments.paymentLinkQuery>>>,
  Is<Asks<sdk.EventQuery, z.input<typeof deliveries.eventQuery>>>,
  Is<Asks<sdk.DeliveryQuery, z.input<typeof deliveries.deliveryQuery>>>,
];

describe('the types of the client', () => {
  it('are in the repository as the contract makes them: run "npm run docs" when this fails', () => {
    for (const [path, text] of Object.entries(renderSdkTypes())) {
      const kept = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
      expect(kept === text, path).to.equal(true);
    }
  });

  it('are those of the schemas that check every answer and every request', () => {
    const proven: Proven['length'] = 32;
    expect(proven).to.equal(32);
  });
});
