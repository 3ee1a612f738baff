/** These members of a value and no others, so that what it has besides goes nowhere. */
export function pick<T extends object, K extends keyof T>(from: T, members: readonly K[]): Pick<T, K> {
  return Object.fromEntries(members.map((member) => [member, from[member]])) as Pick<T, K>;
}
