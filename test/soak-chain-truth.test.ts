import { expect } from 'chai';
import { readChain } from '../bench/soak/oracle/chain-truth.ts';
import { ANN, BEN, BLOCK, hex } from './support/soak-world.ts';

describe("the soak's reading of the chain", () => {
  it('reads credit-worthy movements out of blocks, receipts and traces, and nothing else', async () => {
    const pad = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`;
    const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
    const [usdt, payer] = [hex('dd', 20), hex('ee', 20)];
    const log = (to: string, units: bigint, address = usdt, from = payer) => ({
      address,
      topics: [TRANSFER, pad(from), pad(to)],
      data: `0x${units.toString(16).padStart(64, '0')}`,
    });
    const quiet = { type: 'CALL', from: payer, to: payer };
    type Sent = { hash: string; from?: string; to?: string | null; value?: string; status?: string; logs?: unknown[]; trace?: unknown };
    const sent: Sent[] = [
      { hash: hex('01'), to: ANN, value: '0x9' },
      { hash: hex('02'), to: ANN, value: '0x9', status: '0x0' },
      { hash: hex('03'), to: ANN, value: '0x9', from: BEN },
      {
        hash: hex('04'),
        logs: [log(ANN, 4n), log(ANN, 3n), log(BEN, 2n), log(ANN, 8n, hex('fa', 20)), log(ANN, 0n), log(ANN, 5n, usdt, BEN)],
      },
      {
        hash: hex('05'),
        trace: {
          ...quiet,
          calls: [
            { type: 'CALL', from: payer, to: ANN, value: '0x1' },
            { type: 'SELFDESTRUCT', from: payer, to: ANN, value: '0x10' },
            { type: 'DELEGATECALL', from: payer, to: ANN, value: '0x100' },
            {
              type: 'CALL',
              from: payer,
              to: BEN,
              value: '0x1000',
              error: 'reverted',
              calls: [{ type: 'CALL', from: payer, to: ANN, value: '0x7' }],
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
          ...{ number: '0x0', hash: BLOCK, parentHash: hex('0') },
          transactions: sent.map(({ hash, from = payer, to = payer, value = '0x0' }) => ({ hash, from, to, value })),
        },
        eth_getTransactionReceipt: { status: one?.status ?? '0x1', logs: one?.logs ?? [] },
        debug_traceTransaction: one?.trace ?? quiet,
      };
      return Promise.resolve(answers[method]);
    };
    const truth = await readChain(rpc, { usdt, live: new Set([ANN, BEN]), own: new Set([ANN, BEN]) });
    const credited = [...truth.credits].map(([key, one]) => [key, one.amountUnits]);
    expect(credited).to.deep.equal([
      [`${hex('01')} ${ANN} BNB`, 9n],
      [`${hex('04')} ${ANN} USDT`, 7n],
      [`${hex('04')} ${BEN} USDT`, 2n],
      [`${hex('05')} ${ANN} BNB`, 0x11n],
    ]);
    expect(truth.arrived.get(`${ANN} BNB`)).to.equal(9n + 9n + 0x11n);
    expect(truth.arrived.get(`${ANN} USDT`)).to.equal(12n);
    expect([...truth.strange]).to.deep.equal([[`${hex('04')} ${ANN}`, 8n]]);
    const tested = await readChain(rpc, { usdt, live: new Set([BEN]), own: new Set([ANN, BEN]) });
    expect([...tested.credits.keys()]).to.deep.equal([`${hex('04')} ${BEN} USDT`]);
    expect(tested.strange.get(`${hex('01')} ${ANN}`)).to.equal(9n);
  });
});
