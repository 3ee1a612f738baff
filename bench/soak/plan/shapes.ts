// The ways in which money, or what looks like it, moves to customers: the same on every chain.
import { AbiCoder } from 'ethers';
import { testContracts } from '../../../dev/support/chain-contracts.ts';

/** Each with how often it is planned. `coin` is the chain's own. */
export const SHAPES = {
  usdt: 26,
  usdt_transfer_from: 8,
  usdt_through_contract: 8,
  usdt_batch: 8,
  usdt_twice_to_one: 8,
  usdt_pulled_by_contract: 6,
  coin: 16,
  coin_with_memo: 6,
  coin_through_contract: 6,
  coin_batch: 3,
  coin_passed_on: 4,
  coin_by_creation: 4,
  coin_by_selfdestruct: 4,
  coin_and_usdt: 5,
  usdt_dust: 4,
  coin_dust: 3,
  usdt_zero: 4,
  coin_zero: 3,
  usdt_failed: 5,
  usdt_starved: 4,
  fake_token: 4,
  spoofed_event: 4,
  usdt_undone: 3,
  coin_undone: 3,
  coin_borrowed: 2,
  coin_from_own_wallet: 3,
  usdt_from_own_wallet: 2,
  to_test_address: 3,
} as const;
export type Shape = keyof typeof SHAPES;
/** Of what is mined twice: seen in the logs, in the transaction itself, and only in a trace. */
export const REBORN_SHAPES = [
  'usdt',
  'coin',
  'usdt_through_contract',
  'coin_through_contract',
  'coin_and_usdt',
] as const satisfies readonly Shape[];

/** Whether it is two transfers to one customer. Where coin and token go together the first is the coin. */
export function isDouble(shape: Shape): boolean {
  return shape === 'usdt_twice_to_one' || shape === 'coin_and_usdt';
}

/** A transaction without its sender; the memo is hex without prefix, the code with it. */
export type Call =
  | { readonly kind: 'coin'; readonly to: string; readonly units: bigint; readonly memo?: string }
  | {
      readonly kind: 'call';
      /** `fake` is another token of the same code, `payer` pays in every way that contracts do. */
      readonly contract: 'usdt' | 'fake' | 'payer';
      readonly method: string;
      readonly args: readonly unknown[];
      readonly units?: bigint;
      /** It is given too little for any code to come to its end. */
      readonly starved?: true;
    }
  | { readonly kind: 'creation'; readonly bytecode: string; readonly units: bigint };

/** Addresses as the chain's coder takes them: who lets the sender draw on its tokens, and contracts. */
export type Parties = Readonly<Record<'owner' | 'usdt' | 'lender', string>>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const MARKUP = Buffer.from('"><script>alert(1)</script> order 42', 'utf8').toString('hex');
/** More than anybody holds. */
const TOO_MUCH = 10n ** 40n;

const digitsOf = (address: string): string => address.replace(/^0x/, '');
const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;

const payer = (method: string, args: readonly unknown[], units = 0n): Call => ({
  kind: 'call',
  contract: 'payer',
  method,
  args,
  units,
});

/** The transaction that a shape is made of; amounts without receivers of their own go to the first. */
export function callOf(
  { shape, amounts }: { readonly shape: Shape; readonly amounts: readonly string[] },
  to: readonly string[],
  { owner, usdt, lender }: Parties,
): Call {
  const values = amounts.map(BigInt);
  const [first = ''] = to;
  const [value = 0n, second = 0n] = values;
  const receivers = values.map((_, index) => to[index] ?? first);
  const transfer = { kind: 'call', contract: 'usdt', method: 'transfer', args: [first, value] } as const;
  switch (shape) {
    case 'usdt':
    case 'usdt_dust':
    case 'usdt_zero':
    case 'usdt_from_own_wallet':
    case 'to_test_address':
      return transfer;
    case 'usdt_starved':
      return { ...transfer, starved: true };
    case 'fake_token':
      return { ...transfer, contract: 'fake' };
    case 'usdt_transfer_from':
      return { ...transfer, method: 'transferFrom', args: [owner, first, value] };
    case 'usdt_through_contract':
    case 'usdt_batch':
    case 'usdt_twice_to_one':
      return payer('pay', [usdt, receivers, values]);
    case 'usdt_pulled_by_contract':
      return payer('pull', [usdt, receivers.map(() => owner), receivers, values]);
    case 'usdt_failed':
      // The first transfer succeeds and the second takes it back.
      return payer('pay', [usdt, [first, first], [value, TOO_MUCH]]);
    case 'usdt_undone':
      return payer('payAndSwallow', [usdt, first, value]);
    case 'spoofed_event':
      return payer('log3', [
        TRANSFER,
        word(digitsOf(owner)),
        word(digitsOf(first)),
        word(value.toString(16)),
      ]);
    case 'coin_through_contract':
    case 'coin_batch':
      return payer('payCoins', [receivers, values]);
    case 'coin_and_usdt':
      return payer('payBoth', [usdt, first, second, value]);
    case 'coin_passed_on':
      return payer('passOn', [first], value);
    case 'coin_undone':
      return payer('payCoinAndSwallow', [first, value]);
    case 'coin_borrowed':
      // The value of a delegated call is a figure in the trace: the money stays where it is.
      return payer('borrow', [lender, first], value);
    case 'coin_by_creation':
      return { kind: 'creation', bytecode: heir(`0x${digitsOf(first)}`, value), units: value };
    case 'coin_by_selfdestruct':
      // PUSH20 of the address and SELFDESTRUCT: it ends while it is made, and leaves all to the address.
      return { kind: 'creation', bytecode: `0x73${digitsOf(first)}ff`, units: value };
    case 'coin_with_memo':
      return { kind: 'coin', to: first, units: value, memo: MARKUP };
    default:
      return { kind: 'coin', to: first, units: value };
  }
}

/** Code of a contract that pays in its constructor; its last argument gets what is left over: nothing. */
function heir(to: string, value: bigint): string {
  const given = AbiCoder.defaultAbiCoder().encode(['address', 'uint256', 'address'], [to, value, to]);
  return testContracts().Heir.bytecode + given.slice(2);
}
