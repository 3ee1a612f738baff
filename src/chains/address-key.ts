/** The key under which the database keeps a BNB Chain address: its 40 hex digits in lower case, whatever comes before them. */
export function addressKeyOf(address: string): string {
  return address.slice(-40).toLowerCase();
}
