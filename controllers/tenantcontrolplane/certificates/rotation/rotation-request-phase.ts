import type { CredentialsRotation } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations } from '../../../../api/names.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { authoritySecrets } from '../ca-secrets.ts';
import { recovered } from './restore-rotation.ts';
import { rotationBlocker } from './evaluate-ca.ts';
import { refusalOf, refusalText, startsAuthorities, taken, withoutRefusal } from './operations.ts';
import { secretText } from '../../shared/secret.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';

/** Whole seconds, as metav1.Time is written. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

function blockerOf({ tcp, observed }: Readonly<Scope>, requested: string, now: Date): string | undefined {
  if (!startsAuthorities(requested)) return undefined;
  return authoritySecrets(tcp)
    .map((where) => {
      const stored = observed.secrets.get(where.name);
      // A missing Secret is reported by another phase.
      return stored === undefined ? undefined : rotationBlocker(where, secretText(stored.data), now);
    })
    .find((found) => found !== undefined);
}

/** The record after an annotation that has not been handled yet. */
function looked(scope: Readonly<Scope>, record: CredentialsRotation | undefined, ctx: Context): CredentialsRotation {
  const { tcp } = scope;
  const requested = tcp.metadata.annotations?.[annotations.operation];
  const before = withoutRefusal(record);
  if (requested === undefined) return before;
  // An object that was moved or restored still has the annotation, but the operation was not requested again.
  if (tcp.status?.observedGeneration === undefined) return { ...before, operation: requested };
  const refusal = refusalOf(requested, record);
  const refused = refusal === undefined ? undefined : refusalText(requested, refusal);
  if (refused !== undefined) {
    ctx.event('Warning', 'RotationRefused', refused);
    return { ...before, operation: requested, refusal: refused };
  }
  const blocker = blockerOf(scope, requested, ctx.now);
  if (blocker === undefined) {
    ctx.event('Normal', 'RotationRequested', `${requested} was accepted`);
    return taken(requested, record, seconds(ctx.now));
  }
  // The request remains, and is checked again when the Secret changes.
  if (blocker !== record?.refusal) ctx.event('Warning', 'RotationRefused', blocker);
  return { ...before, refusal: blocker };
}

/**
 * Accepts or refuses the operation in the annotation. It is only recorded here; the next reconcile acts upon the status, so that
 * a crash cannot lose the start time of a rotation.
 */
export function rotationRequest(scope: Readonly<Scope>, _deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const rotation = requested(scope, ctx);
  return Promise.resolve(rotation === undefined ? { is: 'done' } : { is: 'done', learned: { rotation }, afterMs: 1 });
}

/** The record to store; undefined when it is unchanged. */
function requested(scope: Readonly<Scope>, ctx: Context): CredentialsRotation | undefined {
  const { tcp, observed } = scope;
  const recorded = tcp.status?.certificates?.rotation;
  const record = recorded ?? recovered(tcp, observed.secrets);
  const requested = tcp.metadata.annotations?.[annotations.operation];
  if (requested === record?.operation && record === recorded) return undefined;
  const rotation = requested === record?.operation ? record : looked(scope, record, ctx);
  return JSON.stringify(rotation) === JSON.stringify(recorded) ? undefined : rotation;
}
