import type { z } from 'zod';
import * as balances from '../../contract/balance.ts';
import * as customers from '../../contract/customer.ts';
import * as deposits from '../../contract/deposit.ts';
import * as endpoints from '../../contract/endpoint.ts';
import * as events from '../../contract/event.ts';
import * as links from '../../contract/payment-link.ts';
import { newPaymentLink } from '../../contract/payment-request.ts';
import { linkTransaction } from '../../contract/payment-transaction.ts';
import { CURRENCIES, NETWORKS } from '../../domain/assets.ts';
import { DEPOSIT_STATES, FAILURE_CODES } from '../../domain/deposit.ts';
import { EVENT_TYPES } from '../../domain/events.ts';
import { AMOUNT_STATUSES, LINK_STATUSES } from '../../domain/payment-link.ts';

const HEAD = `// Made by "npm run docs" from the schemas that check every request and every answer; not to be
// changed by hand. Coin amounts are decimal strings: never make numbers of them. Members that
// end in \`_usd\` are numbers with at most two decimals. Times are ISO-8601 in UTC, whole seconds.`;

/** The line width of the other code. */
const MAX_COLUMNS = 110;

/** Words that many members share, by the name under which the client has them. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  Network: NETWORKS,
  Currency: CURRENCIES,
  DepositStatus: DEPOSIT_STATES,
  FailureCode: FAILURE_CODES,
  PaymentLinkStatus: LINK_STATUSES,
  AmountStatus: AMOUNT_STATUSES,
  DeliveryStatus: events.DELIVERY_STATUSES,
  EventType: EVENT_TYPES,
};

type Named = {
  readonly schema: z.ZodType;
  readonly of?: 'request';
  readonly beside?: string;
  readonly says?: string;
};

/** What the client sends and gets. `beside`: a type whose members are there as well. */
const TYPES: Readonly<Record<string, Named>> = {
  DepositAddress: { schema: customers.address },
  Customer: { schema: customers.customer },
  NewCustomer: {
    schema: customers.newCustomer,
    of: 'request',
    says: 'At least one of `external_id` and `email`.',
  },
  CustomerExists: { schema: customers.existsAnswer },
  AddressPage: { schema: customers.addressPageLink },
  Deposit: { schema: deposits.deposit },
  Simulation: {
    schema: deposits.simulationRequest,
    of: 'request',
    says: 'A rehearsal; without members 10 USDT on bsc, completed, and announced once.',
  },
  Endpoint: { schema: endpoints.endpoint },
  EndpointWithSecret: {
    schema: endpoints.endpointWithSecret,
    beside: 'Endpoint',
    says: '`secret` is shown this once.',
  },
  EndpointMaybeSecret: { schema: endpoints.endpointMaybeSecret, beside: 'Endpoint' },
  Deleted: { schema: endpoints.endpointDeleted },
  Delivery: { schema: events.delivery },
  ListedEvent: { schema: events.listedEvent },
  StoredEvent: { schema: events.event, beside: 'ListedEvent' },
  ResentFailed: { schema: events.resentFailed },
  PaymentTransaction: { schema: linkTransaction },
  PaymentLink: { schema: links.paymentLink },
  LatePaymentLink: {
    schema: links.lateLink,
    beside: 'PaymentLink',
    says: 'What `payment.late` carries.',
  },
  NewPaymentLink: {
    schema: links.newPaymentLinkAnswer,
    beside: 'PaymentLink',
    says: '`webhook_secret` is shown this once; it signs what is sent to `webhook_url`.',
  },
  PaymentRequest: {
    schema: newPaymentLink,
    of: 'request',
    says: '`email` or `customer_id`, and `amount_usd` or `amount`: at most two decimals, as a number or a text.',
  },
  PaymentMethod: { schema: links.method },
  PublicPayment: { schema: links.publicPayment, says: 'What everybody who holds the token may see.' },
  CurrencyBalance: { schema: balances.currencyBalance },
  Balance: { schema: balances.balance },
  MerchantBalance: { schema: balances.merchantBalance },
};

/**
 * The texts of the types in `packages/sdk/src` by their paths: shared words, what is sent, and what is
 * answered, which has the other two in it as well. Throws for a kind of schema that it does not know.
 */
