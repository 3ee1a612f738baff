// Every recorded request in an equivalent situation on the double.
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { type Answer, prefixed } from './asking.ts';
import type { World } from './world.ts';

type Body = object | string | undefined;
/** The body that is sent in place of the recorded one; it may make something happen first. */
export type Case = (world: World, recorded: Answer) => Body | Promise<Body>;

const same: Case = (_world, recorded) => recorded;
const of =
  (name: keyof World['people']): Case =>
  ({ people }) => ({ address: TRON_ADDRESSES.format(people[name].address), visible: true });
const constant =
  (selector: string | undefined, parameter = '', owner: keyof World['people'] = 'alice'): Case =>
  ({ people, token, reverter }) => ({
    owner_address: prefixed(people[owner].address),
    contract_address: prefixed(selector === undefined ? reverter.key : token.key),
    function_selector: selector ?? 'any()',
    parameter,
    fee_limit: 100_000_000,
  });
const word = (hex: string): string => hex.padStart(64, '0');
const balanceOf =
  (name: keyof World['people'], more: object = {}): Case =>
  async (world, recorded) => ({
    ...((await constant('balanceOf(address)', word(world.people[name].address))(world, recorded)) as object),
    ...more,
  });
const transferTo =
  (name: keyof World['people'], units: bigint, owner: keyof World['people'] = 'alice'): Case =>
  (world, recorded) =>
    constant(
      'transfer(address,uint256)',
      word(world.people[name].address) + word(units.toString(16)),
      owner,
    )(world, recorded);

const NEW_HOLDER = 'token_transfer_new_holder';

/** Those whose body names something of the recorded network. */
export const CASES: Readonly<Record<string, Case>> = {
  wallet_getblockbynum__empty: ({ node }) => ({ num: node.head().header.number }),
  wallet_gettransactioninfobyblocknum__empty: ({ node }) => ({ num: node.head().header.number }),
  walletsolidity_getblockbylimitnext: ({ heights }) => ({
    startNum: heights.payments - 1,
    endNum: heights.payments + 2,
  }),
  walletsolidity_getblockbynum__not_yet_solid: ({ node }) => ({ num: node.head().header.number }),
  walletsolidity_gettransactioninfobyblocknum__not_yet_solid: ({ node }) => ({
    num: node.head().header.number,
  }),
  walletsolidity_gettransactioninfobyblocknum__before_solidification: ({ node }) => ({
    num: node.head().header.number,
  }),
  wallet_getaccount__delegated_to: of('bob'),
  wallet_getaccount__staked: of('alice'),
  wallet_getaccountresource__delegated_to: of('bob'),
  wallet_getaccountresource__staked: of('alice'),
  wallet_getdelegatedresourcev2: ({ people }) => ({
    fromAddress: prefixed(people.alice.address),
    toAddress: prefixed(people.bob.address),
  }),
  wallet_getaccount__unactivated: of('ivan'),
  walletsolidity_getaccount__activated: of('olaf'),
  walletsolidity_getaccount__unactivated: of('ivan'),
  wallet_getaccountresource__activated: of('grace'),
  wallet_getaccountresource__unactivated: of('ivan'),
  wallet_getcontract__token: ({ token }) => ({ value: prefixed(token.key) }),
  wallet_triggerconstantcontract__balanceOf: balanceOf('alice'),
  wallet_triggerconstantcontract__balanceOf_zero: balanceOf('grace'),
  wallet_triggerconstantcontract__balanceOf_zero_owner: balanceOf('alice', {
    owner_address: prefixed('00'.repeat(20) as never),
  }),
  walletsolidity_triggerconstantcontract__balanceOf: balanceOf('alice'),
  wallet_triggerconstantcontract__decimals: constant('decimals()'),
  wallet_triggerconstantcontract__symbol: constant('symbol()'),
  wallet_triggerconstantcontract__unknown_function: constant('nosuch()'),
  wallet_triggerconstantcontract__revert_message: constant(undefined),
  wallet_triggerconstantcontract__transfer_ok: transferTo('bob', 1n),
  wallet_triggerconstantcontract__zero_transfer_simulated: transferTo('grace', 0n, 'grace'),
  wallet_triggerconstantcontract__no_contract: ({ people }) => ({
    owner_address: prefixed(people.alice.address),
    contract_address: prefixed(people.bob.address),
    function_selector: 'decimals()',
  }),
  wallet_triggerconstantcontract__no_owner: ({ token }) => ({
    contract_address: prefixed(token.key),
    function_selector: 'decimals()',
  }),
};

/** The case of a recorded request: its own, one by the transaction or block that it names, or as it is. */
export function caseOf(recorded: string): Case {
  const own = CASES[recorded];
  if (own) return own;
  const asked = /transaction(?:info)?byid(?:__(\w+?))?(?:__node_without_saveInternalTx)?(_visible)?$/.exec(
    recorded,
  );
  const block = /(?:blocknum|blockbynum)(?:__(payments|contracts|failures)(?:_visible)?)?$/.exec(recorded);
  return async (world, body) => {
    // One that is shown in base58 is there under another name.
    const name = asked?.[1] === undefined || asked[1] === 'token_transfer' ? NEW_HOLDER : asked[1];
    const id = asked && world.ids.get(name);
    if (id !== undefined && id !== null) return { ...body, value: id };
    const height = block && world.heights[(block[1] ?? 'failures') as keyof World['heights']];
    return height ? { ...body, num: height } : await same(world, body);
  };
}
