import { expect } from 'chai';
import type { Answer, Fault, FaultProxy } from '../../../../dev/support/fault-proxy.ts';
import { always, changed } from '../../../../dev/support/faults.ts';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import type { SpendOrder } from '../../../../src/chains/spending.ts';
import type { SignedTransfer } from '../../../../src/chains/transfer.ts';
import { BNB, PATH_KEY, type Stage, standing, startStage, termsOf } from './stage.ts';

const { signal } = new AbortController();
const SHOP = keyOfHex('c0'.repeat(20));
const SEND = 'eth_sendRawTransaction';

describe('signed bytes for BNB Chain', function () {
  this.timeout(60_000);
  let the: Stage;

  before(async () => {
    the = await startStage();
  });
  beforeEach(() => {
    for (const endpoint of [the.first, the.second]) {
      endpoint.fault = undefined;
      endpoint.calls.length = 0;
    }
  });
  after(() => the?.stop());

  const both = (): readonly FaultProxy[] => [the.first, the.second];
  const hostOf = ({ url }: FaultProxy): string => new URL(url).host;
  const signed = async (): Promise<SignedTransfer> => {
    const from = await the.wallet({ coins: BNB });
    const order: SpendOrder = { from, to: SHOP, kind: 'native', units: BNB };
    return the.sign(order, termsOf(await the.open().spending.quote(order, {}, signal)));
  };
  const says =
    (message: string): Fault =>
    (call) =>
      call.method === SEND ? { json: { id: call.id, error: { code: -32_000, message } } } : undefined;
  const sends =
    (answer: Answer): Fault =>
    (call) =>
      call.method === SEND ? answer : undefined;

  it('go to every endpoint, the same each time, and each is told of', async () => {
    const { raw, hash } = await signed();
    const bytes = `0x${raw.toString('hex')}`;
    the.second.fault = (call) => (call.method === SEND ? { json: { id: call.id, result: hash } } : undefined);
    const { spending } = the.open({ endpoints: both() });
    const takes = both().map((endpoint) => `${hostOf(endpoint)}: takes it`);
    expect(await spending.broadcast(raw, signal)).to.deep.equal(takes);
    const again = await spending.broadcast(raw, signal);
    expect(again).to.have.length(2);
    for (const { calls } of both())
      expect(calls.filter(({ method }) => method === SEND).map(({ params }) => params)).to.deep.equal([
        [bytes],
        [bytes],
      ]);
    await the.chain.mine();
    expect((await the.receipt(hash))?.ok).to.equal(true);
    expect(await spending.broadcast(raw, signal), 'after it was mined').to.have.length(2);
  });

  it('are in a block, or denied, by that block of the chain that an endpoint keeps, whatever its index has', async () => {
    const { raw, hash } = await signed();
    const { spending } = the.open({ endpoints: [the.first] });
    await spending.broadcast(raw, signal);
    const number = await the.chain.mine();
    const { hash: block } = (await the.open().reader.header(number, signal)) ?? { hash: '' };
    const said = async (at = block, fault?: Fault) => {
      the.first.fault = fault;
      const { asked: _, ...rest } = await spending.outcomes(hash, { number, hash: at }, signal);
      return Object.entries(rest).flatMap(([word, by]) => (by.length > 0 ? [word] : []));
    };
    expect(await said()).to.deep.equal(['succeeded', 'held']);
    const failed = (list: object[]) => list.map((one) => ({ ...one, status: '0x0' }));
    expect(await said(block, changed('eth_getBlockReceipts', failed))).to.deep.equal(['failed', 'held']);
    const pruned: Fault = ({ method, id }) => {
      if (method === 'eth_getBlockReceipts') return { json: { id, error: { code: -32_601, message: 'no' } } };
      return method === 'eth_getTransactionReceipt' ? { json: { id, result: null } } : undefined;
    };
    expect(await said(block, pruned), 'a pruned index').to.deep.equal(['held']);
    expect(await said(`0x${'ee'.repeat(32)}`), 'another block').to.deep.equal(['absent']);
    const without = changed('eth_getBlockByNumber', (one: object) => ({ ...one, transactions: [] }));
    expect(await said(block, without), 'the block without it').to.deep.equal(['absent']);
    expect(
      await said(
        block,
        changed('eth_getBlockByNumber', () => null),
      ),
      'no such block',
    ).to.deep.equal([]);
  });

  it('reach one endpoint while another one knows them already, or hangs', async () => {
    for (const [fault, said] of [
      [says('already known'), 'rpc error -32000 already known'],
      [always('hang'), 'no answer within 5 s'],
    ] as const) {
      const { raw, hash } = await signed();
      the.first.fault = fault;
      const { spending } = the.open({ endpoints: both(), patience: 1 });
      expect(await spending.broadcast(raw, signal)).to.deep.equal([
        `${hostOf(the.first)}: ${said}`,
        `${hostOf(the.second)}: takes it`,
      ]);
      await the.chain.mine();
      expect((await the.receipt(hash))?.ok).to.equal(true);
      the.first.fault = undefined;
    }
  });

  it('prove nothing by what is said of them, and nothing is held against who says it', async () => {
    const { raw } = await signed();
    const chain = the.open({ endpoints: both() });
    await chain.reader.head(signal);
    const before = chain.endpoints().map(standing);
    for (const message of ['nonce too low', 'insufficient funds for gas * price + value', 'txpool is full']) {
      the.first.fault = says(message);
      the.second.fault = says(message);
      const answers = await chain.spending.broadcast(raw, signal);
      expect(answers.map((text) => text.replace(/^.*: (rpc error -32000 )?/, ''))).to.deep.equal([
        message,
        message,
      ]);
      expect(chain.endpoints().map(standing)).to.deep.equal(before);
    }
  });

  it('never throw for an answer, nor where no endpoint is there', async () => {
    const { raw } = await signed();
    const ANSWERS: readonly [Fault, RegExp][] = [
      [always('reset'), /connection failed/],
      [always({ status: 503, body: '<html>' }), /http 503/],
      [always({ status: 200, body: 'yes' }), /not JSON/],
      [sends({ json: { id: 'x', result: '0x' } }), /another request/],
      [
        (call) => (call.method === SEND ? { json: { id: call.id, result: null } } : undefined),
        /something else/,
      ],
      [(call) => ({ json: { id: call.id, result: '0x61' } }), /serves chain id 97 instead of 56/],
    ];
    for (const [fault, said] of ANSWERS) {
      the.first.fault = fault;
      const answers = await the.open().spending.broadcast(raw, signal);
      expect(answers).to.have.length(1);
      expect(answers[0]).to.match(said);
    }
  });

  it('are paid for as an endpoint names it from then on, where none takes them', async () => {
    const { raw } = await signed();
    const names = says('transaction underpriced: gas tip cap 2, minimum needed 4000000000');
    const { spending } = the.open({ endpoints: both() });
    const order: SpendOrder = {
      from: await the.wallet({ coins: BNB }),
      to: SHOP,
      kind: 'native',
      units: BNB,
    };
    const paid = async () => BigInt(termsOf(await spending.quote(order, {}, signal)).terms['gas_price'] ?? 0);
    the.first.fault = names;
    await spending.broadcast(raw, signal);
    expect((await paid()) < 4_000_000_000n, 'the other one takes them').to.equal(true);
    the.second.fault = names;
    await spending.broadcast(raw, signal);
    expect(await paid()).to.equal(4_500_000_000n);
  });

  it('are in no text, and no key of an endpoint is', async () => {
    const { raw } = await signed();
    const bytes = raw.toString('hex');
    for (const message of [
      `invalid transaction 0x${bytes} for ${PATH_KEY}`,
      `${bytes.toUpperCase()} ${PATH_KEY}`,
      `post https://node.example/v3/${PATH_KEY}\n${'x'.repeat(1_048_576)}`,
    ]) {
      the.first.fault = says(message);
      const [text = ''] = await the.open().spending.broadcast(raw, signal);
      expect(text)
        .to.match(/^127\.0\.0\.1:\d+: rpc error -32000 /)
        .and.contain('***');
      expect(text.length).to.be.lessThan(200);
      expect(text.toLowerCase()).not.to.contain(bytes.slice(0, 70));
      expect(text).not.to.match(new RegExp(`${PATH_KEY}|\n`));
    }
  });
});
