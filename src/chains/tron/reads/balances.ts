// What lies on addresses, from the view that nothing can replace. A node tells it of no height but its own.
import type { AddressKey } from '../../address-key.ts';
import type { Balance, CurrentBalances } from '../../reader.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { exactly } from '../block/exact-json.ts';
import { readTronHeader } from '../block/header.ts';
import { membersOf } from '../block/sent-block.ts';
import { readSun, readWord } from '../block/sent-values.ts';
import { NOBODY } from '../contract-call.ts';
import type { TronSession } from '../protocol.ts';

const MAX_ADDRESSES = 500;

/** Requests that the balances of so many addresses take: two each, and what is final before and after. */
export const requestsForBalances = (addresses: number): number => 2 * addresses + 2;

/** The balances of one node, one address after the other, between what it names as final before and after. */
export async function currentBalancesOn(
  session: TronSession,
  addresses: readonly AddressKey[],
  token: AddressKey,
): Promise<CurrentBalances | undefined> {
  if (addresses.length > MAX_ADDRESSES) throw new Error(`at most ${MAX_ADDRESSES} balances at a time`);
  const from = await solidNumber(session);
  const rows: Balance[] = [];
  for (const addressKey of addresses) {
    const [nativeUnits, tokenUnits] = [
      await sunOf(session, addressKey),
      await tokensOf(session, addressKey, token),
    ];
    rows.push({ addressKey, nativeUnits, tokenUnits });
  }
  const to = await solidNumber(session);
  if (from === undefined || to === undefined) return undefined;
  // A balancer may ask another node each time: one that is behind would name a height that is none of theirs.
  if (to < from) throw new EndpointFailure(`block ${to} is named as final after block ${from}`);
  return { from, to, rows };
}

async function solidNumber(session: TronSession): Promise<number | undefined> {
  return readTronHeader(await session.solidity('walletsolidity/getblock', { detail: false }))?.number;
}

/** An account that was never activated is `{}`, and holds nothing. */
async function sunOf(session: TronSession, addressKey: AddressKey): Promise<bigint> {
  const address = `41${addressKey}`;
  const account = membersOf(exactly(await session.solidity('walletsolidity/getaccount', { address })));
  const { address: named, balance } = account;
  if (named !== undefined && String(named).toLowerCase() !== address)
    throw new EndpointFailure('the account of another address');
  return readSun(balance);
}

async function tokensOf(session: TronSession, addressKey: AddressKey, token: AddressKey): Promise<bigint> {
  const answer = membersOf(
    await session.solidity('walletsolidity/triggerconstantcontract', {
      owner_address: NOBODY,
      contract_address: `41${token}`,
      function_selector: 'balanceOf(address)',
      parameter: addressKey.padStart(64, '0'),
    }),
  );
  const { result, constant_result: results } = answer;
  const [word] = Array.isArray(results) ? results : [];
  if (
    membersOf(result)['result'] !== true ||
    membersOf(result)['message'] !== undefined ||
    typeof word !== 'string'
  )
    throw new EndpointFailure('no balance of the token');
  return readWord(word);
}
