export { cancelPaymentLink } from './cancel.ts';
export { amountTooSmall, createPaymentLink, permitPaymentLink } from './create.ts';
export { expirePaymentLink } from './expire.ts';
export { getPublicPayment } from './public.ts';
export { getPaymentLink, listPaymentLinks } from './reads.ts';
