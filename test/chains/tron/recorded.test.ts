import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EndpointFailure } from '../../../src/chains/rpc/errors.ts';
import { createBudget } from '../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../src/chains/tron/protocol.ts';
import { startNode, type TestNode } from './endpoints/node.ts';

type Recorded = { readonly http_status: number; readonly response: unknown };

const RECORDED = JSON.parse(
  readFileSync(new URL('../../vectors/tron/refusals.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Recorded>>;

/** Java exceptions and unknown paths; whatever else was recorded is a value, also a refused broadcast. */
const ERRORS: Readonly<Record<string, RegExp>> = {
  http__bad_json: /^an error: class com\.alibaba\.fastjson\.JSONException : unterminated json string/,
  http__post_without_content_type_json: /^an error: class com\.alibaba.* : error parse null$/,
  http__unknown_path: /^http 405 \(wallet\/asked is not served here/,
  http__unknown_path_get: /^http 404 \(wallet\/asked is not served here/,
  http__walletsolidity_path_on_8090: /^http 405 \(wallet\/asked is not served here/,
  http__walletsolidity_path_on_8090_get: /^http 404 \(wallet\/asked is not served here/,
  wallet_broadcasttransaction__bad_json: /^an error: class com\.alibaba\.fastjson\.JSONException/,
  wallet_broadcasttransaction__empty_object: /^an error: class java\.lang\.NullPointerException/,
  wallet_broadcasttransaction__only_raw_data_hex: /^an error: class java\.lang\.NullPointerException/,
  wallet_createtransaction__insufficient: /ContractValidateException : Validate TransferContract error/,
  wallet_createtransaction__to_contract: /ContractValidateException : Cannot transfer TRX to a smartContract/,
  wallet_createtransaction__to_self: /ContractValidateException : Cannot transfer TRX to yourself/,
  wallet_createtransaction__unactivated_owner: /ContractValidateException : .* no OwnerAccount\.$/,
  wallet_createtransaction__zero: /ContractValidateException : Amount must be greater than 0\.$/,
  wallet_getaccount__bad_address: /JsonFormat\$ParseException : 1:12: INVALID hex String$/,
  wallet_getaccount__base58_without_visible: /JsonFormat\$ParseException : 1:12: INVALID hex String$/,
  wallet_getblockbynum__num_as_string: /JsonFormat\$ParseException : 1:8: Couldn't parse integer/,
  wallet_gettransactionbyid__bad_id: /JsonFormat\$ParseException : 1:10: INVALID hex String$/,
};

describe('the recorded answers of a real node', () => {
  let node: TestNode;
  before(async () => {
    node = await startNode();
  });
  after(() => node?.stop());

  const { signal } = new AbortController();
  const ask = (answer: Recorded): Promise<unknown> => {
    const { http_status: status, response } = answer;
    const text = typeof response === 'string' ? response : JSON.stringify(response);
    node.fault = ({ url }) => (url.includes('asked') ? { status, text } : undefined);
    const pool = createTronPool({
      name: 'tron',
      urls: [node.url],
      budget: createBudget({ perDay: 1_000, perSecond: 1_000 }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
    });
    const outcome = pool.aside(
      (session) => session.call('wallet/asked', {}).catch((error: unknown) => error),
      signal,
    );
    return outcome;
  };

  for (const [name, answer] of Object.entries(RECORDED)) {
    const error = ERRORS[name];
    it(`${name} is ${error ? 'an error of the endpoint' : 'a value'}`, async () => {
      const outcome = await ask(answer);
      if (!error) {
        expect(outcome).to.deep.equal(answer.response);
        return;
      }
      expect(outcome).to.be.instanceOf(EndpointFailure);
      expect((outcome as EndpointFailure).message).to.match(error);
      expect((outcome as EndpointFailure).throttled).to.equal(false);
      expect((outcome as EndpointFailure).notOffered).to.equal(answer.http_status !== 200);
    });
  }

  it('are all there', () => {
    const names = Object.keys(RECORDED);
    expect(names).to.include.members(Object.keys(ERRORS));
    expect(names.filter((name) => name.includes('broadcast'))).to.have.length.above(30);
  });
});
