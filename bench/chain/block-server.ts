// A node of its own process that serves any number of linked blocks of
// BNB Chain's usual make-up, from a few that it makes at the start.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeSample } from './block-sample.ts';

/** Sent by the parent: where the chain ends now, or whose address is paid in some of its blocks. */
export type SetHead = { readonly head: number } | { readonly watched: string };
/** Sent to the parent once it listens. */
export type Listening = { readonly url: string };
type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };

/** All heights have seven hex digits, so that they can be written over one another in place. */
export const FIRST_NUMBER = 0x200_0000;
/** Every so many blocks one pays the watched address. */
export const PAID_EVERY = 500;
const FINAL_BEHIND = 3;
const QUIET_TEMPLATES = 16;
const UNKNOWN = '"error":{"code":-32601,"message":"the method does not exist/is not available"}';
const STRANGER = `0x${'5e'.repeat(20)}`;

/** A block's hash, by which its receipts are asked for. */
export const hashOf = (number: number): string =>
  `0x${'b10c'.padEnd(57, '0')}${number.toString(16).padStart(7, '0')}`;

const PLACES = ['number', 'hash', 'parent', 'paid'] as const;
type Place = (typeof PLACES)[number];
/** A text in which some places are overwritten: always by the same number of characters. */
type Template = {
  readonly bytes: Buffer;
  /**
   * Copies whose answers were sent: filled anew they save the
   * machine the allocation, which costs more than the filling.
   */
  readonly spare: Buffer[];
  readonly places: readonly { readonly at: number; readonly what: Place }[];
};

function templateOf(text: string, found: Readonly<Record<Place, string>>): Template {
  const places: { at: number; what: Place }[] = [];
  for (const what of PLACES) {
    const wanted = found[what];
    for (let at = wanted ? text.indexOf(wanted) : -1; at >= 0; at = text.indexOf(wanted, at + 1))
      places.push({ at, what });
  }
  return { bytes: Buffer.from(text, 'latin1'), spare: [], places };
}

function fill({ bytes, spare, places }: Template, number: number): Buffer {
  const filled = spare.pop() ?? Buffer.from(bytes);
  const texts = {
    number: `"0x${number.toString(16)}"`,
    hash: hashOf(number),
    parent: hashOf(number - 1),
    paid: `0x${'9a1d'.padEnd(57, '0')}${number.toString(16).padStart(7, '0')}`,
  };
  for (const { at, what } of places) filled.write(texts[what], at, 'latin1');
  return filled;
}

/** The answers about one block, as templates. */
function makeTemplates(watched: string | undefined): { block: Template; receipts: Template } {
  const sample = makeSample(FIRST_NUMBER, watched ?? STRANGER);
  const resultOf = (text: string): string => text.slice(text.indexOf('"result":') + 9, -1);
  const [block, receipts] = [resultOf(sample.block), resultOf(sample.receipts)];
  const parsed = JSON.parse(block) as { hash: string; parentHash: string; transactions: { hash: string }[] };
  const found = {
    number: `"0x${FIRST_NUMBER.toString(16)}"`,
    hash: parsed.hash,
    parent: parsed.parentHash,
    // A transaction is paid once: in another block it would be the same deposit.
    paid: watched ? (parsed.transactions[0]?.hash ?? '') : '',
  };
  return { block: templateOf(block, found), receipts: templateOf(receipts, found) };
}

/** A block asked for without its transactions. */
const header = (number: number): string =>
  JSON.stringify({
    number: `0x${number.toString(16)}`,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: '0x691e5a00',
    transactions: [hashOf(0)],
  });

function serve(send: (message: Listening) => void): void {
  const quiet = Array.from({ length: QUIET_TEMPLATES }, () => makeTemplates(undefined));
  let paid = makeTemplates(undefined);
  let head = FIRST_NUMBER + 100;
  const of = (number: number) =>
    number % PAID_EVERY === 0 ? paid : (quiet[number % QUIET_TEMPLATES] ?? paid);

  const templateFor = ({
    method,
    params: [what, whole],
  }: Call): { template: Template; number: number } | undefined => {
    if (method === 'eth_getBlockReceipts') {
      const number = Number.parseInt(String(what).slice(-7), 16);
      return { template: of(number).receipts, number };
    }
    const number = Number.parseInt(String(what), 16);
    return method === 'eth_getBlockByNumber' && whole === true && number <= head
      ? { template: of(number).block, number }
      : undefined;
  };

  function resultOf({ method, params: [what] }: Call): string | undefined {
    if (method === 'eth_chainId') return '"0x38"';
    // The decimals of the token.
    if (method === 'eth_call') return `"0x${(18).toString(16).padStart(64, '0')}"`;
    if (method === 'eth_blockNumber') return `"0x${head.toString(16)}"`;
    if (method !== 'eth_getBlockByNumber') return undefined;
    const number =
      what === 'latest'
        ? head
        : what === 'finalized'
          ? head - FINAL_BEHIND
          : Number.parseInt(String(what), 16);
    return number > head ? 'null' : header(number);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as Call;
      const whole = templateFor(call);
      const filled = whole ? fill(whole.template, whole.number) : undefined;
      const result = filled ?? resultOf(call);
      const parts = [
        Buffer.from(`{"jsonrpc":"2.0","id":${call.id},${result === undefined ? UNKNOWN : '"result":'}`),
        filled ?? Buffer.from(result ?? ''),
        Buffer.from('}'),
      ];
      if (whole && filled) response.once('close', () => whole.template.spare.push(filled));
      const length = parts.reduce((sum, part) => sum + part.byteLength, 0);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
      response.cork();
      for (const part of parts) response.write(part);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    send({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  process.on('message', (message: SetHead) => {
    if ('head' in message) head = message.head;
    else paid = makeTemplates(message.watched);
  });
  process.on('disconnect', () => process.exit());
}

// Imported for its names by whoever started it.
if (process.argv[1] === import.meta.filename && process.send) serve((message) => process.send?.(message));
