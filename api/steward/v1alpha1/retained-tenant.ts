import { asStored } from '../../as-stored.ts';
import { isRecord } from '../../structural/is-record.ts';
import { validate } from '../../structural/validate.ts';
import type { RetainedControlPlane } from './retained-control-plane.ts';
import { formerKey } from './retained-control-plane.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';
import { tenantControlPlane } from './tenant-control-plane.ts';
import { UnreadableRecord } from './unreadable-record.ts';

type Retained = Pick<TenantControlPlane, 'spec' | 'status'>;

/** What was read of a record: all records are asked for in every reconcile, and a cache gives the same object until it changes. */
const known = new WeakMap<RetainedControlPlane, TenantControlPlane | UnreadableRecord>();

/** The deleted TenantControlPlane, read from its retained record: its UID, its spec and what was recorded about its data. */
export function retainedTenant(retained: RetainedControlPlane): TenantControlPlane | UnreadableRecord {
  const found = known.get(retained) ?? formerTenant(retained);
  known.set(retained, found);
  return found;
}

function formerTenant(retained: RetainedControlPlane): TenantControlPlane | UnreadableRecord {
  const { spec } = retained;
  const read = readRecord(spec.record);
  if (read instanceof UnreadableRecord) return read;
  return asStored<TenantControlPlane>({
    apiVersion: `${tenantControlPlane.group}/${tenantControlPlane.version}`,
    kind: tenantControlPlane.kind,
    metadata: { ...formerKey(retained), uid: spec.formerUID },
    spec: read.spec,
    status: read.status,
  });
}

function readRecord(text: string): Retained | UnreadableRecord {
  const value = parsed(text);
  if (!isRecord(value)) return new UnreadableRecord('spec.record is not a JSON object');
  const problem = [
    ...validate(tenantControlPlane.spec.openapi, value.spec, 'spec'),
    ...validate(tenantControlPlane.status?.openapi ?? {}, value.status ?? {}, 'status'),
  ].at(0);
  if (problem === undefined) return value as Retained;
  return new UnreadableRecord(`spec.record has an invalid ${problem.field}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
