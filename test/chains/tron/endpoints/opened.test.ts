// What the settings make of the reader: the token that it demands, and what the day's requests are for.
import { expect } from 'chai';
import { AddressSet } from '../../../../src/chains/address-set.ts';
import { ChainMismatch } from '../../../../src/chains/rpc/errors.ts';
import { openTron } from '../../../../src/chains/tron/open.ts';
import { loadConfig } from '../../../../src/config/index.ts';
import { recordedAs } from '../../../dev/tron/recorded.ts';
import { type Answer, CONTRACT, GENESIS, type TestNode, testNodes } from './node.ts';

const { signal } = new AbortController();
const HEIGHT = 72;
const TIME_MS = 1_795_257_474_000;

const recorded = (name: string) => recordedAs(`wallet_triggerconstantcontract__${name}`).response;
const resultOf = (word: string) => ({ result: { result: true }, constant_result: [word] });
const result = (value: bigint) => resultOf(value.toString(16).padStart(64, '0'));
const idAt = (height: number) => height.toString(16).padStart(16, '0').padEnd(64, 'e');

describe('Tron as it is opened', () => {
  const nodes = testNodes(1);
  let node: TestNode;
  beforeEach(() => {
    [node] = nodes as [TestNode];
  });

  const readerOf = (perDay = 100_000) => {
    const { tron } = loadConfig({
      TRON_API_URLS: node.url,
      TRON_USDT_CONTRACT: CONTRACT,
      TRON_REQUESTS_PER_SECOND: '10000',
      TRON_REQUESTS_PER_DAY: String(perDay),
    }).chains;
    return openTron(tron, { onEndpoint: () => undefined }).reader;
  };
  const answers = (path: string, json: unknown): void => {
    node.fault = ({ url }): Answer | undefined => (url.endsWith(path) ? { json } : undefined);
  };

  it('proves that its token has 6 decimals, and refuses another one, another contract, or none', async () => {
    answers('triggerconstantcontract', recorded('decimals'));
    expect(await readerOf().checkIdentity(signal)).to.equal(GENESIS);
    const none = /^there is no token contract at \w+ on tron: correct TRON_USDT_CONTRACT or TRON_API_URLS$/;
    const has = `the USDT contract ${CONTRACT} on tron has`;
    const wrong = [0n, 5n, 7n, 18n, 6n + 2n ** 64n].map(
      (count) =>
        [result(count), new RegExp(`^${has} ${count} decimals, not 6: correct TRON_USDT_CONTRACT$`)] as const,
    );
    for (const [json, said] of [
      ...wrong,
      [recorded('revert_message'), / refuses decimals\(\): correct TRON_USDT_CONTRACT$/],
      [recorded('no_contract'), none],
      [resultOf('06'), none],
    ] as const) {
      answers('triggerconstantcontract', json);
      const failure = await readerOf()
        .checkIdentity(signal)
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ChainMismatch);
      expect((failure as Error).message).to.match(said);
    }
  });

  it('reads each block twice from 92,000 requests a day on, and below that those alone that touch us', async () => {
    const block = { number: HEIGHT, hash: idAt(HEIGHT), parentHash: idAt(HEIGHT - 1), timestampMs: TIME_MS };
    const quiet = { ...block, fingerprint: 'ab'.repeat(32) };
    answers('gettransactioninfobyblocknum', []);
    const confirmed = (perDay: number) => readerOf(perDay).confirm?.(quiet, new AddressSet(), signal);
    const asked = () => node.count('/walletsolidity/gettransactioninfobyblocknum');
    expect([await confirmed(91_999), asked()]).to.deep.equal([true, 0]);
    const finalMs = (perDay: number) => readerOf(perDay).pace.final.outstandingMs;
    expect([149_999, 150_000].map(finalMs), 'what is final, sooner where it may').to.deep.equal([
      45_000, 6_000,
    ]);
    expect([await confirmed(92_000), asked()], 'no infos prove nothing').to.deep.equal([undefined, 1]);
  });
});
