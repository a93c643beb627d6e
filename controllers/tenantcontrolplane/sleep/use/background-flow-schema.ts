import { clusterNameLabel } from '../../../../api/cluster-api/names.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { apiVersionOf } from '../../../../api/meta.ts';
import { backgroundFlowSchema, tenantUsers } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterAdminsGroup } from '../../../../kubeadm/pki/profiles.ts';

/** The kind of the object by which requests in the background are told apart. */
export const flowKinds: readonly KindRef[] = [kinds.FlowSchema];

const users = (...names: readonly string[]) => names.map((name) => ({ kind: 'User', user: { name } }));
const groups = (...names: readonly string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));
const all = ['*'];
const health = ['/healthz', '/livez', '/readyz'];

const everything = {
  resourceRules: [{ verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all }],
  nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
};

/** Requests of the control plane's own parts. */
const ofParts = {
  subjects: users(tenantUsers.monitoring, tenantUsers.konnectivity),
  ...everything,
};

/** Health checks and metrics, whoever requests them. Cluster API checks the health of a cluster by its root. */
const ofChecks = {
  subjects: groups('system:authenticated'),
  nonResourceRules: [
    {
      verbs: ['get'],
      nonResourceURLs: ['/', '/metrics', '/metrics/*', ...health, ...health.map((path) => `${path}/*`)],
    },
  ],
};

/** Whatever is requested without credentials: who only reaches the endpoint must not be able to keep the control plane awake. */
const ofStrangers = {
  subjects: groups('system:unauthenticated'),
  ...everything,
};

/** Leader elections of controllers; Kubernetes has a FlowSchema only for those in kube-system. */
const ofElections = {
  subjects: groups('system:serviceaccounts'),
  resourceRules: [
    {
      verbs: ['get', 'create', 'update', 'patch'],
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      namespaces: all,
    },
  ],
};

/** Cluster API watches the nodes of a cluster, as the user of the kubeconfig that its administrators have. */
const ofClusterApi = {
  subjects: groups(clusterAdminsGroup),
  resourceRules: [{ verbs: ['watch'], apiGroups: [''], resources: ['nodes'], clusterScope: true }],
};

/**
 * The FlowSchema that counts requests which are no use apart from those of users. They keep the priority that they have without it, before
 * those of service accounts and of all others.
 */
export function backgroundFlowManifests({ metadata, spec }: TenantControlPlane): readonly Manifest[] {
  if (spec.sleep?.afterIdle === undefined) return [];
  const isBelowCluster = metadata.labels?.[clusterNameLabel] !== undefined;
  return [
    {
      apiVersion: apiVersionOf(kinds.FlowSchema),
      kind: kinds.FlowSchema.kind,
      metadata: { name: backgroundFlowSchema },
      spec: {
        priorityLevelConfiguration: { name: 'global-default' },
        matchingPrecedence: 8500,
        distinguisherMethod: { type: 'ByUser' },
        rules: [ofParts, ofStrangers, ofChecks, ofElections, ...(isBelowCluster ? [ofClusterApi] : [])],
      },
    },
  ];
}
