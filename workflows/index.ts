export { deposit } from './deposit.ts';
export { notify } from './notify.ts';
export { watchChain } from './watch-chain.ts';
