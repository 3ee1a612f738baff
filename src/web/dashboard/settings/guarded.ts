import { requireStepUp } from '../../../services/access/signed-in/step-up.ts';
import type { Within } from '../../../services/within.ts';
import { type FormPage, form, type Visit } from '../visit.ts';

/** How a service carries a guarded change out: it asks once more, in the transaction, whether it may. */
export function guarding(tx: { readonly em: NonNullable<Within['em']> }, { deps, owner }: Visit): Within {
  return { em: tx.em, guard: (em) => requireStepUp(em, deps, owner) };
}

/** A form about keys in both modes: those of live mode open real money and are guarded. */
export function guardedWhenLive<Input, Prepared = undefined>(
  declaration: FormPage<Input, Prepared>,
): readonly FormPage[] {
  return [form({ ...declaration, only: 'live', guarded: true }), form({ ...declaration, only: 'test' })];
}

/** The same for the change itself. */
export function guardingWhenLive(tx: { readonly em: NonNullable<Within['em']> }, visit: Visit): Within {
  return visit.mode === 'live' ? guarding(tx, visit) : { em: tx.em };
}
