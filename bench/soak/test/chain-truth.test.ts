import { expect } from 'chai';
import { readChain } from '../bsc/truth.ts';
import { BLOCK, hex } from './parts.ts';
import { ANN, BEN } from './world.ts';

const UNIT = 10n ** 18n;

describe("the soak's reading of BNB Chain", () => {
  it('reads credit-worthy movements out of blocks, receipts and traces, and nothing else', async () => {
    const pad = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`;
    const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
    const [usdt, payer, gas, shop] = [hex('dd', 20), hex('ee', 20), hex('6a', 20), hex('5b', 20)];
    const log = (to: string, units: bigint, address = usdt, from = payer) => ({
      address,
      topics: [TRANSFER, pad(from), pad(to)],
      data: `0x${units.toString(16).padStart(64, '0')}`,
    });
    const coins = (count: bigint) => `0x${(count * UNIT).toString(16)}`;
    const quiet = { type: 'CALL', from: payer, to: payer };
    type Sent = {
      hash: string;
      from?: string;
      to?: string | null;
      value?: string;
      status?: string;
      logs?: unknown[];
      trace?: unknown;
    };
    const sent: Sent[] = [
      { hash: hex('01'), to: ANN, value: coins(9n) },
      { hash: hex('02'), to: ANN, value: coins(9n), status: '0x0' },
      { hash: hex('03'), to: ANN, value: coins(9n), from: BEN },
      {
        hash: hex('04'),
        logs: [
          log(ANN, 4n * UNIT),
          log(ANN, 3n * UNIT),
          log(BEN, 2n * UNIT),
          log(ANN, 8n * UNIT, hex('fa', 20)),
          log(ANN, 0n),
          log(ANN, 5n * UNIT, usdt, BEN),
        ],
      },
      { hash: hex('06'), logs: [log(ANN, 2n), log(ANN, 3n)] },
      { hash: hex('07'), to: BEN, value: '0x64', from: gas },
      { hash: hex('08'), to: usdt, from: BEN, logs: [log(shop, 5n, usdt, BEN), log(shop, 6n, usdt, ANN)] },
      { hash: hex('09'), to: shop, value: coins(9n), from: BEN, status: '0x0' },
      {
        hash: hex('05'),
        trace: {
          ...quiet,
          calls: [
            { type: 'CALL', from: payer, to: ANN, value: coins(1n) },
            { type: 'SELFDESTRUCT', from: payer, to: ANN, value: coins(16n) },
            { type: 'DELEGATECALL', from: payer, to: ANN, value: coins(256n) },
            {
              type: 'CALL',
              from: payer,
              to: BEN,
              value: coins(4096n),
              error: 'reverted',
              calls: [{ type: 'CALL', from: payer, to: ANN, value: coins(7n) }],
            },
          ],
        },
      },
    ];
    const rpc = (method: string, params: readonly unknown[]): Promise<unknown> => {
      const one = sent.find(({ hash }) => hash === params[0]);
      const answers: Record<string, unknown> = {
        eth_blockNumber: '0x0',
        eth_getBlockByNumber: {
          number: '0x0',
          hash: BLOCK,
          parentHash: hex('0'),
          transactions: sent.map(({ hash, from = payer, to = payer, value = '0x0' }, index) => ({
            hash,
            from,
            to,
            value,
            nonce: `0x${index.toString(16)}`,
          })),
        },
        eth_getTransactionReceipt: {
          status: one?.status ?? '0x1',
          logs: one?.logs ?? [],
          gasUsed: '0x10',
          effectiveGasPrice: '0x3',
        },
        debug_traceTransaction: one?.trace ?? quiet,
      };
      return Promise.resolve(answers[method]);
    };
    const own = new Set([ANN, BEN]);
    const rules = { usdt, own, gas: new Set([gas]), destinations: new Set([shop]) };
    const truth = await readChain(rpc, { ...rules, live: new Set([ANN, BEN]) });
    const credited = [...truth.credits].map(([key, one]) => [key, one.amountUnits]);
    expect(credited).to.deep.equal([
      [`bsc ${hex('01')} ${ANN} BNB`, 9n * UNIT],
      [`bsc ${hex('04')} ${ANN} USDT`, 7n * UNIT],
      [`bsc ${hex('04')} ${BEN} USDT`, 2n * UNIT],
      [`bsc ${hex('05')} ${ANN} BNB`, 17n * UNIT],
    ]);
    expect(truth.arrived.get(`bsc ${ANN} BNB`)).to.equal(35n * UNIT);
    expect(truth.arrived.get(`bsc ${ANN} USDT`)).to.equal(12n * UNIT + 5n);
    expect([...truth.strange]).to.deep.equal([
      [`bsc ${hex('04')} ${ANN}`, 8n * UNIT],
      [`bsc ${hex('06')} ${ANN}`, 5n],
    ]);
    const tested = await readChain(rpc, { ...rules, live: new Set([BEN]) });
    expect([...tested.credits.keys()]).to.deep.equal([`bsc ${hex('04')} ${BEN} USDT`]);
    expect(tested.strange.get(`bsc ${hex('01')} ${ANN}`)).to.equal(9n * UNIT);
    // What arrives from a wallet for gas is neither a deposit nor strange.
    expect(truth.arrived.get(`bsc ${BEN} BNB`)).to.equal(100n);
    expect(truth.uncredited.get(`bsc ${BEN} BNB`)).to.equal(undefined);
    expect(truth.arrived.get(`bsc ${shop} USDT`)).to.equal(11n);
    expect(truth.uncredited.get(`bsc ${ANN} BNB`)).to.equal(9n * UNIT);
    const common = { network: 'bsc', feeUnits: 48n, ok: true };
    const coin = (to: string, amountUnits: bigint) => ({ to, currency: 'BNB', amountUnits });
    expect(truth.sent).to.deep.equal([
      { ...common, hash: hex('03'), from: BEN, nonce: 2, moves: [coin(ANN, 9n * UNIT)] },
      { ...common, hash: hex('07'), from: gas, nonce: 5, moves: [coin(BEN, 100n)] },
      {
        ...common,
        hash: hex('08'),
        from: BEN,
        nonce: 6,
        moves: [{ to: shop, currency: 'USDT', amountUnits: 5n }],
      },
      { ...common, hash: hex('09'), from: BEN, nonce: 7, ok: false, moves: [] },
    ]);
  });
});
