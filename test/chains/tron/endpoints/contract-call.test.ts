import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { EndpointFailure, RpcRejected, RpcUnavailable } from '../../../../src/chains/rpc/errors.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import {
  callTronContract,
  callTronContractOver,
  type TronContractCall,
} from '../../../../src/chains/tron/contract-call.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool, type TronPool } from '../../../../src/chains/tron/protocol.ts';
import { GENESIS, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const NOBODY = `41${'0'.repeat(40)}`;
const HOLDER = '46817d5bac6d20e92b9d5ae142a19d57b10d16af';
const hex = (text: string): string => Buffer.from(text, 'utf8').toString('hex');

type Body = Readonly<Record<string, string>>;
type Recorded = { readonly request: { readonly body: Body }; readonly response: unknown };

function recorded(name: string): Recorded {
  const file = new URL(`../../../vectors/tron/wallet_triggerconstantcontract__${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
}

describe('calls of contracts on Tron', () => {
  let node: TestNode;
  let second: TestNode;
  before(async () => {
    [node, second] = await Promise.all([startNode(), startNode()]);
  });
  after(() => {
    node?.stop();
    second?.stop();
  });

  const poolOf = (...nodes: readonly TestNode[]): TronPool =>
    createTronPool({
      name: 'tron',
      urls: nodes.map(({ url }) => url),
      budget: createBudget({ perDay: 1_000, perSecond: 1_000 }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ', known: GENESIS }),
      timeoutMs: 300,
    });
  const answerWith = (json: unknown): void => {
    node.fault = ({ url }) => (url.endsWith('triggerconstantcontract') ? { json } : undefined);
  };

  /** Asks as the recorded request was asked, and gets what the node said then. */
  async function ask(name: string): Promise<string> {
    const { request, response } = recorded(name);
    answerWith(response);
    const { contract_address: address = '', function_selector: method = '', parameter } = request.body;
    const call: TronContractCall = {
      contract: keyOfHex(address, 2),
      method,
      ...(parameter === undefined ? {} : { parameter }),
    };
    return await poolOf(node).aside((session) => callTronContract(session, call), signal);
  }
  const sent = (): Body => JSON.parse(node.asked.findLast(({ url }) => url.includes('trigger'))?.body ?? '');

  it('are asked for by the signature of the method, which every version of a node takes', async () => {
    await ask('decimals');
    expect(sent()).to.deep.equal({ ...recorded('decimals').request.body, owner_address: NOBODY });
    await ask('balanceOf_zero_owner');
    expect(sent()).to.deep.equal(recorded('balanceOf_zero_owner').request.body);
    expect(sent()).to.include({ parameter: HOLDER.padStart(64, '0') });
  });

  it('give what the contract returns', async () => {
    expect(BigInt(await ask('decimals'))).to.equal(6n);
    expect(BigInt(await ask('balanceOf'))).to.equal(10n ** 15n);
    expect(await ask('symbol')).to.have.length(2 + 3 * 64);
  });

  it('give nothing where there is no contract', async () => {
    expect(await ask('no_contract')).to.equal('0x');
  });

  for (const name of ['revert_message', 'unknown_function'])
    it(`are refused, not answered, where the contract reverts: ${name}`, async () => {
      const outcome = await ask(name).catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(RpcRejected);
    });

  it('find the endpoint at fault that says anything else', async () => {
    const good = recorded('decimals').response as object;
    const answers: readonly [answer: unknown, said: RegExp][] = [
      [recorded('no_owner').response, /no result of a contract call/],
      [{}, /no result/],
      [[], /no result/],
      [{ ...good, result: {} }, /no result/],
      [{ ...good, constant_result: [] }, /no result/],
      [{ ...good, constant_result: ['0x06'] }, /no result/],
      [{ ...good, constant_result: [6] }, /no result/],
      [
        { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hex('this node does not support constant') } },
        /runs no calls of contracts \(set vm\.supportConstant\)/,
      ],
    ];
    const call: TronContractCall = { contract: keyOfHex(HOLDER), method: 'decimals()' };
    for (const [answer, said] of answers) {
      answerWith(answer);
      const outcome = await poolOf(node).aside(
        (session) => callTronContract(session, call).catch((error: unknown) => error),
        signal,
      );
      expect(outcome, JSON.stringify(answer)).to.be.instanceOf(EndpointFailure);
      expect((outcome as EndpointFailure).message).to.match(said);
    }
  });

  it('go to another endpoint where one fails, and leave both their place', async () => {
    node.fault = () => ({ status: 503, text: '' });
    second.fault = ({ url }) =>
      url.includes('trigger') ? { json: recorded('decimals').response } : undefined;
    const pool = poolOf(node, second);
    const call = callTronContractOver(pool);
    const question = { to: TRON_ADDRESSES.format(keyOfHex(HOLDER)), method: 'decimals()' };
    expect(BigInt(await call(question, signal))).to.equal(6n);
    second.fault = () => 'hang';
    expect(await call(question, signal).catch((error: unknown) => error)).to.be.instanceOf(RpcUnavailable);
    expect(pool.status().map(({ problem }) => problem)).to.deep.equal([null, null]);
  });
});
