export { deposit } from './deposit.ts';
export { notify } from './notify.ts';
export { paymentLink } from './payment-link.ts';
export { settlement } from './settlement.ts';
export { wallet } from './wallet.ts';
export { watchChain } from './watch-chain.ts';
