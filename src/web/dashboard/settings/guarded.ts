import { requireStepUp } from '../../../services/access/signed-in/step-up.ts';
import type { Within } from '../../../services/within.ts';
import type { Html } from '../../html.ts';
import { guardFields } from '../forms.ts';
import { type FormPage, form, type Typed, type Visit } from '../visit.ts';

/** How a service carries a guarded change out: it asks once more, in the transaction, whether it may. */
export function guarding(tx: { readonly em: NonNullable<Within['em']> }, { deps, owner }: Visit): Within {
  return { em: tx.em, guard: (em) => requireStepUp(em, deps, owner) };
}

/**
 * A form in both modes: in live mode, where keys open real money and endpoints are told of it, it is guarded,
 * and its transaction asks once more before anything else.
 */
export function guardedWhenLive<Input, Prepared = undefined>(
  declaration: FormPage<Input, Prepared>,
): readonly FormPage[] {
  const apply: typeof declaration.apply = async (tx, deps, change) => {
    await requireStepUp(tx.em, deps, change.visit.owner);
    return await declaration.apply(tx, deps, change);
  };
  return [
    form({ ...declaration, only: 'live', guarded: true, apply }),
    form({ ...declaration, only: 'test' }),
  ];
}

/** The fields by which such a form asks for the password. */
export function guardFieldsWhenLive(visit: Visit, typed: Typed): Html | null {
  return visit.mode === 'live' ? guardFields(visit, typed) : null;
}
