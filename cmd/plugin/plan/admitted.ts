import { asStored } from '../../../api/as-stored.ts';
import type { Draft, DraftOf } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from '../../../api/structural/apply-defaults.ts';
import { validate } from '../../../api/structural/validate.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../../runtime/admission/admission.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { createAdmissions } from '../../admission/admissions.ts';
import { admissionSettings } from './plan-settings.ts';
import type { PlanSettings } from './plan-settings.ts';

/** What the API server and the webhooks of the manager answer to a manifest. */
export type Admitted =
  | { readonly is: 'admitted'; readonly object: TenantControlPlane; readonly warnings: readonly string[] }
  | { readonly is: 'refused'; readonly message: string; readonly warnings: readonly string[] };

const path = (verb: 'mutate' | 'validate'): string => `/${verb}-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane`;

/**
 * The answer of the manager's admission rules to the change from `current` to `changed`. The rules of the schema that compare two
 * versions (CEL) are not among them: these only an API server evaluates.
 */
export async function admitted(
  changed: DraftOf<TenantControlPlane>,
  current: TenantControlPlane | undefined,
  { cluster, settings }: { readonly cluster: Cluster; readonly settings: PlanSettings },
): Promise<Admitted> {
  const { signal } = new AbortController();
  const handlers = createAdmissions({ cluster, ...admissionSettings(settings) });
  const { group, version, kind } = tenantControlPlane;
  const ask = async (verb: 'mutate' | 'validate', object: Draft): Promise<AdmissionAnswer> => {
    const request: AdmissionRequest = {
      uid: 'plan',
      kind: { group, version, kind },
      operation: current === undefined ? 'CREATE' : 'UPDATE',
      ...(changed.metadata.name !== undefined && { name: changed.metadata.name }),
      ...(changed.metadata.namespace !== undefined && { namespace: changed.metadata.namespace }),
      object,
      oldObject: current ?? null,
      dryRun: true,
    };
    const handler = handlers[path(verb)];
    if (handler === undefined) throw new Error(`there is no webhook at ${path(verb)}`);
    return handler(request, { signal });
  };
  const refused = ({ warnings = [] }: AdmissionAnswer, message: string): Admitted => ({
    is: 'refused',
    message,
    warnings,
  });
  const defaulted = { ...changed, spec: applyDefaults(tenantControlPlane.spec.openapi, changed.spec) };
  const mutated = await ask('mutate', defaulted);
  if (!mutated.allowed) return refused(mutated, mutated.message);
  const object = (mutated.object ?? defaulted) as DraftOf<TenantControlPlane>;
  const wrong = validate(tenantControlPlane.spec.openapi, object.spec, 'spec');
  if (wrong.length > 0)
    return refused({ allowed: true }, wrong.map(({ field, message }) => `${field}: ${message}`).join('; '));
  const answer = await ask('validate', object);
  if (!answer.allowed) return refused(answer, answer.message);
  return { is: 'admitted', object: asStored(object), warnings: answer.warnings ?? [] };
}
