import { gateway, tlsRoutes } from '../../api/gateway-api/kinds.ts';
import type { KindRef } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import * as tenants from '../../controllers/tenantcontrolplane/admission.ts';
import { programs } from '../../controllers/tenantcontrolplane/addons/programs.ts';
import { namespaceStandard } from '../../controllers/tenantcontrolplane/workload/namespace-standard.ts';
import type { Boundaries, BoundarySettings } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { refusalsByStore } from '../../controllers/tenantcontrolplane/datastore/placement/namespace-labels.ts';
import { storeTrouble } from '../../controllers/tenantcontrolplane/shared/store-trouble.ts';
import { asksForGateway } from '../../controllers/tenantcontrolplane/endpoint/exposure/validate-exposure.ts';
import type { GatewayApi } from '../../controllers/tenantcontrolplane/endpoint/exposure/validate-exposure.ts';
import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';

/** By what control planes are judged. */
export interface Judging {
  readonly cluster: Cluster;
  /** The last minor of Kubernetes 1 that is hosted. */
  readonly newestMinor: number;
  readonly boundaries: BoundarySettings;
  readonly reach: Reach;
}

/** A new control plane, or one that replaces `old`. */
export interface TenantChange {
  readonly namespace: string;
  readonly tcp: TenantControlPlane;
  readonly old?: TenantControlPlane | undefined;
}

/** What is wrong with a control plane, and what its author should know. */
export interface Findings {
  readonly errors: readonly InvalidInput[];
  readonly warnings: readonly string[];
}

/** Judges a control plane by all rules, with what the API server knows. */
export async function judgeTenant(
  { cluster, newestMinor, boundaries: settings, reach }: Judging,
  { namespace, ...change }: TenantChange,
  signal: AbortSignal,
): Promise<Findings> {
  const { items } = await cluster.list(dataStore, { signal });
  const drivers = new Map(items.map(({ metadata, spec }) => [metadata.name, spec.driver]));
  const troubles = new Map(
    items.flatMap((store) => {
      const trouble = storeTrouble(store);
      return trouble === undefined ? [] : [[store.metadata.name, trouble.message] as const];
    }),
  );
  const drained = new Set(items.filter(({ spec }) => spec.drain !== undefined).map(({ metadata }) => metadata.name));
  const { tcp } = change;
  const refusals = await refusalsByStore(namespace, items, { cluster, signal });
  const gatewayApi = asksForGateway(change) ? await gatewayApiOf(cluster, namespace, signal) : undefined;
  // Two concurrent requests may both be admitted: then the older object wins when they are reconciled.
  const others = tenants.concernsOthers(change)
    ? (await cluster.list(tenantControlPlane, { signal })).items
    : undefined;
  const boundaries = await boundariesIn({ cluster, boundaries: settings }, namespace, signal)(tcp);
  const question = {
    ...{ ...change, drivers, troubles, refusals, drained, gatewayApi },
    ...{ tenants: others, newestMinor, boundaries, reach },
  };
  return { errors: tenants.validate(question), warnings: tenants.warningsAbout(tcp, items) };
}

/** How far the author of a control plane may go in a namespace. */
export function boundariesIn(
  { cluster, boundaries: { defaultStandard, allowedArguments } }: Pick<Judging, 'cluster' | 'boundaries'>,
  namespace: string,
  signal: AbortSignal,
): (tcp: TenantControlPlane) => Promise<Boundaries> {
  return async (tcp) => ({
    allowedArguments,
    podSecurity: await namespaceStandard(tcp, namespace, { cluster, defaultStandard, programs }, signal),
  });
}

/** Whether the cluster serves the route kinds of the Gateway API. */
async function gatewayApiOf(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<GatewayApi> {
  const knows = async (kind: KindRef): Promise<boolean> => {
    try {
      await cluster.list(kind, { namespace, labelSelector: labels.name, metadataOnly: true, signal });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return false;
      throw error;
    }
  };
  const [hasGateways, ...hasRoutes] = await Promise.all([gateway, ...tlsRoutes].map(knows));
  if (hasRoutes.includes(true)) return 'complete';
  return hasGateways === true ? 'without TLSRoute' : 'absent';
}
