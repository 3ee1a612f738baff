/**
 * One story that all examples tell: Ann tops up once, pays order 1001 by a
 * link, and the shop's endpoint is told of it.
 */
export const ID = {
  customer: '63ea4dc0-a6ca-4f3b-9cf2-a4c538254f29',
  deposit: '4842a81f-303e-8696-ab67-15527a19014e',
  endpoint: '0b9f6a52-8a3c-4d0e-9a55-3f1f6f1f0a11',
  event: '8d2e1b7c-55f0-4a52-9a0c-2f6d3c1e4b90',
  delivery: 'c6a4f0de-2b19-4f6a-8f6b-7a1d9e0c3b52',
  link: '1f0c9d4e-7b3a-4c58-b2e6-90a5d8f7c613',
  balance: 'e1b0a7d2-3c46-8f59-a1d3-5b7c9e2f4a60',
} as const;

export const USDT_BSC = '0x55d398326f99059fF775485246999027B3197955';
export const USDT_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
export const ADDRESS_BSC = '0x4D321226e555e9aA7DEe248E2C7654CCeE023121';
export const ADDRESS_TRON = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
export const HASH = '0xce138796f21442ed9e1522d61f921dca726748f0e7ab42bbad23b421ab6066cd';
export const LINK_HASH = '0x2f1c5e7a9b3d4f60817293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8';
export const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';
export const PAGE_TOKEN = 'ap_Zk3vQx8sT1hN6bWm2yRf0LcJd9aUe5Po';
export const SECRET = 'whsec_RXhhbXBsZSBvZiBhIHNlY3JldCwgbm90IGEgcmVhbCE=';
