import * as simulate from '../../src/services/deposits/simulate.ts';
import type { Deps, TxDeps } from '../../src/services/deps.ts';
import * as customers from '../../src/services/merchants/customers.ts';
import type { NewPaymentLink } from '../../src/services/payment-links/create.ts';
import * as links from '../../src/services/payment-links/index.ts';
import { type Tx, transact } from '../../src/services/transact.ts';
import * as endpoints from '../../src/services/webhooks/endpoints.ts';
import * as permit from '../../src/services/webhooks/permit.ts';
import * as resend from '../../src/services/webhooks/resend.ts';

// The use cases of the API as a request runs them: first each finds out what it
// needs to know, then it runs in one transaction.

const alone =
  <Input, Result>(apply: (tx: Tx, deps: TxDeps, input: Input) => Promise<Result>) =>
  (deps: Deps, input: Input): Promise<Result> =>
    transact(deps, (tx) => apply(tx, deps, input));

export const createCustomer = alone(customers.createCustomer);
export const cancelPaymentLink = alone(links.cancelPaymentLink);
export const expirePaymentLink = alone(links.expirePaymentLink);
export const deleteEndpoint = alone(endpoints.deleteEndpoint);
export const resendDelivery = alone(resend.resendDelivery);
export const resendFailed = alone(resend.resendFailed);
export const sendTestEvent = alone(resend.sendTestEvent);

/** As POST /webhook-endpoints. */
export async function createEndpoint(deps: permit.EndpointDeps, input: permit.NewEndpoint) {
  const permitted = await permit.permitEndpoint(deps, input);
  return await transact(deps, (tx) => endpoints.createEndpoint(tx, deps, permitted));
}

/** As PUT /webhook-endpoints/:id. */
export async function updateEndpoint(deps: permit.EndpointDeps, input: permit.EndpointChange) {
  const permitted = await permit.permitChange(deps, input);
  return await transact(deps, (tx) => endpoints.updateEndpoint(tx, deps, permitted));
}

/** As POST /request-payment. */
export async function createPaymentLink(deps: permit.EndpointDeps, input: NewPaymentLink) {
  const permitted = await links.permitPaymentLink(deps, input);
  return await transact(deps, (tx) => links.createPaymentLink(tx, deps, permitted));
}

/** As POST /test/simulate-deposit. */
export async function simulateDeposit(deps: Deps, input: simulate.Simulation) {
  const price = await simulate.priceSimulation(deps, input);
  return await transact(deps, (tx) => simulate.simulateDeposit(tx, deps, { ...input, price }));
}
