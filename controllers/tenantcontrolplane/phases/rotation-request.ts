import type { CredentialsRotation } from '../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations } from '../../../api/names.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { authoritySecrets } from '../components/authority-secrets.ts';
import { recovered } from '../components/rotation/recovered.ts';
import { obstacleToRotation } from '../components/rotation/judge-authority.ts';
import { refusalOf, refusalText, startsAuthorities, taken, withoutRefusal } from '../components/rotation/operations.ts';
import { secretText } from '../components/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** Whole seconds, as metav1.Time is written. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

function obstacle({ tcp, observed }: Readonly<Scope>, asked: string, now: Date): string | undefined {
  if (!startsAuthorities(asked)) return undefined;
  return authoritySecrets(tcp)
    .map((where) => {
      const stored = observed.secrets.get(where.name);
      // One that is not there is another phase's matter.
      return stored === undefined ? undefined : obstacleToRotation(where, secretText(stored.data), now);
    })
    .find((found) => found !== undefined);
}

/** What becomes of the record when the annotation asks for something that was not looked at yet. */
function looked(scope: Readonly<Scope>, record: CredentialsRotation | undefined, ctx: Context): CredentialsRotation {
  const { tcp } = scope;
  const asked = tcp.metadata.annotations?.[annotations.operation];
  const before = withoutRefusal(record);
  if (asked === undefined) return before;
  // An object that was moved or restored brings the annotation along, not the wish.
  if (tcp.status?.observedGeneration === undefined) return { ...before, operation: asked };
  const refusal = refusalOf(asked, record);
  const refused = refusal === undefined ? undefined : refusalText(asked, refusal);
  if (refused !== undefined) {
    ctx.event('Warning', 'RotationRefused', refused);
    return { ...before, operation: asked, refusal: refused };
  }
  const hindrance = obstacle(scope, asked, ctx.now);
  if (hindrance === undefined) {
    ctx.event('Normal', 'RotationRequested', `${asked} is taken up`);
    return taken(asked, record, seconds(ctx.now));
  }
  // The wish stands, and is looked at again when the Secret changes.
  if (hindrance !== record?.refusal) ctx.event('Warning', 'RotationRefused', hindrance);
  return { ...before, refusal: hindrance };
}

/**
 * Takes up what the annotation asks for. It is only recorded here and acted upon by the next visit, which finds it in the status:
 * a crash cannot lose when a rotation began.
 */
export function rotationRequest(scope: Readonly<Scope>, _deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const rotation = requested(scope, ctx);
  return Promise.resolve(rotation === undefined ? { is: 'done' } : { is: 'done', learned: { rotation }, afterMs: 1 });
}

/** The record that is to be stored; undefined when it is as it was. */
function requested(scope: Readonly<Scope>, ctx: Context): CredentialsRotation | undefined {
  const { tcp, observed } = scope;
  const recorded = tcp.status?.certificates?.rotation;
  const record = recorded ?? recovered(tcp, observed.secrets);
  const asked = tcp.metadata.annotations?.[annotations.operation];
  if (asked === record?.operation && record === recorded) return undefined;
  const rotation = asked === record?.operation ? record : looked(scope, record, ctx);
  return JSON.stringify(rotation) === JSON.stringify(recorded) ? undefined : rotation;
}
