import { isSignedIn } from '../../services/access/sessions.ts';
import { requireStepUp } from '../../services/access/signed-in/step-up.ts';
import { txDeps } from '../../services/deps.ts';
import {
  answerOnce,
  IdempotencyConflict,
  type KeptAnswer,
  type KeyedRequest,
  keptAnswer,
} from '../../services/idempotency.ts';
import { withinTime } from '../../services/time-limit.ts';
import { secretsOf, shownBefore } from './answers.ts';
import { confirm } from './confirm.ts';
import type { Problem } from './door.ts';
import { NotSignedIn } from './enter.ts';
import { atField, sentence } from './fields.ts';
import { isGuarded, ONCE } from './form.ts';
import type { Done, FormPost, Screen, Typed, Values, Visit } from './visit.ts';

/** More than every form of ours needs, and little enough to be read for anybody who is signed in. */
const MAX_FORM_BYTES = 64 * 1024;
/** How long a second post of a form waits for the first one. */
const OTHER_POST_MS = 1_000;
/** For how long it is looked whether a form has taken effect before. */
const LOOK_MS = 1_800;
const ONCE_SHAPE = /^[0-9a-f-]{36}$/;
/** Members that are never shown again. */
const SECRET = /^(confirm_password|confirm_code|present|password|again|code)$/;
/** Who sends a form again proves again who it is; what the form says is the same. */
const PROOF = /^(confirm_password|confirm_code|once)$/;

/** What a post came to: a change that was made, or the form again. */
export type Posted = { readonly location: string } | { readonly screen: Screen };

/**
 * Carries a form out, once for its key: a second post of the same form leads to where the first one led, and
 * does not show the secrets that the first one made.
 * What is refused changes nothing and shows the form again, with what was typed and a sentence at each field.
 * Throws what is no matter of the form: an id that does not exist, an outage.
 */
export async function postForm<Input, Prepared>(
  visit: Visit,
  form: FormPost<Input, Prepared>,
  limitMs: number,
): Promise<Posted> {
  const values = textsOf(await visit.door.readForm(visit.ctx, MAX_FORM_BYTES));
  const given = values[ONCE] ?? '';
  const once = ONCE_SHAPE.test(given) ? given : visit.deps.newId();
  const again = async (problem: Problem, shown = visit): Promise<Posted> => {
    visit.ctx.set(problem.headers);
    visit.ctx.state['code'] = problem.code;
    const screen = await form.again(shown, typedOf(values, once, problem));
    return { screen: { ...screen, status: problem.status } };
  };
  if (once !== given) return await again(invalid('This form was not complete. Send it again.'));
  const read = form.read(visit, values);
  if ('details' in read) return await again({ ...invalid(''), details: read.details });
  const sent = { once, values, input: read.input };
  let proven = visit;
  try {
    const confirmed = isGuarded(visit, form.guard) ? await confirmedBy(visit, sent) : { visit };
    if ('problem' in confirmed) return await again(confirmed.problem);
    if (!('visit' in confirmed)) return confirmed;
    proven = confirmed.visit;
    // Where a code was just used up, a caller who leaves does not waste it: the second of two clicks
    // would have to wait for the next code.
    const answer = proven === visit ? visit.ctx.res : undefined;
    const work = () => carryOut(proven, form, sent);
    return await withinTime({ limitMs, answer, party: visit.owner.merchantId }, work, visit.door.late);
  } catch (error) {
    if (error instanceof IdempotencyConflict) return await again(conflict(error), proven);
    const problem = visit.door.problemOf(error);
    // What is only away for the moment costs nobody what was typed, as long as the form can be shown.
    if (problem.code === 'UNAVAILABLE')
      return await again(problem, proven).catch(() => {
        throw error;
      });
    if (problem.status >= 500 || problem.status === 404) throw error;
    const isOver = problem.code === 'STEP_UP_REQUIRED';
    return await again(problem, isOver ? unconfirmed(proven) : proven);
  }
}

type Given<Input> = { readonly once: string; readonly values: Values; readonly input: Input };

/**
 * Lets a form go on whose sender has proven who it is, now or within ten minutes. A second post of a form
 * that has taken effect needs no proof, and could give none: its code is used up.
 */
