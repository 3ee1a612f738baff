import { getAddress } from 'ethers';
import { hexAddress, keyOfHex } from '../address-key.ts';
import type { ChainAddresses } from '../chain.ts';

/** Hexadecimal digits whose case is the checksum of EIP-55. */
export const BSC_ADDRESSES: ChainAddresses = {
  form: '0x and 40 hex digits',
  parse: (text) => {
    // ethers would also take ICAP and addresses without 0x,
    // which nobody could compare with what a wallet shows.
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
    try {
      return keyOfHex(getAddress(text), 2);
    } catch {
      return undefined;
    }
  },
  key: (address) => {
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Error('not a bsc address');
    return keyOfHex(address, 2);
  },
  format: (key) => getAddress(hexAddress(key)),
  spell: hexAddress,
};
