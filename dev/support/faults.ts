// The ways in which one endpoint answers a block wrongly, each with what the pool says about it.
import { gzipSync } from 'node:zlib';
import type { Answer, Fault, RpcCall } from './fault-proxy.ts';

type Receipt = {
  logs: unknown[];
  logsBloom: string;
  blockHash: string;
  transactionHash: string;
  status?: string;
};

/** Changes the real answer to one method. */
export function changed(method: string, change: (result: never, call: RpcCall) => unknown): Fault {
  return async (call, forward) => {
    if (call.method !== method) return undefined;
    const answer = await forward();
    return { json: { ...answer, result: change(answer.result as never, call) } };
  };
}

/** The same answer to everything but the chain id, which a new connection asks for first. */
export function always(answer: Answer): Fault {
  return (call) => (call.method === 'eth_chainId' ? undefined : answer);
}

const gzipped = { 'content-encoding': 'gzip', 'content-type': 'application/json' };

/** What goes wrong, what the report says, and how it is made. */
export const BLOCK_FAULTS: readonly [name: string, reason: RegExp, fault: Fault][] = [
  [
    'leaves all logs out',
    /logs are missing/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({ ...receipt, logs: [] })),
    ),
  ],
  [
    'leaves all logs out and the receipts’ blooms too',
    /its bloom names logs and none came/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({ ...receipt, logs: [], logsBloom: undefined })),
    ),
  ],
  [
    'leaves the logs of one transaction out',
    /logs are missing/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt, i) => (i === 0 ? { ...receipt, logs: [] } : receipt)),
    ),
  ],
  [
    'replaces the token log by another one',
    /logs are missing/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({
        ...receipt,
        logs: receipt.logs.map((log) => ({ ...(log as object), topics: [`0x${'9'.repeat(64)}`] })),
      })),
    ),
  ],
  [
    'sends one receipt too few',
    /2 receipts for 3 transactions/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.slice(1)),
  ],
  [
    'sends the receipts in another order',
    /another block or transaction/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.toReversed()),
  ],
  [
    'sends receipts of another block',
    /another block or transaction/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({ ...receipt, blockHash: `0x${'1'.repeat(64)}` })),
    ),
  ],
  [
    'sends receipts without a status',
    /another block or transaction/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({ ...receipt, status: undefined })),
    ),
  ],
  ['has no receipts yet', /no receipts for block/, changed('eth_getBlockReceipts', () => null)],
  [
    'sends receipts that are none',
    /malformed|another block/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) => receipts.map(() => null)),
  ],
  [
    'sends logs that are none',
    /malformed/,
    changed('eth_getBlockReceipts', (receipts: Receipt[]) =>
      receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(() => ({})) })),
    ),
  ],
  [
    'sends a block without its transactions',
    /transactions are missing/,
    changed('eth_getBlockByNumber', (block: object) => ({ ...block, transactions: [] })),
  ],
  [
    'sends a block of another height',
    /block 7 in answer to/,
    changed('eth_getBlockByNumber', (block: object) => ({ ...block, number: '0x7' })),
  ],
  [
    'sends a block with no body at all',
    /without its transactions/,
    changed('eth_getBlockByNumber', (block: object) => ({ ...block, transactions: undefined })),
  ],
  ['says 429', /http 429/, always({ status: 429, body: '{}' })],
  [
    'says 429 with a JSON-RPC error in it',
    /http 429/,
    (call) => ({
      status: 429,
      body: JSON.stringify({ id: call.id, error: { code: 1, message: 'slow down' } }),
    }),
  ],
  ['says 503', /http 503/, always({ status: 503, body: '<html>' })],
  [
    'says -32005',
    /rpc error -32005 limit exceeded/,
    (call) => ({ json: { id: call.id, error: { code: -32005, message: 'limit exceeded' } } }),
  ],
  [
    'knows neither way to the receipts',
    /rpc error -32601/,
    (call) =>
      /receipt/i.test(call.method)
        ? { json: { id: call.id, error: { code: -32601, message: 'no such method' } } }
        : undefined,
  ],
  [
    'answers with an HTML page',
    /an HTML page instead of JSON/,
    always({ status: 200, body: '<!doctype html><p>Blocked</p>' }),
  ],
  [
    'answers with half of the JSON',
    /not JSON or cut short/,
    always({ status: 200, body: '{"jsonrpc":"2.0","id":1,"resu' }),
  ],
  ['answers with nothing', /not JSON or cut short/, always({ status: 200, body: '' })],
  [
    'answers another question',
    /another request/,
    always({ json: { jsonrpc: '2.0', id: 'x', result: null } }),
  ],
  ['answers with a list', /another request/, always({ json: [] })],
  [
    'answers without result',
    /neither result nor error/,
    (call) => ({ json: { jsonrpc: '2.0', id: call.id } }),
  ],
  ['redirects', /http 307/, always({ status: 307, body: '', headers: { location: 'http://127.0.0.1:1/' } })],
  [
    'packs its answer so that it is cut short',
    /not JSON or cut short/,
    always({ status: 200, headers: gzipped, body: gzipSync('{"jsonrpc":"2.0"}').subarray(0, 20) }),
  ],
  [
    'packs its answer in another way than it was asked to',
    /packed in a way that was not asked for/,
    always({ status: 200, headers: { 'content-encoding': 'zstd' }, body: 'x' }),
  ],
  ['says 500', /http 500/, always({ status: 500, body: 'Internal Server Error' })],
  [
    'says 502 with an HTML page',
    /http 502/,
    always({ status: 502, body: '<html><h1>Bad Gateway</h1></html>' }),
  ],
  ['says 403', /http 403/, always({ status: 403, body: 'forbidden' })],
  ['closes the connection in the middle of its answer', /connection failed/, always('cut')],
  ['sends its answer drop by drop', /no answer within 0.4 s/, always('drip')],
  ['hangs', /no answer within 0.4 s/, always('hang')],
  ['resets the connection', /connection failed/, always('reset')],
  ['serves another chain', /chain id 97 instead of 56/, changed('eth_chainId', () => '0x61')],
  ['has no chain id', /no chain id/, changed('eth_chainId', () => null)],
];
