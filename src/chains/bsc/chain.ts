import { getAddress } from 'ethers';
import type { Chain, ChainAddresses } from '../chain.ts';

const addresses: ChainAddresses = {
  parse: (text) => {
    // ethers would also take ICAP and addresses without 0x, which nobody could compare with what a wallet shows.
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
    try {
      return getAddress(text).toLowerCase();
    } catch {
      return undefined;
    }
  },
  format: (key) => getAddress(key.toLowerCase()),
};

/** BNB Chain: 0.45 s blocks, addresses with the checksum of EIP-55, payments as EIP-681 writes the call of the token contract. */
export const BSC: Chain = {
  ...{ network: 'bsc', label: 'BNB Chain (BEP-20)', blockMs: 450, coinType: 60, watchedBy: 'BSC_RPC_URLS' },
  ...{ addresses, hashHasPrefix: true },
  paymentUri: ({ address, contract, units, chainId }) => `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=${units}`,
};
