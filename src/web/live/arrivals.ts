/** For this long a token waits for others that come at the same time. */
const GATHER_MS = 10;

/**
 * Questions about single tokens that are asked together: those that come within 10 ms cost one call of
 * `askAll`, and no second one begins while one runs. A failure of it is told to all who were part of it.
 */
export function createArrivals(askAll: (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>) {
  let gathering:
    | { readonly tokens: Set<string>; readonly found: Promise<ReadonlyMap<string, string>> }
    | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const gather = () => {
    const tokens = new Set<string>();
    const found = Promise.all([last, new Promise((resolve) => setTimeout(resolve, GATHER_MS))]).then(() => {
      gathering = undefined;
      return askAll([...tokens]);
    });
    last = found.catch(() => undefined);
    return { tokens, found };
  };

  return {
    /** What is found about the token; undefined for nothing. */
    ask: async (token: string): Promise<string | undefined> => {
      gathering ??= gather();
      gathering.tokens.add(token);
      return (await gathering.found).get(token);
    },
  };
}
