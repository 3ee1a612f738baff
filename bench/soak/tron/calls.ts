import { AbiCoder } from 'ethers';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { TronContract } from '../../../dev/tron/contracts.ts';
import type { PayAction } from '../plan/plan.ts';
import type { TronShape } from './names.ts';

/** `payer` pays in every way that contracts do; `lender` lends it code. */
export type Contracts = Readonly<Record<'usdt' | 'fake' | 'payer' | 'lender', TronContract>>;
/** Who is sent how much, by the 40 digits of addresses. */
type Amounts = {
  readonly first: string;
  readonly value: bigint;
  readonly receivers: readonly string[];
  readonly values: readonly bigint[];
};
/** A transaction without its sender. Data is hex without prefix. */
export type Call =
  | { readonly kind: 'coin'; readonly to: string; readonly sun: bigint; readonly memo?: string }
  | {
      readonly kind: 'call';
      readonly contract: TronContract;
      readonly data: string;
      readonly sun?: bigint;
      readonly feeLimit?: bigint;
    }
  | { readonly kind: 'creation'; readonly bytecode: string; readonly sun: bigint };

/** What every sender and the paying contract hold of the token. */
export const PLENTY = 10n ** 18n;
/** Too little for any code to come to its end. */
const TOO_LITTLE_SUN = 100_000n;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const MARKUP = Buffer.from('"><script>alert(1)</script> order 42', 'utf8').toString('hex');

/** The transaction that a shape is made of; `owner` lets the sender draw on its tokens. */
export function callOf(
  action: PayAction,
  to: readonly string[],
  { contracts, owner }: { readonly contracts: Contracts; readonly owner: string },
): Call {
  const { usdt, fake, payer } = contracts;
  const amounts = amountsOf(action, to);
  const { first, value, receivers, values } = amounts;
  const call = (contract: TronContract, method: string, args: readonly unknown[]): Call => ({
    kind: 'call',
    contract,
    data: contract.data(method, args),
  });
  const shape = action.shape as TronShape;
  switch (shape) {
    case 'usdt':
    case 'usdt_dust':
    case 'usdt_zero':
    case 'usdt_from_own_wallet':
    case 'to_test_address':
      return call(usdt, 'transfer', [first, value]);
    case 'usdt_out_of_energy':
      return {
        kind: 'call',
        contract: usdt,
        data: usdt.data('transfer', [first, value]),
        feeLimit: TOO_LITTLE_SUN,
      };
    case 'fake_token':
      return call(fake, 'transfer', [first, value]);
    case 'usdt_transfer_from':
      return call(usdt, 'transferFrom', [owner, first, value]);
    case 'usdt_through_contract':
    case 'usdt_batch':
    case 'usdt_twice_to_one':
      return call(payer, 'pay', [usdt.key, receivers, values]);
    case 'usdt_pulled_by_contract':
      return call(payer, 'pull', [usdt.key, receivers.map(() => owner), receivers, values]);
    case 'usdt_failed':
      // The first transfer succeeds and the second takes it back.
      return call(payer, 'pay', [usdt.key, [first, first], [value, 2n * PLENTY]]);
    case 'usdt_undone':
      return call(payer, 'payAndSwallow', [usdt.key, first, value]);
    case 'spoofed_event':
      return call(payer, 'log3', [TRANSFER, word(owner), word(first), `0x${hexWord(value)}`]);
    default:
      return coinCallOf(shape, amounts, contracts);
  }
}

function coinCallOf(
  shape: Extract<TronShape, `trx${string}`>,
  { first, value, receivers, values }: Amounts,
  { usdt, payer, lender }: Contracts,
): Call {
  const call = (method: string, args: readonly unknown[], sun = 0n): Call => ({
    kind: 'call',
    contract: payer,
    data: payer.data(method, args),
    sun,
  });
  switch (shape) {
    case 'trx_through_contract':
    case 'trx_batch':
      return call('payCoins', [receivers, values]);
    case 'trx_and_usdt':
      return call('payBoth', [usdt.key, first, values[1] ?? 0n, value]);
    case 'trx_passed_on':
      return call('passOn', [first], value);
    case 'trx_by_creation':
      return { kind: 'creation', bytecode: heir(first, value), sun: value };
    case 'trx_by_selfdestruct':
      return { kind: 'creation', bytecode: `73${first}ff`, sun: value };
    case 'trx_undone':
      return call('payCoinAndSwallow', [first, value]);
    case 'trx_borrowed':
      // The value of a delegated call is a figure alone: the money stays where it is.
      return call('borrow', [lender.key, first], value);
    case 'trx_with_memo':
      return { kind: 'coin', to: first, sun: value, memo: MARKUP };
    case 'trx':
    case 'trx_dust':
    case 'trx_from_own_wallet':
      return { kind: 'coin', to: first, sun: value };
  }
}

/** Several amounts without receivers of their own go to the first one. */
function amountsOf(action: PayAction, to: readonly string[]): Amounts {
  const values = action.amounts.map(BigInt);
  const [first = ''] = to;
  const [value = 0n] = values;
  return { first, value, receivers: values.map((_, index) => to[index] ?? first), values };
}

/** Code of a contract that pays in its constructor. */
function heir(to: string, value: bigint): string {
  const { bytecode } = testContracts().Heir;
  const [address, types] = [`0x${to}`, ['address', 'uint256', 'address']];
  return (bytecode + AbiCoder.defaultAbiCoder().encode(types, [address, value, address]).slice(2)).slice(2);
}

const hexWord = (value: bigint): string => value.toString(16).padStart(64, '0');
const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;
