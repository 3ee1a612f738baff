/** What is said of an endpoint that takes a transaction. */
export const TAKES = 'takes it';
/** What stands before what endpoints say, where `refused` is not the signer's. */
export const BY_ENDPOINTS = 'endpoints: ';
/** What stands there before the reason why nothing may be asked for in its place. */
export const BY_PRICE = 'price: ';
/** A node that has it already. */
const KNOWN = /\balready known\b|\bknown transaction\b|\bDUP_TRANSACTION_ERROR\b/i;

/** Whether one of the endpoints that said this to a transaction has it now. */
export function isTaken(said: readonly string[]): boolean {
  return said.some((one) => one.endsWith(`: ${TAKES}`) || KNOWN.test(one));
}
