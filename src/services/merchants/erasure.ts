import { pause } from '../../base/async/pause.ts';
import { OperatorError } from '../../base/errors.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { Mode } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../refusal.ts';
import { openedIfKnown } from '../secrets/sealed.ts';

/**
 * Events whose bodies changed, and stored answers to requests;
 * a second erasure of the same customer changes none.
 */
export type Erased = { readonly customerId: string; readonly events: number; readonly answers: number };

type Person = { readonly id: string; readonly merchantId: string; readonly mode: Mode };

const SUBJECTS_AT_A_TIME = 500;
const ANSWERS_AT_A_TIME = 500;
/** Sorts before every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
/** No transaction of a request or a step lasts this long. */
const EARLIER_ENDS_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Takes a customer's email, name, metadata and external id out of every row: the customer, the order of each
 * payment link, the bodies of events, what receivers answered to them, and kept answers to requests. The page
 * with its addresses ends. Webhooks that are still to be sent go out without the names. Addresses, deposits
 * and the ledger stay. What a row says instead is the same each time, so that it can be repeated, also after
 * a crash. Throws a {@link Refusal} for an unknown customer, and an OperatorError when another transaction
 * does not end within a minute.
 */
export async function eraseCustomer(
  deps: Deps,
  input: { readonly customerId: string; readonly reason: string },
): Promise<Erased> {
  const person = await eraseRows(deps, input);
  await waitForEarlier(deps.orm.em.fork());
  const events = await eraseEvents(deps, person);
  return { customerId: person.id, events, answers: await eraseAnswers(deps, person) };
}

/** Done first, so that whatever is written from now on no longer holds the names. */
async function eraseRows(
  deps: Deps,
  { customerId, reason }: { customerId: string; reason: string },
): Promise<Person> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const person = isUuid(customerId)
      ? await firstRow(
          em,
          sql<Person>`select id, merchant_id, mode from customers where id = ${customerId} for update`,
        )
      : undefined;
    if (!person)
      throw new Refusal(
        'NOT_FOUND',
        `There is no customer ${customerId.slice(0, 100)}. Find the id with GET /customers?search=….`,
      );
    const now = deps.now();
    await run(
      em,
      sql`update customers set email = null, name = null, metadata = '{}',
        external_id = ${`erased-${person.id}`}, page_token_hash = null, page_token_sealed = null,
        updated_at = ${now}
        where id = ${person.id}`,
    );
    await run(
      em,
      sql`update payment_links set description = null, external_id = null, metadata = '{}',
        updated_at = ${now}
        where customer_id = ${person.id}`,
    );
    const { merchantId, mode, id: subject } = person;
    await recordAction(em, deps, { action: 'customer.erase', merchantId, mode, subject, reason });
    return person;
  });
}

/**
 * A transaction that read the names before they were gone may still write them down: into an event,
 * or a kept answer. So this waits for every transaction that is older than this moment, whichever
 * client it belongs to. What the service's database role cannot see does not belong to the service.
 */
async function waitForEarlier(em: Em): Promise<void> {
  const [{ at } = { at: '' }] = await rows(em, sql<{ at: string }>`select clock_timestamp()::text as at`);
  for (let waitedMs = 0; waitedMs < EARLIER_ENDS_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
    const open = await firstRow(
      em,
      sql`select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend'
        and xact_start <= ${at}::timestamptz limit 1`,
    );
    if (!open) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new OperatorError(
    'The customer is erased, but a transaction from before is still open and may write the names once more',
    'Run the same command again when it has ended; it changes what is left',
  );
}

async function eraseEvents(deps: Deps, person: Person): Promise<number> {
  const em = deps.orm.em.fork();
  let changed = await eraseEventsOf(em, person, [person.id]);
  for (const table of ['deposits', 'payment_links'] as const) {
    for (let after = NO_ID; ; ) {
      const page = await rows(
        em,
        sql<{ id: string }>`select id from ${sql.table(table)}
          where customer_id = ${person.id} and id > ${after} order by id limit ${SUBJECTS_AT_A_TIME}`,
      );
      const ids = page.map(({ id }) => id);
      if (ids.length > 0) changed += await eraseEventsOf(em, person, ids);
      if (ids.length < SUBJECTS_AT_A_TIME) break;
      after = ids.at(-1) ?? NO_ID;
    }
  }
  return changed;
}

async function eraseEventsOf(em: Em, person: Person, subjects: readonly string[]): Promise<number> {
  // A receiver may have repeated in its response what it was sent.
  await run(
    em,
    sql`update webhook_attempts a set response_body = null from webhook_deliveries d
      join events e on e.id = d.event_id
      where a.delivery_id = d.id and e.subject_id = any(${subjects}) and a.response_body is not null`,
  );
  const erasedBody = sql`erased_event(e.body, e.type, ${person.id}::uuid)`;
  return await run(
    em,
    sql`update events e set body = convert_to(${erasedBody}::text, 'UTF8')
      where e.subject_id = any(${subjects}) and convert_from(e.body, 'UTF8')::jsonb <> ${erasedBody}`,
  );
}

/**
 * Kept answers are sealed, so each of the merchant's answers of the
 * last day is opened, and sealed again if it tells of the customer.
 */
async function eraseAnswers(deps: Deps, person: Person): Promise<number> {
  const em = deps.orm.em.fork();
  let changed = 0;
  for (let after = NO_ID; ; ) {
    const page = await rows(
      em,
      sql<{ id: string; bodySealed: Buffer }>`select id, body_sealed from idempotency_answers
        where merchant_id = ${person.merchantId} and mode = ${person.mode} and id > ${after} order by id
          limit ${ANSWERS_AT_A_TIME}`,
    );
    for (const { id, bodySealed } of page) {
      // What no key opens tells nobody anything, and is removed when its day is over.
      const body = openedIfKnown(deps.secretBox, bodySealed, id);
      const without = body === undefined ? undefined : withoutNames(body, person.id);
      if (without === undefined || without === body) continue;
      await run(
        em,
        sql`update idempotency_answers set body_sealed = ${deps.secretBox.seal(without, id)}
          where id = ${id}`,
      );
      changed += 1;
    }
    if (page.length < ANSWERS_AT_A_TIME) return changed;
    after = page.at(-1)?.id ?? after;
  }
}

/**
 * The same answer without the names of this customer, wherever in
 * it they are; exactly the same text if it tells nothing of them.
 */
function withoutNames(text: string, customerId: string): string {
  if (!text.includes(customerId)) return text;
  return JSON.stringify(
    JSON.parse(text, (_key, value: unknown) => (isOf(value, customerId) ? erased(value, customerId) : value)),
  );
}

type Shown = Readonly<Record<string, unknown>>;

function isOf(value: unknown, customerId: string): value is Shown {
  return (
    typeof value === 'object' &&
    value !== null &&
    (('id' in value && value.id === customerId) ||
      ('customer_id' in value && value.customer_id === customerId))
  );
}

function erased(shown: Shown, customerId: string): Shown {
  const isOrder = 'token' in shown;
  const instead: Shown = {
    email: null,
    name: null,
    metadata: {},
    description: null,
    external_id: isOrder ? null : `erased-${customerId}`,
  };
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, name in instead ? instead[name] : value]),
  );
}
