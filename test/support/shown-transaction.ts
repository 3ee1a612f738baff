import { Transaction, toQuantity } from 'ethers';

/** A signed transaction of BNB Chain as nodes show it, from its bytes. */
export function shownBy(raw: string): object {
  const sent = Transaction.from(raw);
  if (!sent.signature) throw new Error('nobody has signed it');
  const { r, s, yParity, networkV } = sent.signature;
  const shown = (value: bigint | number | null) => (value === null ? undefined : toQuantity(value));
  return {
    type: shown(sent.type),
    chainId: shown(sent.chainId),
    nonce: shown(sent.nonce),
    gas: shown(sent.gasLimit),
    gasPrice: shown(sent.gasPrice),
    maxFeePerGas: shown(sent.maxFeePerGas),
    maxPriorityFeePerGas: shown(sent.maxPriorityFeePerGas),
    to: sent.to,
    value: shown(sent.value),
    input: sent.data,
    accessList: sent.accessList ?? [],
    authorizationList: sent.authorizationList?.map(({ address, chainId, nonce, signature }) => ({
      address,
      chainId: shown(chainId),
      nonce: shown(nonce),
      yParity: shown(signature.yParity),
      r: signature.r,
      s: signature.s,
    })),
    v: shown(networkV ?? (sent.type === 0 ? 27 + yParity : yParity)),
    yParity: shown(yParity),
    r,
    s,
  };
}
