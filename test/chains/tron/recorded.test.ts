import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { poolOf, testNodes } from './endpoints/node.ts';

type Recorded = { readonly http_status: number; readonly response: unknown };
const FILE = new URL('../../vectors/tron/refusals.json', import.meta.url);
const RECORDED: Readonly<Record<string, Recorded>> = JSON.parse(readFileSync(FILE, 'utf8'));

/** What is said of some of them. */
const SAID: Readonly<Record<string, RegExp>> = {
  http__bad_json: /^an error: class com\.alibaba\.fastjson\.JSONException : unterminated json string/,
  http__unknown_path: /^http 405 \(wallet\/asked is not served here/,
  http__unknown_path_get: /^http 404 \(wallet\/asked is not served here/,
  wallet_broadcasttransaction__empty_object: /^an error: class java\.lang\.NullPointerException/,
  wallet_createtransaction__insufficient: /ContractValidateException : Validate TransferContract error/,
  wallet_getaccount__bad_address: /JsonFormat\$ParseException : 1:12: INVALID hex String$/,
};
/** Java exceptions and unknown paths; whatever else was recorded is a value, also a refused broadcast. */
const isError = ({ http_status: status, response }: Recorded): boolean =>
  status !== 200 || Object.hasOwn(response as object, 'Error');

describe('the recorded answers of a real node', () => {
  const nodes = testNodes(1);
  const { signal } = new AbortController();
  const ask = async ({ http_status: status, response }: Recorded): Promise<unknown> => {
    const text = typeof response === 'string' ? response : JSON.stringify(response);
    for (const node of nodes)
      node.fault = ({ url }) => (url.includes('asked') ? { status, text } : undefined);
    return await poolOf(nodes).aside(
      (session) => session.call('wallet/asked', {}).catch((error: unknown) => error),
      signal,
    );
  };

  for (const [name, answer] of Object.entries(RECORDED))
    it(`${name} is ${isError(answer) ? 'an error of the endpoint' : 'a value'}`, async () => {
      const outcome = await ask(answer);
      if (!isError(answer)) {
        expect(outcome).to.deep.equal(answer.response);
        return;
      }
      expect(outcome).to.be.instanceOf(EndpointFailure);
      const { message, throttled, notOffered } = outcome as EndpointFailure;
      expect(message).to.match(SAID[name] ?? /^(an error: class |http 40[45] )/);
      expect([throttled, notOffered]).to.deep.equal([false, answer.http_status !== 200]);
    });

  it('are all there', () => {
    expect(RECORDED).to.include.keys(Object.keys(SAID));
    expect(Object.values(RECORDED).filter(isError)).to.have.length(18);
  });
});
