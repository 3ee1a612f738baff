import { parseEther, parseUnits, Wallet } from 'ethers';
import { startAnvil } from '../anvil.ts';
import { deployTestUsdt, devProvider } from '../contracts.ts';
import type { DemoChain } from './chain.ts';
import type { Screen } from './screen.ts';

const BLOCK_TIME_MS = 450;

/** A real EVM node with BNB Chain's id and block time, and a USDT of 18 decimals deployed on it. */
export async function startDemoBnbChain(dataDir: string, screen: Screen): Promise<DemoChain> {
  const anvil = await startAnvil({
    blockTimeMs: BLOCK_TIME_MS,
    dataDir,
    log: (line) => screen.line(`  node: ${line}`),
  });
  const provider = devProvider(anvil.url);
  const token = await deployTestUsdt({ provider, mine: false });
  const payer = await provider.getSigner(0);
  return {
    network: 'bsc',
    name: 'BNB Chain',
    env: {
      BSC_RPC_URLS: anvil.url,
      BSC_CHAIN_ID: '56',
      BSC_USDT_CONTRACT: await token.getAddress(),
    },
    withdraw: Wallet.createRandom().address,
    gasAmount: '0.05',
    pay: async ({ to, currency, amount }) => {
      const { hash } =
        currency === 'USDT'
          ? await token.getFunction('transfer').send(to, parseUnits(amount, 18))
          : await payer.sendTransaction({ to, value: parseEther(amount) });
      return hash;
    },
    stop: async () => {
      provider.destroy();
      await anvil.stop();
    },
  };
}
