import { parseEther, parseUnits } from 'ethers';
import { type Anvil, startAnvil } from '../anvil.ts';
import { deployTestUsdt, devProvider } from '../contracts.ts';
import type { Screen } from './screen.ts';

const BLOCK_TIME_MS = 450;

export type DemoChain = {
  readonly anvil: Anvil;
  readonly usdt: string;
  /** Sends both transfers and returns their hashes. */
  pay(address: string, usdt: string, bnb: string): Promise<{ usdtHash: string; bnbHash: string }>;
};

/** A real EVM node with BNB Chain's id and block time, and a USDT of 18 decimals deployed on it. */
export async function startDemoChain(dataDir: string, screen: Screen): Promise<DemoChain> {
  const anvil = await startAnvil({
    blockTimeMs: BLOCK_TIME_MS,
    dataDir,
    log: (line) => screen.line(`  node: ${line}`),
  });
  const provider = devProvider(anvil.url);
  const token = await deployTestUsdt({ provider, mine: false });
  const payer = await provider.getSigner(0);
  const usdt = await token.getAddress();
  return {
    anvil,
    usdt,
    pay: async (address, usdtAmount, bnbAmount) => {
      const transfer = await token.getFunction('transfer').send(address, parseUnits(usdtAmount, 18));
      const plain = await payer.sendTransaction({ to: address, value: parseEther(bnbAmount) });
      return { usdtHash: transfer.hash, bnbHash: plain.hash };
    },
  };
}
