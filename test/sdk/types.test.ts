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

// The type checker proves these: with a difference `true` is no value of the member's type.
const ANSWERS: {
  customer: Same<sdk.Customer, z.output<typeof customers.customer>>;
  exists: Same<sdk.CustomerExists, z.output<typeof customers.existsAnswer>>;
  deposit: Same<sdk.Deposit, z.output<typeof deposits.deposit>>;
  endpoint: Same<sdk.Endpoint, z.output<typeof endpoints.endpoint>>;
  endpointWithSecret: Same<sdk.EndpointWithSecret, z.output<typeof endpoints.endpointWithSecret>>;
  endpointMaybeSecret: Same<sdk.EndpointMaybeSecret, z.output<typeof endpoints.endpointMaybeSecret>>;
  deleted: Same<sdk.Deleted, z.output<typeof endpoints.endpointDeleted>>;
  delivery: Same<sdk.Delivery, z.output<typeof deliveries.delivery>>;
  event: Same<sdk.StoredEvent, z.output<typeof deliveries.event>>;
  events: Same<sdk.EventPage, z.output<typeof deliveries.eventList>>;
  lateLink: Same<sdk.LatePaymentLink, z.output<typeof payments.lateLink>>;
  resentFailed: Same<sdk.ResentFailed, z.output<typeof deliveries.resentFailed>>;
  link: Same<sdk.PaymentLink, z.output<typeof payments.paymentLink>>;
  newLink: Same<sdk.NewPaymentLink, z.output<typeof payments.newPaymentLinkAnswer>>;
  publicPayment: Same<sdk.PublicPayment, z.output<typeof payments.publicPayment>>;
  balance: Same<sdk.Balance, z.output<typeof balances.balance>>;
  merchantBalance: Same<sdk.MerchantBalance, z.output<typeof balances.merchantBalance>>;
  page: Same<sdk.Page<sdk.Customer>, z.output<ReturnType<typeof listOf<typeof customers.customer>>>>;
  eventTypes: Same<sdk.EventType, events.EventType>;
  errorCodes: Same<Exclude<sdk.KnownErrorCode, 'NO_ANSWER' | 'TIMEOUT' | 'INVALID_ANSWER'>, ErrorCode>;
} = {
  customer: true,
  exists: true,
  deposit: true,
  endpoint: true,
  endpointWithSecret: true,
  endpointMaybeSecret: true,
  deleted: true,
  delivery: true,
  event: true,
  events: true,
  lateLink: true,
  resentFailed: true,
  link: true,
  newLink: true,
  publicPayment: true,
  balance: true,
  merchantBalance: true,
  page: true,
  eventTypes: true,
  errorCodes: true,
};

const REQUESTS: {
  customer: Takes<sdk.NewCustomer, z.input<typeof customers.newCustomer>>;
  endpoint: Takes<sdk.NewEndpoint, z.input<typeof endpoints.newEndpoint>>;
  endpointChange: Takes<sdk.EndpointChange, z.input<typeof endpoints.endpointChange>>;
  link: Takes<sdk.PaymentRequest, z.input<typeof requests.newPaymentLink>>;
  linkMembers: Same<keyof sdk.PaymentRequest, keyof z.input<typeof requests.newPaymentLink>>;
  simulation: Takes<sdk.Simulation, z.input<typeof deposits.simulationRequest>>;
  simulationMembers: Same<keyof sdk.Simulation, keyof z.input<typeof deposits.simulationRequest>>;
  customers: Asks<sdk.CustomerQuery, z.input<typeof customers.customerQuery>>;
  deposits: Asks<sdk.DepositQuery, z.input<typeof deposits.depositQuery>>;
  links: Asks<sdk.PaymentLinkQuery, z.input<typeof payments.paymentLinkQuery>>;
  events: Asks<sdk.EventQuery, z.input<typeof deliveries.eventQuery>>;
  deliveries: Asks<sdk.DeliveryQuery, z.input<typeof deliveries.deliveryQuery>>;
} = {
  customer: true,
  endpoint: true,
  endpointChange: true,
  link: true,
  linkMembers: true,
  simulation: true,
  simulationMembers: true,
  customers: true,
  deposits: true,
  links: true,
  events: true,
  deliveries: true,
};

describe('the types of the client', () => {
  it('are in the repository as the contract makes them: run "npm run docs" when this fails', () => {
    for (const [path, text] of Object.entries(renderSdkTypes())) {
      const kept = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
      expect(kept === text, path).to.equal(true);
    }
  });

  it('are those of the schemas that check every answer and every request', () => {
    expect(Object.values({ ...ANSWERS, ...REQUESTS })).not.to.include(false);
  });
});