export function renderSdkTypes(): Readonly<Record<string, string>> {
  const words = Object.entries(WORDS).map(([name, values]) =>
    union(`export type ${name} =`, values.map(quoted)),
  );
  const named = Object.entries(TYPES);
  const sent = named.filter(([, { of }]) => of === 'request').map(textOf);
  const answered = named.filter(([, { of }]) => of !== 'request').map(textOf);
  const all = "export type * from './bodies.ts';\nexport type * from './words.ts';";
  return {
    'packages/sdk/src/words.ts': fileOf([words.join('\n')]),
    'packages/sdk/src/bodies.ts': fileOf([wordsIn(sent), ...sent]),
    'packages/sdk/src/types.ts': fileOf([`${wordsIn(answered)}\n${all}`, ...answered]),
  };
}

function textOf([name, { schema, of, beside, says }]: readonly [string, Named]): string {
  const side = of ?? 'answer';
  const doc = says === undefined ? '' : `/** ${says} */\n`;
  const inherited = beside === undefined ? [] : Object.keys(membersOf(TYPES[beside]?.schema));
  const members = Object.entries(membersOf(schema)).filter(([member]) => !inherited.includes(member));
  return `${doc}export type ${name} = ${beside === undefined ? '' : `${beside} & `}${objectOf(Object.fromEntries(members), side, '')};`;
}

/** The import of the words that these types use. */
function wordsIn(texts: readonly string[]): string {
  const named = new Set(texts.flatMap((text) => [...text.matchAll(/: (\w+)/g)].map(([, word]) => word)));
  const used = Object.keys(WORDS).filter((word) => named.has(word));
  return `import type {\n${used.map((word) => `  ${word},\n`).join('')}} from './words.ts';`;
}

function fileOf(parts: readonly string[]): string {
  return `${[HEAD, ...parts].join('\n\n')}\n`;
}

type Side = 'answer' | 'request';
type Def = z.core.$ZodTypes['_zod']['def'];

const defOf = (schema: z.core.$ZodType): Def => (schema as z.core.$ZodTypes)._zod.def;
const quoted = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

/** Schemas by their shape: a schema that is described again is another object with the same shape. */
const NAMES = new Map<unknown, string>(
  Object.entries(TYPES).map(([name, { schema }]) => [membersOf(schema), name]),
);
const NAMES_OF_WORDS = new Map(Object.entries(WORDS).map(([name, values]) => [JSON.stringify(values), name]));

function membersOf(schema: z.core.$ZodType | undefined): z.core.$ZodShape {
  const def = schema && defOf(schema);
  if (def?.type === 'pipe') return membersOf(def.in);
  if (def?.type === 'object') return def.shape;
  throw new Error('only an object can be a type of its own');
}

function objectOf(members: z.core.$ZodShape, side: Side, indent: string): string {
  const lines = Object.entries(members).map(([name, schema]) => {
    const optional = defOf(schema).type === 'optional';
    const type = typeOf(schema, side, `${indent}  `);
    return `${name}${optional ? '?' : ''}: ${type}${optional && side === 'answer' ? ' | undefined' : ''}`;
  });
  if (lines.length === 1) return `{ ${lines[0]} }`;
  return `{\n${lines.map((line) => `${indent}  ${line};\n`).join('')}${indent}}`;
}

function typeOf(schema: z.core.$ZodType, side: Side, indent: string): string {
  const def = defOf(schema);
  const inner = (one: z.core.$ZodType): string => typeOf(one, side, indent);
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'unknown':
      return def.type;
    case 'literal':
      return def.values.map(quoted).join(' | ');
    case 'enum':
      return (
        NAMES_OF_WORDS.get(JSON.stringify(Object.values(def.entries))) ??
        Object.values(def.entries).map(quoted).join(' | ')
      );
    case 'optional':
      return inner(def.innerType);
    case 'nullable':
      return `${inner(def.innerType)} | null`;
    case 'array':
      return `${inner(def.element)}[]`;
    case 'record':
      return `Record<string, ${inner(def.valueType)}>`;
    case 'union':
      return def.options.map(inner).join(' | ');
    case 'pipe':
      // What is only made fit for a schema is described by that schema.
      return inner(side === 'request' && defOf(def.in).type !== 'transform' ? def.in : def.out);
    case 'object':
      return NAMES.get(def.shape) ?? objectOf(def.shape, side, indent);
    default:
      throw new Error(`the client has no type for what the schema calls "${def.type}"`);
  }
}

/** One line where it fits, otherwise one for each member. */
function union(head: string, members: readonly string[]): string {
  const line = `${head} ${members.join(' | ')};`;
  return line.length <= MAX_COLUMNS
    ? line
    : `${head}\n${members.map((member) => `  | ${member}`).join('\n')};`;
}
