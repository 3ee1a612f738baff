// What the settings make of the reader: the token that it demands, and what the day's requests are for.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { AddressSet } from '../../../../src/chains/address-set.ts';
import { ChainMismatch } from '../../../../src/chains/rpc/errors.ts';
import { openTron } from '../../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../../src/config/index.ts';
import { type Answer, GENESIS, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const CONTRACT = 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ';
const MIDNIGHT = Date.UTC(2026, 10, 24);
const HOUR_MS = 3_600_000;
const HEIGHT = 72;
const TIME_MS = 1_795_257_474_000;

const recorded = (name: string): unknown => {
  const file = `../../../vectors/tron/wallet_triggerconstantcontract__${name}.json`;
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')).response;
};
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const result = (value: bigint) => ({ result: { result: true }, constant_result: [word(value)] });

describe('Tron as it is opened', () => {
  let node: TestNode;
  const clock = Date.now;
  before(async () => {
    node = await startNode();
  });
  beforeEach(() => {
    node.asked.length = 0;
    node.fault = undefined;
  });
  afterEach(() => {
    Date.now = clock;
  });
  after(() => node?.stop());

  const readerOf = (settings: Readonly<Record<string, string>> = {}) => {
    const env = { TRON_API_URLS: node.url, TRON_USDT_CONTRACT: CONTRACT, TRON_REQUESTS_PER_SECOND: '10000' };
    const { tron } = loadConfig({ ...env, ...settings }).chains;
    return openTron(tron, { onEndpoint: () => undefined }).reader;
  };
  const allowing = (perDay: number) => readerOf({ TRON_REQUESTS_PER_DAY: String(perDay) });
  const answers = (path: string, json: unknown): void => {
    node.fault = ({ url }): Answer | undefined => (url.endsWith(path) ? { json } : undefined);
  };

  describe('proves its token at the start', () => {
    const proved = async (json: unknown): Promise<string> => {
      answers('triggerconstantcontract', json);
      const proof = readerOf().checkIdentity(signal);
      const failure = await proof.catch((error: unknown) => error);
      if (typeof failure === 'string') return failure;
      expect(failure).to.be.instanceOf(ChainMismatch);
      return (failure as Error).message;
    };

    it('which has 6 decimals', async () => {
      expect(await proved(recorded('decimals'))).to.equal(GENESIS);
    });

    for (const decimals of [0n, 5n, 7n, 18n, 6n + 2n ** 64n])
      it(`and is refused with ${decimals}`, async () => {
        const message = `the USDT contract ${CONTRACT} on tron has ${decimals} decimals, not 6: correct TRON_USDT_CONTRACT`;
        expect(await proved(result(decimals))).to.equal(message);
      });

    it('and is refused where it is another contract, or none', async () => {
      expect(await proved(recorded('revert_message'))).to.match(
        / refuses decimals\(\): correct TRON_USDT_CONTRACT$/,
      );
      const none = /^there is no token contract at \w+ on tron: correct TRON_USDT_CONTRACT or TRON_API_URLS$/;
      expect(await proved(recorded('no_contract'))).to.match(none);
      expect(await proved({ result: { result: true }, constant_result: ['06'] })).to.match(none);
    });
  });

  describe('reads each block twice', () => {
    /** Whether the infos of a block that touched nobody are asked for again. */
    const asksAgain = async (perDay: number): Promise<boolean> => {
      node.asked.length = 0;
      answers('gettransactioninfobyblocknum', []);
      const id = (number: number) => number.toString(16).padStart(16, '0').padEnd(64, 'e');
      const block = { number: HEIGHT, hash: id(HEIGHT), parentHash: id(HEIGHT - 1), timestampMs: TIME_MS };
      const quiet = { ...block, fingerprint: 'ab'.repeat(32) };
      const confirmed = await allowing(perDay).confirm?.(quiet, new AddressSet(), signal);
      const asked = node.count('/walletsolidity/gettransactioninfobyblocknum') > 0;
      expect(confirmed, 'an endpoint without infos proves nothing').to.equal(asked ? undefined : true);
      return asked;
    };

    it('from 92,000 requests a day on, and below that those alone that touch us', async () => {
      expect(await asksAgain(92_000)).to.equal(true);
      expect(await asksAgain(91_999)).to.equal(false);
    });
  });

  describe('compares balances', () => {
    const ours = keyOfHex('c0'.repeat(20));
    /** How many addresses' balances are asked for, of so many, where a day allows so much at that hour. */
    const compared = async (perDay: number, hour: number, wanted: number): Promise<number> => {
      Date.now = () => MIDNIGHT + hour * HOUR_MS;
      node.fault = ({ url }): Answer | undefined => {
        if (url.endsWith('/getblock')) return { json: headerAt(HEIGHT) };
        return url.endsWith('triggerconstantcontract') ? { json: result(5n) } : undefined;
      };
      node.asked.length = 0;
      const balances = await allowing(perDay).currentBalances?.(new Array(wanted).fill(ours), signal);
      const asked = node.count('/walletsolidity/getaccount');
      expect(balances?.rows.length ?? 0).to.equal(asked);
      if (!balances) expect(node.asked, 'not even what is final').to.deep.equal([]);
      return asked;
    };
    const headerAt = (number: number): object => {
      const id = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'e');
      const raw = { number, timestamp: TIME_MS, parentHash: id(number - 1) };
      return { blockID: id(number), block_header: { raw_data: raw } };
    };

    it('from what following does not need until midnight, where each block is read twice', async () => {
      expect(await compared(92_000, 0, 1), 'nothing is left').to.equal(0);
      expect(await compared(92_041, 0, 20), 'two for each address, and two').to.equal(0);
      expect(await compared(92_042, 0, 20)).to.equal(20);
      expect(await compared(92_000, 12, 20), 'half of the day was not used').to.equal(20);
    });

    it('from what it does not need where only blocks that touch us are', async () => {
      expect(await compared(75_041, 0, 20)).to.equal(0);
      expect(await compared(75_042, 0, 20)).to.equal(20);
      expect(await compared(60_000, 0, 1)).to.equal(0);
    });
  });
});
