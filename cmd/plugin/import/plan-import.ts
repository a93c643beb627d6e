import type { DraftOf } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { planChange } from '../plan/plan-change.ts';
import type { PlanInput } from '../plan/plan-change.ts';
import type { Plan } from '../plan/plan-result.ts';

/**
 * What the manager changes in the first reconcile of a control plane of the Go Steward. A plan begins after that reconcile, so the change
 * that is planned here is the end of a pause of the former manager's object.
 */
export function planImport(tcp: TenantControlPlane, input: Omit<PlanInput, 'changed'>): Promise<Plan> {
  const { apiVersion, kind, metadata, spec } = tcp;
  const given = Object.entries(metadata.annotations ?? {});
  const marks = Object.fromEntries(given.filter(([key]) => key !== annotations.paused));
  const changed: DraftOf<TenantControlPlane> = {
    apiVersion,
    kind,
    spec,
    metadata: { ...metadata, annotations: marks },
  };
  const held = { ...tcp, metadata: { ...tcp.metadata, annotations: { ...marks, [annotations.paused]: 'plan' } } };
  const { reader } = input;
  return planChange({
    ...input,
    changed,
    reader: {
      ...reader,
      read: async (kind, key) => {
        const found = await reader.read(kind, key);
        return found?.metadata.uid === tcp.metadata.uid ? (held as unknown as typeof found) : found;
      },
      list: async (kind, selection) => {
        const found = await reader.list(kind, selection);
        return found?.map((one) => (one.metadata.uid === tcp.metadata.uid ? (held as unknown as typeof one) : one));
      },
    },
  });
}
