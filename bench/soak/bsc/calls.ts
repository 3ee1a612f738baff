import { AbiCoder, Interface, type InterfaceAbi } from 'ethers';
import { type ContractName, contractArtifact } from '../../../dev/contracts.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { PayAction } from '../plan/plan.ts';
import type { BscShape } from './names.ts';

export const CONTRACT_GAS = 3_000_000n;
/** What every sender and the paying contracts hold of the token. */
export const PLENTY = 10n ** 30n;

/** `tricks` pays in the ways that only odd contracts do, `lender` lends it code. Addresses. */
export type Contracts = Readonly<
  Record<'usdt' | 'fake' | 'contract' | 'spoofer' | 'tricks' | 'lender', string>
>;
/** A transaction without its sender; one without `to` makes a contract. */
export type Call = {
  readonly to?: string;
  readonly data?: string;
  readonly valueUnits?: bigint;
  readonly gas?: bigint;
};

/** The calldata of a method of one of the two tokens or contracts that the devnet brings. */
export function encode(name: ContractName, method: string, args: readonly unknown[]): string {
  return new Interface(contractArtifact(name).abi as string[]).encodeFunctionData(method, args);
}

function trick(method: string, args: readonly unknown[]): string {
  return new Interface(testContracts().Payer.abi as InterfaceAbi).encodeFunctionData(method, args);
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

/**
 * Code of a contract that pays in its constructor; nothing
 * is left over, so its last argument has nobody to go to.
 */
function heir(to: string, value: bigint): string {
  const { bytecode } = testContracts().Heir;
  return (
    bytecode + AbiCoder.defaultAbiCoder().encode(['address', 'uint256', 'address'], [to, value, to]).slice(2)
  );
}

/**
 * PUSH20 of the address and SELFDESTRUCT: a contract that ends
 * while it is made, and leaves what it was given to the address.
 */
const ending = (to: string): string => `0x73${to.slice(2)}ff`;

/** The transaction that a shape is made of. */
export function callOf(
  action: PayAction,
  to: readonly string[],
  from: { contracts: Contracts; owner: string },
): Call {
  const { contracts, owner } = from;
  const shape = action.shape as BscShape;
  const amounts = amountsOf(action, to);
  const { first, value, receivers, values } = amounts;
  switch (shape) {
    case 'usdt':
    case 'usdt_dust':
    case 'usdt_zero':
    case 'usdt_from_own_wallet':
    case 'to_test_address':
      return { to: contracts.usdt, data: encode('TestUSDT', 'transfer', [first, value]) };
    case 'fake_token':
      return { to: contracts.fake, data: encode('TestUSDT', 'transfer', [first, value]) };
    case 'usdt_transfer_from':
      return { to: contracts.usdt, data: encode('TestUSDT', 'transferFrom', [owner, first, value]) };
    case 'usdt_through_contract':
    case 'usdt_batch':
    case 'usdt_twice_to_one':
      return {
        to: contracts.contract,
        data: encode('Payer', 'payToken', [contracts.usdt, receivers, values]),
        gas: CONTRACT_GAS,
      };
    case 'usdt_pulled_by_contract':
      return {
        to: contracts.contract,
        data: encode('Payer', 'payTokenFrom', [contracts.usdt, receivers, values]),
        gas: CONTRACT_GAS,
      };
    case 'usdt_failed':
      // The first transfer succeeds and the second takes it back.
      return {
        to: contracts.contract,
        data: encode('Payer', 'payToken', [contracts.usdt, [first, first], [value, 2n * PLENTY]]),
        gas: CONTRACT_GAS,
      };
    case 'usdt_undone':
      return {
        to: contracts.tricks,
        data: trick('payAndSwallow', [contracts.usdt, first, value]),
        gas: CONTRACT_GAS,
      };
    case 'spoofed_event':
      return { to: contracts.spoofer, data: encode('Spoofer', 'spoof', [owner, first, value]) };
    default:
      return coinCallOf(shape, amounts, contracts);
  }
}

type Amounts = ReturnType<typeof amountsOf>;

/** Who is sent how much; several amounts without receivers of their own go to the first one. */
function amountsOf(action: PayAction, to: readonly string[]) {
  const values = action.amounts.map(BigInt);
  const [first = ''] = to;
  const [value = 0n] = values;
  const receivers = values.map((_, index) => to[index] ?? first);
  return { first, value, receivers, values };
}

/** The same for the shapes that move the native coin. */
function coinCallOf(
  shape: Extract<BscShape, `bnb${string}`>,
  { first, value, receivers, values }: Amounts,
  contracts: Contracts,
): Call {
  switch (shape) {
    case 'bnb_through_contract':
    case 'bnb_batch':
      return {
        to: contracts.contract,
        data: encode('Payer', 'payBnb', [receivers, values]),
        valueUnits: sum(values),
        gas: CONTRACT_GAS,
      };
    case 'bnb_and_usdt': {
      const data = encode('Payer', 'payBoth', [contracts.usdt, first, value, values[1] ?? 0n]);
      return { to: contracts.contract, data, valueUnits: value, gas: CONTRACT_GAS };
    }
    case 'bnb_passed_on':
      return { to: contracts.tricks, data: trick('passOn', [first]), valueUnits: value, gas: CONTRACT_GAS };
    case 'bnb_by_creation':
      return { data: heir(first, value), valueUnits: value, gas: CONTRACT_GAS };
    case 'bnb_by_selfdestruct':
      return { data: ending(first), valueUnits: value, gas: CONTRACT_GAS };
    case 'bnb_undone':
      return {
        to: contracts.tricks,
        data: trick('payCoinAndSwallow', [first, value]),
        valueUnits: 0n,
        gas: CONTRACT_GAS,
      };
    case 'bnb_borrowed':
      // The value of a delegated call is a figure in the trace: the money stays where it is.
      return {
        to: contracts.tricks,
        data: trick('borrow', [contracts.lender, first]),
        valueUnits: value,
        gas: CONTRACT_GAS,
      };
    case 'bnb_with_calldata':
      return { to: first, valueUnits: value, data: '0x6f72646572203432' };
    case 'bnb':
    case 'bnb_dust':
    case 'bnb_zero':
    case 'bnb_from_own_wallet':
      return { to: first, valueUnits: value };
  }
}
