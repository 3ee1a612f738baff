import { isIP } from 'node:net';
import type { Currency } from '../domain/assets.ts';
import { ASSETS, CURRENCIES } from '../domain/assets.ts';
import { parseCidr, parseIp } from '../domain/ip-address.ts';
import { parseUnits, RATE_DECIMALS } from '../domain/money.ts';
import type { Parser } from './parser.ts';
import { complain, items, parser } from './parser.ts';

const MAX_LIST_ITEMS = 100;
const DURATION_UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number in ASCII digits without sign, leading zero or exponent. */
export function wholeNumber(min: number, max: number): Parser<number> {
  return parser((text) => {
    const value = /^(0|[1-9]\d{0,14})$/.test(text) ? Number.parseInt(text, 10) : -1;
    return value >= min && value <= max ? value : complain(`must be a whole number from ${min} to ${max}`);
  });
}

/** A comma-separated list of TCP ports. */
export const ports: Parser<readonly number[]> = parser((text) =>
  items(text, MAX_LIST_ITEMS).map((item) => {
    const port = /^[1-9]\d{0,4}$/.test(item) ? Number.parseInt(item, 10) : 0;
    return port >= 1 && port <= 65535
      ? port
      : complain('must be a comma-separated list of ports from 1 to 65535');
  }),
);

/** A decimal such as 5.00 as base units of the given decimals; between min and max, both decimal texts. */
export function decimal(decimals: number, min: string, max: string): Parser<bigint> {
  const sentence = `must be a decimal number from ${min} to ${max} with at most ${decimals} decimals, such as ${min}`;
  const [low, high] = [toUnits(min, decimals), toUnits(max, decimals)];
  return parser((text) => {
    const units = toUnits(text, decimals);
    return units !== undefined && low !== undefined && high !== undefined && units >= low && units <= high
      ? units
      : complain(sentence);
  });
}

/** A duration such as 30s, 15m, 24h or 7d, in milliseconds. */
export function duration(min: string, max: string): Parser<number> {
  const [low, high] = [durationMs(min) ?? 0, durationMs(max) ?? 0];
  return parser((text) => {
    const value = durationMs(text);
    return value !== undefined && value >= low && value <= high
      ? value
      : complain(
          `must be a duration from ${min} to ${max}: a whole number and one of s, m, h, d, such as 15m`,
        );
  });
}

/** The same, or 0 for none. */
export function durationOrNone(min: string, max: string): Parser<number> {
  const one = duration(min, max);
  return parser((text) => {
    if (text === '0') return 0;
    const parsed = one.safeParse(text);
    return parsed.success
      ? parsed.data
      : complain(`must be 0, or a duration from ${min} to ${max} such as 24h`);
  });
}

/**
 * `90s` → 90000; undefined for anything that is not such a
 * duration. Also for the command line's `--grace` and the like.
 */
export function durationMs(text: string): number | undefined {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(text);
  if (!match?.[1]) return undefined;
  return Number.parseInt(match[1], 10) * DURATION_UNIT_MS[match[2] as keyof typeof DURATION_UNIT_MS];
}

/**
 * Exactly one of the names, in this spelling: a near miss
 * such as `Production` must not fall back to anything.
 */
export function oneOf<const T extends string>(...names: readonly T[]): Parser<T> {
  return parser(
    (text) => names.find((name) => name === text) ?? complain(`must be one of ${names.join(', ')}`),
  );
}

/** true, false, 1 or 0. */
/** Some of these names, comma-separated, none twice. */
export function someOf<const T extends string>(...names: readonly T[]): Parser<readonly T[]> {
  return parser((text) => {
    const given = items(text, names.length);
    const known = given.filter((name): name is T => names.some((one) => one === name));
    return known.length === given.length && new Set(given).size === given.length
      ? known
      : complain(`must be one or more of ${names.join(', ')}, each once and separated by commas`);
  });
}

export const flag: Parser<boolean> = parser((text) => {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return complain('must be true or false');
});

/** A path, which need not exist yet. */
export const filePath: Parser<string> = parser((text) =>
  text.length <= 4096 ? text : complain('must be a path of at most 4096 characters'),
);

/** A name that needs no quoting anywhere. */
export const plainName: Parser<string> = parser((text) =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text)
    ? text
    : complain('must be a name of at most 100 letters, digits, dots, dashes and underscores'),
);

/** A token that can travel in an HTTP header. */
export const token: Parser<string> = parser((text) =>
  /^[\x21-\x7e]{1,512}$/.test(text) ? text : complain('must be at most 512 visible ASCII characters'),
);

/** One address of IPv4 or IPv6, to bind to. */
export const ipAddress: Parser<string> = parser((text) =>
  parseIp(text)
    ? text
    : complain('must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them'),
);

/** host:port without a scheme. */
export const hostAndPort: Parser<string> = parser((text) => {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?):([1-9]\d{0,4})$/.exec(
    text,
  );
  const port = match?.[3] ? Number.parseInt(match[3], 10) : 0;
  const bracketed = match?.[1]?.startsWith('[') ? isIP(match[1].slice(1, -1)) === 6 : true;
  return port >= 1 && port <= 65535 && bracketed
    ? text
    : complain('must be HOST:PORT without a scheme, such as temporal:7233');
});

