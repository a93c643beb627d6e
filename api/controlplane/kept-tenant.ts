import { isRecord } from '../structural/is-record.ts';
import { validate } from '../structural/validate.ts';
import type { TenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import type { StewardControlPlane } from './steward-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

type Kept = Pick<TenantControlPlane, 'spec' | 'status'>;

/**
 * The TenantControlPlane whose data a StewardControlPlane retains, read from the retained record: its UID, its spec and
 * what was recorded about its data. Undefined if nothing is retained.
 */
export function keptTenant({
  metadata,
  status,
}: StewardControlPlane): TenantControlPlane | UnreadableRecord | undefined {
  const kept = status?.keptTenancy;
  if (kept === undefined) return undefined;
  const read = readRecord(kept.record);
  if (read instanceof UnreadableRecord) return read;
  const { namespace, name } = metadata;
  return {
    apiVersion: `${tenantControlPlane.group}/${tenantControlPlane.version}`,
    kind: tenantControlPlane.kind,
    metadata: {
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      uid: kept.formerUID,
    },
    spec: read.spec,
    ...(read.status !== undefined && { status: read.status }),
  };
}

function readRecord(text: string): Kept | UnreadableRecord {
  const value = parsed(text);
  if (!isRecord(value)) return new UnreadableRecord('status.keptTenancy.record is not a JSON object');
  const problem = [
    ...validate(tenantControlPlane.spec.openapi, value.spec, 'spec'),
    ...validate(tenantControlPlane.status?.openapi ?? {}, value.status ?? {}, 'status'),
  ].at(0);
  if (problem === undefined) return value as Pick<TenantControlPlane, 'spec' | 'status'>;
  return new UnreadableRecord(`status.keptTenancy.record has an invalid ${problem.field}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
