// The receipts of a block: in one call where the endpoint offers that, else transaction by transaction.
import { EndpointFailure } from '../rpc/errors.ts';
import type { RpcSession } from '../rpc/json-rpc.ts';

/**
 * Gives the receipts of a block as the endpoint sent them, in the order of the
 * transactions; the decoder checks them.
 */
export interface ReceiptReader {
  read(
    session: RpcSession,
    block: { readonly hash: string; readonly transactions: readonly { readonly hash: string }[] },
  ): Promise<unknown>;
  /**
   * True for an endpoint (by its place in the list) that is known to give receipts one by one
   * only: many calls for what is one call elsewhere.
   */
  isCostly(endpoint: number): boolean;
}

export type ReceiptOptions = {
  readonly now?: (() => number) | undefined;
  /** Called when an endpoint is found to lack the one call, or to offer it again. Names the host only. */
  readonly report?: ((message: string) => void) | undefined;
};

const ASK_AGAIN_MS = 10 * 60_000;

/**
 * Makes a reader for one pool. An endpoint without
 * `eth_getBlockReceipts` is asked for it again after ten minutes.
 */
export function createReceiptReader({
  now = () => performance.now(),
  report,
}: ReceiptOptions = {}): ReceiptReader {
  /** By endpoint: when to ask for the one call again. */
  const lacking = new Map<number, number>();

  const read: ReceiptReader['read'] = async (session, { hash, transactions }) => {
    if (transactions.length === 0) return [];
    if (now() >= (lacking.get(session.endpoint) ?? Number.NEGATIVE_INFINITY)) {
      try {
        // By hash, because a node that does not know the hash says
        // so, while one asked by number may answer for another block.
        const receipts = await session.call('eth_getBlockReceipts', [hash]);
        if (lacking.delete(session.endpoint))
          report?.(`${session.host}: offers the receipts of a block in one call again`);
        return receipts;
      } catch (error) {
        if (!(error instanceof EndpointFailure) || !isLack(error)) throw error;
        if (!lacking.has(session.endpoint))
          report?.(
            `${session.host}: has no eth_getBlockReceipts (${error.message}); receipts are read one by one, which costs a call for each transaction`,
          );
        lacking.set(session.endpoint, now() + ASK_AGAIN_MS);
      }
    }
    return await session.batch(
      'eth_getTransactionReceipt',
      transactions.map((transaction) => [transaction.hash]),
    );
  };

  return { read, isCostly: (endpoint) => lacking.has(endpoint) };
}

/** True where the endpoint does not have the method, or has one that takes no hash. */
function isLack(error: EndpointFailure): boolean {
  return error.notOffered || /^rpc error -32602\b/.test(error.message);
}