async function confirmedBy(visit: Visit, sent: Given<unknown>) {
  if (visit.standing.steppedUpUntil) return { visit };
  const wait = { limitMs: LOOK_MS, answer: visit.ctx.res, party: visit.owner.merchantId };
  const look = () => keptAnswer(visit.deps, requestOf(visit, sent), OTHER_POST_MS);
  const known = await withinTime(wait, look, visit.door.late);
  if (known) return ledTo(known);
  const confirmed = await confirm(visit, sent.values);
  if ('visit' in confirmed) return confirmed;
  const meanwhile = await withinTime(wait, look, visit.door.late);
  return meanwhile ? ledTo(meanwhile) : confirmed;
}

/** What is kept of a form that has taken effect: where it leads, and whether secrets were shown before. */
const kept = ({ secrets }: Done, to: string): KeptAnswer => ({ status: secrets ? 200 : 303, body: to });

const ledTo = ({ status, body }: KeptAnswer): Posted =>
  status === 303 ? { location: body } : { screen: shownBefore(body) };

function unconfirmed(visit: Visit): Visit {
  return { ...visit, standing: { ...visit.standing, steppedUpUntil: null } };
}

function requestOf(visit: Visit, { once, values }: Given<unknown>): KeyedRequest {
  return {
    ...visit.scope,
    method: 'POST',
    path: visit.ctx.path,
    key: `form:${visit.owner.userId}:${once}`,
    requestHash: hashOf(visit, values),
  };
}

async function carryOut<Input, Prepared>(
  visit: Visit,
  { guard, prepare, apply }: FormPost<Input, Prepared>,
  sent: Given<Input>,
): Promise<Posted> {
  const { deps, ctx, owner, door, to } = visit;
  const { input } = sent;
  const request = requestOf(visit, sent);
  let done: Done | undefined;
  const work = () =>
    answerOnce<Prepared>(deps, request, {
      prepare: prepare && (() => prepare(visit, input)),
      apply: async (tx, prepared) => {
        if (!(await isSignedIn(tx.em, owner))) throw new NotSignedIn();
        if (isGuarded(visit, guard) && guard !== 'in service') await requireStepUp(tx.em, deps, owner);
        done = await apply(tx, txDeps(deps), { visit, input, prepared: prepared as Prepared });
        return kept(done, to(done.to));
      },
      keptRefusal: () => undefined,
    });
  const answer = await work().catch(async (error: unknown) => {
    if (!(error instanceof IdempotencyConflict) || error.reason !== 'in_flight') throw error;
    await keptAnswer(deps, request, OTHER_POST_MS);
    return await work();
  });
  if (answer.replayed || !done) return ledTo(answer);
  if (done.token !== undefined) door.handOver(ctx, done.token);
  return done.secrets ? { screen: secretsOf(done.secrets, to(done.to)) } : { location: to(done.to) };
}

/** Members that are no text are dropped: a browser sends none. */
function textsOf(members: Readonly<Record<string, unknown>>): Values {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function typedOf(values: Values, once: string, { message, details }: Problem): Typed {
  const shown = Object.entries(values).filter(([name]) => !SECRET.test(name));
  const ofFields = details.filter(({ path }) => path !== '');
  const ofAll = details.filter(({ path }) => path === '').map((one) => sentence(one.message));
  const errors = Object.fromEntries(ofFields.map(({ path, message: text }) => [path, atField(text, path)]));
  const below = ofFields.length > 0 ? ['Nothing was changed: something below is not right.'] : [];
  const problem = [...below, ...ofAll].join(' ') || message;
  return { values: Object.fromEntries(shown), errors, problem, once };
}

/** A new password is among the members: only a holder of the key can tell which texts have this hash. */
function hashOf({ deps }: Visit, values: Values): string {
  const members = Object.entries(values).filter(([name]) => !PROOF.test(name));
  return deps.secretBox.keyedHash(JSON.stringify(members.sort()), 'form');
}

function invalid(message: string): Problem {
  return { status: 400, code: 'VALIDATION_ERROR', message, headers: {}, details: [] };
}

function conflict({ reason }: IdempotencyConflict): Problem {
  const message =
    reason === 'in_flight'
      ? 'This form is being carried out at this moment. Look at the list before you send it again.'
      : 'This form was sent before with other values, and has taken effect. Open a new one for another change.';
  return { status: 409, code: 'IDEMPOTENCY_CONFLICT', message, headers: {}, details: [] };
}
