import { asStored } from '../../../api/as-stored.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Draft, DraftOf } from '../../../api/meta.ts';
import { applyDefaults } from '../../../api/structural/apply-defaults.ts';
import { validate } from '../../../api/structural/validate.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { servedCluster } from '../../../controllers/stewardcontrolplane/infrastructure/cluster-of.ts';
import { restoreState } from '../../../controllers/stewardcontrolplane/restore/restore-state.ts';
import { tenantControlPlaneOf } from '../../../controllers/stewardcontrolplane/tenant/tenant-control-plane.ts';
import { createAdmissions } from '../../admission/admissions.ts';
import { mergeApplied } from './merge-applied.ts';
import { planIn } from './plan-change.ts';
import type { Plan } from './plan-result.ts';
import { admissionSettings } from './plan-settings.ts';
import { PlannedWorld } from './planned-world.ts';
import type { PlannedWorldOptions } from './planned-world.ts';

/** A change of a StewardControlPlane, or a new one. */
export interface ControlPlanePlanInput extends PlannedWorldOptions {
  /** The object as it is to be, before defaults; a field that it lacks is removed. */
  readonly changed: DraftOf<StewardControlPlane>;
}

const path = '/validate-controlplane-cluster-x-k8s-io-stewardcontrolplane';

/** What admission answers: why it refuses the object, and its warnings. */
async function answerTo(
  object: DraftOf<StewardControlPlane>,
  old: StewardControlPlane | undefined,
  { world, settings }: { readonly world: PlannedWorld; readonly settings: PlannedWorldOptions['settings'] },
): Promise<{ readonly refused?: string; readonly warnings: readonly string[] }> {
  const wrong = validate(stewardControlPlane.spec.openapi, object.spec, 'spec');
  if (wrong.length > 0)
    return { refused: wrong.map(({ field, message }) => `${field}: ${message}`).join('; '), warnings: [] };
  const admissions = createAdmissions({ cluster: world.management, ...admissionSettings(settings) });
  const { group, version, kind } = stewardControlPlane;
  const request = {
    uid: 'plan',
    kind: { group, version, kind },
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    ...(object.metadata.name !== undefined && { name: object.metadata.name }),
    ...(object.metadata.namespace !== undefined && { namespace: object.metadata.namespace }),
    object: object as Draft,
    oldObject: old ?? null,
    dryRun: true,
  } as const;
  const answer = await admissions[path]?.(request, { signal: new AbortController().signal });
  if (answer === undefined) throw new Error(`there is no webhook at ${path}`);
  const { warnings = [] } = answer;
  return answer.allowed ? { warnings } : { refused: answer.message, warnings };
}

/**
 * What a change of a StewardControlPlane would do: the TenantControlPlane that its controller would make of it, and what that does. The
 * Cluster and its infrastructure are not part of the plan.
 */
export async function planControlPlane(input: ControlPlanePlanInput): Promise<Plan> {
  const { settings, now } = input;
  const world = new PlannedWorld(input);
  await world.begin();
  const { namespace = 'default', name = '' } = input.changed.metadata;
  const { kind } = stewardControlPlane;
  const current = await world.management.get(stewardControlPlane, { namespace, name });
  const changed = { ...input.changed, spec: applyDefaults(stewardControlPlane.spec.openapi, input.changed.spec) };
  const { refused, warnings } = await answerTo(changed as DraftOf<StewardControlPlane>, current, { world, settings });
  const nothing = {
    ...{ kind, namespace, name, warnings },
    ...{ change: [], objects: [], waits: [], notes: [] },
    pods: { action: 'none', from: 0, to: 0, reasons: [] },
    version: { to: input.changed.spec.version, unchecked: [] },
  } as const;
  if (refused !== undefined) return { ...nothing, refused };
  const next = asStored({
    ...changed,
    metadata: { ...current?.metadata, ...changed.metadata },
  } as DraftOf<StewardControlPlane>);
  const { signal } = new AbortController();
  const served = await servedCluster({ cluster: world.management }, next, { signal });
  if (served.cluster === undefined) return { ...nothing, notes: [`nothing is created yet: ${served.why}`] };
  const existing = await world.read({ namespace, name });
  const manifest = (of: StewardControlPlane): unknown => {
    // A manifest has no status, which says what has been restored.
    const restore = restoreState({ spec: of.spec, status: current?.status }, existing);
    return JSON.parse(
      JSON.stringify(
        tenantControlPlaneOf({ ...of, status: current?.status }, served.cluster, { existing, now, restore }),
      ),
    );
  };
  if (current !== undefined) await world.management.put(stewardControlPlane, next);
  const merged = mergeApplied(
    existing ?? {},
    current === undefined ? undefined : manifest(current),
    manifest(next),
  ) as DraftOf<TenantControlPlane>;
  const plan = await planIn(world, { ...input, changed: merged });
  const ofTenant = 'the change is that of its TenantControlPlane; the Cluster and its infrastructure are not planned';
  return { ...plan, kind, warnings: [...warnings, ...plan.warnings], notes: [...plan.notes, ofTenant] };
}
