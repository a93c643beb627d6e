import type { tenantControlPlaneConditions } from '../../../api/steward/v1alpha1/condition-rows.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** What a phase does. */
export type Step = (scope: Readonly<Scope>, deps: Dependencies, ctx: Context) => Promise<Outcome<Scope>>;

/** A row of the recipe. */
export type PhaseRow = readonly [
  name: string,
  /** Absent for work that no condition reports. */
  condition: keyof typeof tenantControlPlaneConditions | undefined,
  needs: readonly string[],
  run: Step,
  more?: Pick<Phase<Scope>, 'after' | 'isSilentWhenBlocked'> & {
    /** Phases that need this one, where their own rows do not say so. */
    readonly before?: readonly string[];
  },
];
