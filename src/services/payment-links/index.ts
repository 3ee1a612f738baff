export { cancelPaymentLink } from './cancel.ts';
export { createPaymentLink, permitPaymentLink } from './create.ts';
export { getPublicPayment } from './public.ts';
export { getPaymentLink, listPaymentLinks } from './reads.ts';
