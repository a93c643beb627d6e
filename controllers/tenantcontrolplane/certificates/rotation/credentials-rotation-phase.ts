import { kinds } from '../../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../../api/names.ts';
import type { Rotation, RotationSubject } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { advanced, isMoving } from './advance.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { wantedReplicas } from '../../shared/replicas.ts';
import { isRolling } from '../../shared/state.ts';
import { podSelectorText } from '../../shared/pod-selector.ts';
import { publishes } from '../published-cas.ts';
import { putOff } from '../../upgrade/writes-in-tenant.ts';

/** The Deployment does not count terminating pods, and no watch reports their end. */
const leavingMs = 2_000;

interface Waiting {
  readonly message: string;
  readonly afterMs?: number;
}

/** Why not all running pods have the current CAs and keys; undefined when they have. */
async function unsettled(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  const { tcp, deployment } = scope;
  const later = putOff(scope);
  if (later !== undefined) return { message: later };
  if (isRolling(deployment, wantedReplicas(tcp, deployment))) return { message: 'pods are being replaced' };
  const namespace = tcp.metadata.namespace;
  const { items } = await deps.cluster.list(kinds.Pod, {
    namespace,
    labelSelector: podSelectorText(tcp),
    signal: ctx.signal,
  });
  const facts = Object.entries(needed(scope.authorityFacts, 'authorityFacts'));
  const left = items.filter(({ status, metadata }) => {
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
    return facts.some(([component, { checksum }]) => metadata.labels?.[componentChecksumLabel(component)] !== checksum);
  });
  if (left.length === 0) return undefined;
  return { message: `old pods are still terminating: ${left.length}`, afterMs: leavingMs };
}

const subjects: readonly RotationSubject[] = ['certificateAuthorities', 'serviceAccountKey'];

/**
 * Advances rotations when the previous step has reached every pod, and the tenant where necessary. The step is only recorded
 * here; the next reconcile acts upon it.
 */
export async function credentialsRotation(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const recorded = scope.tcp.status?.certificates?.rotation;
  const moving = subjects.filter((subject) => isMoving(recorded?.[subject]));
  if (moving.length === 0) return { is: 'done' };
  const waitsForAll = await unsettled(scope, deps, ctx);
  const entries = await Promise.all(
    moving.map(async (subject) => {
      const before = needed(recorded?.[subject], 'rotation');
      const waits = waitsForAll ?? (await unpublished(subject, before, { scope, deps, ctx }));
      return { subject, before, waits };
    }),
  );
  const changed = entries.map(({ subject, before, waits }): readonly [RotationSubject, Rotation] => {
    if (waits !== undefined) return [subject, { ...before, message: waits.message }];
    const after = advanced(before, ctx.now);
    if (after.phase !== before.phase) announce(subject, after, ctx);
    return [subject, after];
  });
  const rotation = { ...(scope.rotation ?? recorded), ...Object.fromEntries(changed) };
  const delays = entries.map(({ waits }) => (waits === undefined ? 1 : waits.afterMs)).filter((ms) => ms !== undefined);
  return { is: 'done', learned: { rotation }, ...(delays.length > 0 && { afterMs: Math.min(...delays) }) };
}

/** Why clients in the tenant do not get the new CA yet. */
async function unpublished(
  subject: RotationSubject,
  { step }: Rotation,
  { scope, deps, ctx }: { readonly scope: Readonly<Scope>; readonly deps: Dependencies; readonly ctx: Context },
): Promise<Waiting | undefined> {
  if (subject !== 'certificateAuthorities' || step !== 'Trusting') return undefined;
  const { trusted } = needed(scope.authorities, 'authorities');
  if (await publishes(deps.tenants.client(scope), trusted, ctx.signal)) return undefined;
  const message =
    'kube-controller-manager has not yet published the new CA in the ConfigMap kube-root-ca.crt of kube-system; if spec.controlPlane.deployment.extraArgs sets its --root-ca-file, that file must contain the new CA';
  return { message, afterMs: leavingMs };
}

const subjectTexts: Readonly<Record<RotationSubject, string>> = {
  certificateAuthorities: 'CAs',
  serviceAccountKey: 'service-account keys',
};

function announce(subject: RotationSubject, { phase }: Rotation, ctx: Context): void {
  const what = subjectTexts[subject];
  if (phase === 'Prepared') {
    const message = `old and new ${what} are trusted, and the new ones sign; complete the rotation once all workers and users have switched to them`;
    ctx.event('Normal', 'RotationPrepared', message);
  }
  if (phase === 'Completed') ctx.event('Normal', 'RotationCompleted', `only the new ${what} are trusted`);
}
