import { asStored } from '../../api/as-stored.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { DraftOf } from '../../api/meta.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { validate } from '../../api/structural/validate.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import * as controlPlanes from '../../controllers/stewardcontrolplane/admission.ts';
import {
  validateRestore,
  validateRestoreRemoval,
} from '../../controllers/stewardcontrolplane/restore/validate-restore.ts';
import { tenantControlPlaneOf } from '../../controllers/stewardcontrolplane/tenant/tenant-control-plane.ts';
import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import * as tenants from '../../controllers/tenantcontrolplane/admission.ts';
import { programs } from '../../controllers/tenantcontrolplane/addons/programs.ts';
import { validateBoundaries } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import type { Boundaries } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { ownField } from './own-field.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';

/** A control plane, or the one that a template would create, with the previous object. */
export interface ControlPlaneChange {
  readonly scp: StewardControlPlane;
  readonly old?: StewardControlPlane | undefined;
  readonly newestMinor: number;
  /** How far its author may go with the TenantControlPlane that is made of it. */
  readonly boundariesOf: (tcp: TenantControlPlane) => Promise<Boundaries>;
  /** What may be seen of control planes outside their namespaces. */
  readonly reach: Reach;
  /** Whether backups can be restored; true by default. */
  readonly backups?: boolean;
  /** The path to the spec of the control plane; a template has it deeper inside. */
  readonly specPath?: string;
}

/**
 * Validates a control plane, also by the rules of its TenantControlPlane. Values that were admitted earlier stay admitted,
 * because the controller writes the spec, too.
 */
export async function validateControlPlane(change: ControlPlaneChange): Promise<readonly InvalidInput[]> {
  const { scp, old, specPath = 'spec', backups = true, ...limits } = change;
  if (scp.metadata.deletionTimestamp !== undefined) return [];
  const before = new Set(old === undefined ? [] : validateTenant(old, limits).map(identityOf));
  const ofTenant = [
    ...validateTenant(scp, limits).filter((invalid) => !before.has(identityOf(invalid))),
    ...(await outOfBounds(change)),
  ];
  const ofItself = [
    ...controlPlanes.validate(scp, old, limits.newestMinor),
    ...validateRestore(scp, old, backups),
    // From a template nothing is restored.
    ...(specPath === 'spec' ? validateRestoreRemoval(scp, old) : []),
  ];
  return [
    ...ofItself.map((invalid) => ({ ...invalid, field: invalid.field.replace(/^spec\./, `${specPath}.`) })),
    ...ofTenant.map((invalid) => ownField(invalid, specPath)),
  ];
}

/** Validates what would reach beyond the namespace. Another cluster validates itself what runs there. */
async function outOfBounds({ scp, old, boundariesOf }: ControlPlaneChange): Promise<readonly InvalidInput[]> {
  const tcp = defaultedTenant(scp);
  if (tcp === undefined || scp.spec.deployment?.externalClusterReference !== undefined) return [];
  // Rules rely on the schema; what does not match it is refused already.
  if (validate(tenantControlPlane.spec.openapi, tcp.spec, 'spec').length > 0) return [];
  const before = old === undefined ? undefined : defaultedTenant(old);
  return validateBoundaries(tcp, before, { ...(await boundariesOf(tcp)), programs });
}

const identityOf = ({ field, value, reason }: InvalidInput): string => JSON.stringify([field, value, reason]);

/** What depends neither on the Cluster and its networks nor on the existing DataStores. */
const evaluated = [
  'metadata.name',
  'spec.controlPlane.',
  'spec.addons.',
  'spec.kubernetes.admissionControllers',
  'spec.kubernetes.kubelet',
  'spec.kubernetes.serviceAccountIssuer',
];

/** The Cluster determines only the port of the API server: here it has a port that no other component uses. */
const anyCluster = asStored<CapiCluster>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'any' },
  spec: { clusterNetwork: { apiServerPort: 1 } },
});

type Limits = Pick<ControlPlaneChange, 'newestMinor' | 'reach'>;

function validateTenant(scp: StewardControlPlane, limits: Limits): readonly InvalidInput[] {
  const tcp = defaultedTenant(scp);
  if (tcp === undefined) return [];
  const unfit = validate(tenantControlPlane.spec.openapi, tcp.spec, 'spec').map(({ field, message }) => ({
    field,
    reason: message,
    remedy: 'correct the field from which it is derived',
  }));
  // Rules may rely on the schema.
  const found = unfit.length > 0 ? unfit : tenants.validate({ tcp, drivers: new Map(), ...limits });
  // In another cluster it has a name of its own.
  const isElsewhere = scp.spec.deployment?.externalClusterReference !== undefined;
  return found
    .filter(({ field }) => evaluated.some((prefix) => field.startsWith(prefix)))
    .filter(({ field }) => !isElsewhere || field !== 'metadata.name');
}

function defaultedTenant(scp: StewardControlPlane): TenantControlPlane | undefined {
  const made = manifestOf(scp);
  return made && ({ ...made, spec: applyDefaults(tenantControlPlane.spec.openapi, made.spec) } as TenantControlPlane);
}

/** Undefined for an invalid version, which is refused already. */
function manifestOf(scp: StewardControlPlane): TenantControlPlane | undefined {
  try {
    const manifest = tenantControlPlaneOf(scp, anyCluster, { now: new Date(0) });
    return asStored(JSON.parse(JSON.stringify(manifest)) as DraftOf<TenantControlPlane>);
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}
