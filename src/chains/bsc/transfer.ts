import { Transaction } from 'ethers';
import { type AddressKey, hexAddress, keyOfHex } from '../address-key.ts';
import {
  membersOf,
  readTokenTransfer,
  type SignDigest,
  type SignedTransfer,
  type Transfer,
  type Transfers,
  type TransferTerms,
  tokenTransferData,
  WrongTerms,
  wholeUnits,
} from '../transfer.ts';
import { BSC_ADDRESSES } from './addresses.ts';
import { type Shown, signersOf } from './proof/signed.ts';
import type { BscSettings } from './settings.ts';

/** What a transfer of the coin to an address without code takes. */
export const LEAST_GAS = 21_000n;
const MAX_NONCE = 2 ** 31;

type Limits = Pick<BscSettings, 'chainId' | 'usdtContract' | 'maxGasPriceWei' | 'maxGasLimit'>;

/**
 * Transfers of BNB Chain: transactions with one gas price (EIP-155), which every node of the chain takes and
 * whose cost is known to the unit before they are signed.
 */
export function bscTransfers(limits: Limits): Transfers {
  const token = BSC_ADDRESSES.key(limits.usdtContract);
  const { chainId } = limits;
  return {
    hasNonce: true,
    places: (proof, key) => placesIn(proof, chainId, key),
    lends: false,
    token,
    mostTopUp: limits.maxGasLimit * limits.maxGasPriceWei,
    terms: (given) => termsOf(given, limits),
    sign: (transfer, terms, sign) => signed({ chainId, token, transfer, terms }, sign),
    read: (raw) => read(raw, chainId, token),
  };
}

function termsOf(given: unknown, { maxGasLimit, maxGasPriceWei }: Limits): TransferTerms {
  const { gas_limit, gas_price, nonce } = membersOf(given, ['gas_limit', 'gas_price', 'nonce']);
  const gasLimit = wholeUnits('the gas limit', gas_limit, LEAST_GAS, maxGasLimit);
  const gasPrice = wholeUnits('the gas price in wei', gas_price, 1n, maxGasPriceWei);
  if (nonce !== undefined && !isNonce(nonce))
    throw new WrongTerms('its nonce is no number of a transaction: cancel it, and let it be asked for again');
  return {
    given: { gas_limit: gasLimit.toString(), gas_price: gasPrice.toString() },
    mostUnits: gasLimit * gasPrice,
    expiresAt: null,
    price: gasPrice,
    chainNonce: nonce ?? null,
  };
}

function placesIn(proof: object, chainId: number, of: AddressKey): readonly number[] {
  try {
    const { sender, authorisers } = signersOf(proof as Shown, chainId);
    return [sender, ...authorisers].filter(({ key }) => key === of).map(({ nonce }) => nonce);
  } catch {
    return [];
  }
}

const isNonce = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < MAX_NONCE;

type Order = {
  readonly chainId: number;
  readonly token: AddressKey;
  readonly transfer: Transfer;
  readonly terms: TransferTerms;
};

function signed({ chainId, token, transfer, terms }: Order, sign: SignDigest): SignedTransfer {
  const { to, units, nonce, kind } = transfer;
  if (!isNonce(nonce)) throw new Error('a transaction of this chain has a nonce');
  if (kind !== 'native' && kind !== 'token') throw new Error('nothing is lent on this chain');
  const isToken = kind === 'token';
  const transaction = Transaction.from({
    type: 0,
    chainId,
    nonce,
    gasLimit: String(terms.given['gas_limit']),
    gasPrice: String(terms.given['gas_price']),
    to: hexAddress(isToken ? token : to),
    value: isToken ? 0n : units,
    data: isToken ? `0x${tokenTransferData(to, units)}` : '0x',
  });
  transaction.signature = sign(transaction.unsignedHash);
  const raw = Buffer.from(transaction.serialized.slice(2), 'hex');
  const shown = read(raw, chainId, token);
  const same =
    shown.transfer.from === transfer.from &&
    shown.transfer.to === to &&
    shown.transfer.kind === kind &&
    shown.transfer.units === units &&
    shown.transfer.nonce === nonce &&
    shown.given['gas_limit'] === terms.given['gas_limit'] &&
    shown.given['gas_price'] === terms.given['gas_price'];
  if (!same) throw new Error('the signed bytes do not say what was ordered');
  return { raw, hash: shown.hash };
}

function read(raw: Uint8Array, chainId: number, token: AddressKey): ReturnType<Transfers['read']> {
  const bytes = `0x${Buffer.from(raw).toString('hex')}`;
  const transaction = Transaction.from(bytes);
  const { from, to, hash, type, nonce, value, data, gasLimit, gasPrice } = transaction;
  const isOurs =
    type === 0 && transaction.chainId === BigInt(chainId) && transaction.serialized === bytes && gasPrice;
  if (!isOurs || from === null || to === null || hash === null)
    throw new Error('these are not the bytes of a transfer on this chain');
  const given = { gas_limit: gasLimit.toString(), gas_price: gasPrice.toString() };
  const common = { from: keyOfHex(from, 2), nonce };
  if (data === '0x') {
    const transfer = { ...common, to: keyOfHex(to, 2), kind: 'native', units: value } as const;
    return { transfer, given, hash };
  }
  const paid = readTokenTransfer(data.slice(2));
  if (!paid || value !== 0n || keyOfHex(to, 2) !== token)
    throw new Error('these bytes call something else than the token');
  const transfer = { ...common, to: keyOfHex(paid.to), kind: 'token', units: paid.units } as const;
  return { transfer, given, hash };
}
