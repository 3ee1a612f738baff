import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import { EndpointFailure, RpcRejected } from '../../../../src/chains/rpc/errors.ts';
import { callTronContract } from '../../../../src/chains/tron/contract-call.ts';
import { recordedAs } from '../../../dev/tron/recorded.ts';
import { failureOf } from '../../conformance/scene.ts';
import { poolOf, testNodes } from './node.ts';

const { signal } = new AbortController();
const recorded = (name: string) => recordedAs(`wallet_triggerconstantcontract__${name}`);

describe('calls of contracts on Tron', () => {
  const nodes = testNodes(2);
  const answerWith = (json: unknown, at = 0): void => {
    Object.assign(nodes[at] ?? {}, {
      fault: ({ url }: { url: string }) => (url.endsWith('triggerconstantcontract') ? { json } : undefined),
    });
  };
  /** Asks as the recorded request was asked, and gets what the node said then, or this. */
  const ask = async (name: string, instead?: unknown): Promise<string> => {
    const { request, response } = recorded(name);
    answerWith(instead ?? response);
    const { contract_address: address, function_selector: method, parameter } = request.body;
    const call = {
      contract: keyOfHex(address, 2),
      method,
      ...(parameter === undefined ? {} : { parameter }),
    };
    return await poolOf(nodes.slice(0, 1)).aside(
      (session) =>
        callTronContract(session, call).catch((error: unknown) => {
          throw error instanceof EndpointFailure ? new Error(`of the endpoint: ${error.message}`) : error;
        }),
      signal,
    );
  };
  const sent = (): unknown =>
    JSON.parse(nodes[0]?.asked.findLast(({ url }) => url.includes('trigger'))?.body ?? '');

  it('are asked for by the signature of the method, and give what the contract returns', async () => {
    expect(BigInt(await ask('decimals'))).to.equal(6n);
    const nobody = { owner_address: `41${'0'.repeat(40)}` };
    expect(sent()).to.deep.equal({ ...recorded('decimals').request.body, ...nobody });
    expect(BigInt(await ask('balanceOf'))).to.equal(10n ** 15n);
    expect(await ask('no_contract')).to.equal('0x');
  });

  it('are refused, not answered, where the contract reverts, and find the endpoint at fault otherwise', async () => {
    for (const name of ['revert_message', 'unknown_function'])
      expect(await failureOf(ask(name)), name).to.be.instanceOf(RpcRejected);
    const good = recorded('decimals').response;
    const message = Buffer.from('this node does not support constant').toString('hex');
    const unsupported = { result: { code: 'CONTRACT_VALIDATE_ERROR', message } };
    const none = [{}, [], { ...good, result: {} }, recorded('no_owner').response];
    for (const answer of [...none, { ...good, constant_result: [6] }, unsupported])
      expect(String(await failureOf(ask('decimals', answer))), JSON.stringify(answer)).to.include(
        answer === unsupported
          ? 'of the endpoint: the node runs no calls of contracts (set vm.supportConstant)'
          : 'of the endpoint: no result of a contract call',
      );
  });
});