/**
 * CIDRs of IPv4 and IPv6; a bare address means itself alone. IPv4-mapped
 * blocks are refused: clients are compared in their IPv4 form.
 */
export const cidrs: Parser<readonly string[]> = parser((text) =>
  items(text, MAX_LIST_ITEMS).map((item, index) => {
    if (!parseCidr(item))
      complain(
        `must be a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8; entry ${index + 1} is not one`,
      );
    return /^[0:]*:ffff:/i.test(item)
      ? complain(
          `must give IPv4 networks as such (10.0.0.0/8, not ::ffff:10.0.0.0/104); entry ${index + 1} is mapped`,
        )
      : item;
  }),
);

/** `USDT.bsc=1,BNB=0.002` as base units under `bsc:USDT`, `bsc:BNB`. */
export const amountsByAsset: Parser<Readonly<Record<string, bigint>>> = parser((text) =>
  unitsByAsset(text, { everyNetwork: false }),
);

/**
 * The same, except that `USDT=0.001` without a network stands for every
 * network, and `none` for no amount at all.
 */
export const amountsByCurrency: Parser<Readonly<Record<string, bigint>>> = parser((text) =>
  text === 'none' ? {} : unitsByAsset(text, { everyNetwork: true }),
);

function unitsByAsset(
  text: string,
  { everyNetwork }: { everyNetwork: boolean },
): Readonly<Record<string, bigint>> {
  const result: Record<string, bigint> = {};
  for (const [name, value] of pairs(text)) {
    const [currency = '', network, ...rest] = name.split('.');
    const fitting = ASSETS.filter(
      (asset) => asset.currency === currency && (network === undefined || asset.network === network),
    );
    if (!everyNetwork && fitting.length > 1)
      complain(
        `must say the network of ${currency}: ${fitting.map((asset) => `${currency}.${asset.network}`).join(' or ')}`,
      );
    if (fitting.length === 0 || rest.length > 0)
      complain('must be a list such as USDT.bsc=1,BNB=0.002 of the assets USDT.bsc, BNB, USDT.tron, TRX');
    for (const asset of fitting) {
      const key = assetKey(asset.network, asset.currency);
      if (key in result) complain(`must not name ${currency} twice`);
      const units = toUnits(value, asset.decimals);
      if (units === undefined || value.length > 40)
        complain(`must give ${name} a decimal amount with at most ${asset.decimals} decimals`);
      result[key] = units;
    }
  }
  return result;
}

/** The key of an asset in a table of thresholds. */
export function assetKey(network: string, currency: string): string {
  return `${network}:${currency}`;
}

export type PriceSourceChoice =
  | { readonly kind: 'chainlink' }
  /** USD for one coin with RATE_DECIMALS decimals; a currency that is not named has no price. */
  | { readonly kind: 'fixed'; readonly rateUnits: Readonly<Partial<Record<Currency, bigint>>> };

/** `chainlink`, or `fixed:BNB=600,TRX=0.3,USDT=1`. */
export const priceSource: Parser<PriceSourceChoice> = parser((text) => {
  if (text === 'chainlink') return { kind: 'chainlink' };
  if (!text.startsWith('fixed:'))
    complain('must be chainlink or a list of fixed prices such as fixed:BNB=600,TRX=0.3,USDT=1');
  const rateUnits = byCurrency(text.slice('fixed:'.length), (rate, currency) => {
    const units = toUnits(rate, RATE_DECIMALS) ?? 0n;
    return units > 0n && rate.length <= 20
      ? units
      : complain(`must give ${currency} a price above 0 with at most ${RATE_DECIMALS} decimals`);
  });
  return { kind: 'fixed', rateUnits };
});

/** How one chain writes addresses. `normalise` returns undefined for a text that is none. */
export type AddressForm = {
  readonly form: string;
  readonly normalise: (address: string) => string | undefined;
};

/** `BNB=0x…,TRX=0x…`: addresses of price feeds, each as the chain writes it whose address it is. */
export function priceFeeds(
  chains: readonly AddressForm[],
): Parser<Readonly<Partial<Record<Currency, string>>>> {
  const forms = chains.map(({ form }) => form).join(', or ');
  return parser((text) =>
    byCurrency(
      text,
      (address, currency) =>
        chains.map(({ normalise }) => normalise(address)).find((normal) => normal !== undefined) ??
        complain(`must give ${currency} the address of a feed: ${forms}, with a right checksum`),
    ),
  );
}

function byCurrency<T>(
  text: string,
  parse: (value: string, currency: Currency) => T,
): Partial<Record<Currency, T>> {
  const result: Partial<Record<Currency, T>> = {};
  for (const [name, value] of pairs(text)) {
    const currency =
      CURRENCIES.find((known) => known === name) ?? complain(`must name only ${CURRENCIES.join(', ')}`);
    if (currency in result) complain(`must not name ${currency} twice`);
    result[currency] = parse(value, currency);
  }
  return result;
}

function pairs(text: string): [string, string][] {
  return items(text, MAX_LIST_ITEMS).map((item) => {
    const match = /^([A-Za-z.]{1,20})=(.+)$/.exec(item);
    return match?.[1] && match[2]
      ? [match[1], match[2]]
      : complain('must be a comma-separated list of NAME=VALUE');
  });
}

function toUnits(text: string, decimals: number): bigint | undefined {
  try {
    return parseUnits(text, decimals);
  } catch {
    return undefined;
  }
}
