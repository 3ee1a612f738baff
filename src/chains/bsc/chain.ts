import { getAddress } from 'ethers';
import { hexAddress, keyOfHex } from '../address-key.ts';
import type { Chain, ChainAddresses } from '../chain.ts';

const addresses: ChainAddresses = {
  form: '0x and 40 hex digits',
  parse: (text) => {
    // ethers would also take ICAP and addresses without 0x, which nobody could compare with what a wallet shows.
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

/** BNB Chain: 0.45 s blocks, addresses with the checksum of EIP-55, payments as EIP-681 writes the call of the token contract. */
export const BSC: Chain = {
  ...{ network: 'bsc', label: 'BNB Chain (BEP-20)', blockMs: 450, coinType: 60, watchedBy: 'BSC_RPC_URLS' },
  ...{ addresses, hashHasPrefix: true },
  paymentUri: ({ address, contract, units, chainId }) => `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=${units}`,
};
