import { konnectivityAddon } from './konnectivity-addon.ts';
import type { TenantControlPlaneChanges } from './tenant-control-plane.ts';

/** A change that somebody makes to a TenantControlPlane `default/tenant`, and the tenant before it. */
export interface RecordedChange {
  readonly change: string;
  /** The tenant before; all defaults if absent. */
  readonly from?: TenantControlPlaneChanges;
  /** What is merged into the object. */
  readonly body: object;
  /** The kubelets in the tenant. */
  readonly kubelets?: readonly string[];
  /** What has to come of it, so that two equal mistakes are noticed. */
  readonly expects: 'nothing' | 'objects' | 'restart' | 'scale' | 'stop' | 'start' | 'refusal' | 'hold' | 'wait';
}

const deployment = (fields: object): object => ({ spec: { controlPlane: { deployment: fields } } });
const service = (fields: object): object => ({ spec: { controlPlane: { service: fields } } });
const kubernetes = (fields: object): object => ({ spec: { kubernetes: fields } });
const network = (fields: object): object => ({ spec: { networkProfile: fields } });
const addons = (fields: object): object => ({ spec: { addons: fields } });
const withAddons = (fields: object): TenantControlPlaneChanges => ({ spec: { addons: fields } });

/** Changes of everything that a spec has, one at a time. */
export const recordedChanges: readonly RecordedChange[] = [
  { change: 'a patch version', body: kubernetes({ version: 'v1.36.4' }), expects: 'restart' },
  {
    change: 'the next minor version',
    from: { kubernetes: { version: 'v1.35.0' } },
    body: kubernetes({ version: 'v1.36.3' }),
    kubelets: ['v1.35.0'],
    expects: 'restart',
  },
  {
    change: 'a minor version that kubelets are too old for',
    from: { kubernetes: { version: 'v1.35.0' } },
    body: kubernetes({ version: 'v1.36.3' }),
    kubelets: ['v1.32.1', 'v1.35.0'],
    expects: 'hold',
  },
  { change: 'an unknown version', body: kubernetes({ version: 'v1.99.0' }), expects: 'refusal' },
  {
    change: 'an older version',
    body: kubernetes({ version: 'v1.35.0' }),
    expects: 'refusal',
  },
  { change: 'three replicas', body: deployment({ replicas: 3 }), expects: 'scale' },
  { change: 'one replica', body: deployment({ replicas: 1 }), expects: 'scale' },
  { change: 'no replicas', body: deployment({ replicas: 0 }), expects: 'stop' },
  {
    change: 'replicas for one that sleeps',
    from: { deployment: { replicas: 0 } },
    body: deployment({ replicas: 2 }),
    expects: 'start',
  },
  {
    change: 'an argument of the API server',
    body: deployment({ extraArgs: { apiServer: ['--v=4'] } }),
    expects: 'restart',
  },
  {
    change: 'an argument of the controller manager',
    body: deployment({ extraArgs: { controllerManager: ['--node-monitor-period=2s'] } }),
    expects: 'restart',
  },
  {
    change: 'an argument of the scheduler',
    body: deployment({ extraArgs: { scheduler: ['--v=2'] } }),
    expects: 'restart',
  },
  {
    change: 'the end of an argument',
    from: { deployment: { extraArgs: { apiServer: ['--v=4'], scheduler: ['--v=2'] } } },
    body: deployment({ extraArgs: { apiServer: null } }),
    expects: 'restart',
  },
  {
    change: 'an argument that replaces the datastore',
    body: deployment({ extraArgs: { apiServer: ['--etcd-servers=https://192.0.2.9:2379'] } }),
    expects: 'refusal',
  },
  {
    change: 'resources of the API server',
    body: deployment({ resources: { apiServer: { requests: { cpu: '500m', memory: '512Mi' } } } }),
    expects: 'restart',
  },
  { change: 'a node selector', body: deployment({ nodeSelector: { pool: 'control-planes' } }), expects: 'restart' },
  {
    change: 'a toleration',
    body: deployment({ tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }] }),
    expects: 'restart',
  },
  {
    change: 'an anti-affinity',
    body: deployment({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              podAffinityTerm: { topologyKey: 'rack', labelSelector: { matchLabels: { tier: 'control-plane' } } },
            },
          ],
        },
      },
    }),
    expects: 'restart',
  },
  {
    change: 'a spread over zones',
    body: deployment({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    expects: 'restart',
  },
  { change: 'a priority class', body: deployment({ priorityClassName: 'tenants' }), expects: 'restart' },
  { change: 'a runtime class', body: deployment({ runtimeClassName: 'gvisor' }), expects: 'restart' },
  {
    change: 'another strategy',
    body: deployment({ strategy: { type: 'Recreate', rollingUpdate: null } }),
    expects: 'objects',
  },
  {
    change: 'labels of the pods',
    body: deployment({ podAdditionalMetadata: { labels: { team: 'blue' } } }),
    expects: 'restart',
  },
  {
    change: 'an annotation of the Deployment',
    body: deployment({ additionalMetadata: { annotations: { team: 'blue' } } }),
    expects: 'objects',
  },
  {
    change: 'the end of a label of the Deployment',
    from: { deployment: { additionalMetadata: { labels: { team: 'blue', tier: 'gold' } } } },
    body: deployment({ additionalMetadata: { labels: { team: null } } }),
    expects: 'objects',
  },
  { change: 'another service account', body: deployment({ serviceAccountName: 'tenants' }), expects: 'restart' },
  {
    change: 'another registry',
    body: deployment({ registrySettings: { registry: 'registry.example.com/mirror' } }),
    expects: 'restart',
  },
  {
    change: 'an additional container',
    body: deployment({
      additionalContainers: [
        {
          name: 'audit',
          image: 'registry.example.com/audit:1',
          securityContext: {
            allowPrivilegeEscalation: false,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
      ],
    }),
    expects: 'restart',
  },
  {
    change: 'an additional volume',
    body: deployment({
      additionalVolumes: [{ name: 'policies', configMap: { name: 'policies' } }],
      additionalVolumeMounts: { apiServer: [{ name: 'policies', mountPath: '/policies' }] },
    }),
    expects: 'restart',
  },
  {
    change: 'a volume on the node',
    body: deployment({ additionalVolumes: [{ name: 'root', hostPath: { path: '/' } }] }),
    expects: 'refusal',
  },
  {
    change: 'patience of the probes',
    body: deployment({ probes: { liveness: { timeoutSeconds: 30 } } }),
    expects: 'restart',
  },
  {
    change: 'a group of the volumes',
    body: deployment({ podSecurityContext: { fsGroup: 65532 } }),
    expects: 'restart',
  },
  {
    change: 'an autoscaler',
    from: { deployment: { resources: { apiServer: { requests: { cpu: '250m' } } } } },
    body: deployment({ autoscaling: { minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 80 } }),
    expects: 'objects',
  },
  { change: 'a Service of type NodePort', body: service({ serviceType: 'NodePort' }), expects: 'restart' },
  {
    change: 'a Service of type LoadBalancer',
    body: service({ serviceType: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
    expects: 'wait',
  },
  {
    change: 'an annotation of the Service',
    body: service({ additionalMetadata: { annotations: { 'example.com/pool': 'internal' } } }),
    expects: 'refusal',
  },
  {
    change: 'a label of the Service',
    body: service({ additionalMetadata: { labels: { team: 'blue' } } }),
    expects: 'objects',
  },
  {
    change: 'a port of the Service',
    body: service({ additionalPorts: [{ name: 'audit', protocol: 'TCP', port: 9443, targetPort: 9443 }] }),
    expects: 'objects',
  },
  { change: 'a name in the certificate', body: network({ certSANs: ['api.example.com'] }), expects: 'restart' },
  { change: 'an address of the endpoint', body: network({ address: '192.0.2.50' }), expects: 'restart' },
  { change: 'another port', body: network({ port: 7443 }), expects: 'restart' },
  { change: 'another pod network', body: network({ podCidr: '10.245.0.0/16' }), expects: 'restart' },
  { change: 'a network that is none', body: network({ podCidr: '10.245.0.0' }), expects: 'refusal' },
  { change: 'CoreDNS', body: addons({ coreDNS: {} }), expects: 'objects' },
  {
    change: 'the end of CoreDNS',
    from: withAddons({ coreDNS: {} }),
    body: addons({ coreDNS: null }),
    expects: 'objects',
  },
  {
    change: 'another image of CoreDNS',
    from: withAddons({ coreDNS: {}, kubeProxy: {} }),
    body: addons({ coreDNS: { imageTag: 'v1.13.0' } }),
    expects: 'objects',
  },
  { change: 'kube-proxy', body: addons({ kubeProxy: {} }), expects: 'objects' },
  { change: 'konnectivity', body: addons({ konnectivity: konnectivityAddon() }), expects: 'restart' },
  {
    change: 'the end of konnectivity',
    from: withAddons({ konnectivity: konnectivityAddon() }),
    body: addons({ konnectivity: null }),
    expects: 'restart',
  },
  {
    change: 'open egress',
    body: { spec: { controlPlane: { networkPolicy: { egress: 'Open' } } } },
    expects: 'objects',
  },
  {
    change: 'an Ingress',
    body: {
      spec: {
        controlPlane: { ingress: { hostname: 'api.example.com', ingressClassName: 'nginx', controllerType: 'nginx' } },
      },
    },
    expects: 'restart',
  },
  { change: 'the lifetime of Events', body: kubernetes({ eventTTL: '2h' }), expects: 'restart' },
  { change: 'limits of requests', body: kubernetes({ requestLimits: { inFlight: 800 } }), expects: 'restart' },
  {
    change: 'an issuer of tokens',
    body: kubernetes({ serviceAccountIssuer: { url: 'https://issuer.example.com' } }),
    expects: 'restart',
  },
  {
    change: 'other admission plugins',
    body: kubernetes({ admissionControllers: ['NodeRestriction', 'AlwaysPullImages'] }),
    expects: 'restart',
  },
  {
    change: 'a patch of the kubelets',
    body: kubernetes({
      kubelet: { configurationJSONPatches: [{ op: 'add', path: '/maxPods', value: 200 }] },
    }),
    expects: 'objects',
  },
  {
    change: 'other keys for new certificates',
    body: kubernetes({ encryptionAlgorithm: 'ECDSA-P384' }),
    expects: 'objects',
  },
  { change: 'denied writes', body: { spec: { writePermissions: { blockCreation: true } } }, expects: 'objects' },
  {
    change: 'the end of denied writes',
    from: { spec: { writePermissions: { blockDeletion: true } } },
    body: { spec: { writePermissions: null } },
    expects: 'objects',
  },
  { change: 'another DataStore', body: { spec: { dataStore: 'other' } }, expects: 'restart' },
  { change: 'a DataStore that does not exist', body: { spec: { dataStore: 'missing' } }, expects: 'refusal' },
  {
    change: 'Events in another DataStore',
    body: { spec: { dataStoreOverrides: [{ resource: '/events', dataStore: 'events' }] } },
    expects: 'restart',
  },
  { change: 'a label of the object', body: { metadata: { labels: { team: 'blue' } } }, expects: 'nothing' },
  {
    change: 'a pause together with a version',
    body: { metadata: { annotations: { 'steward.butlerlabs.dev/paused': '' } }, ...kubernetes({ version: 'v1.36.4' }) },
    expects: 'wait',
  },
  {
    change: 'version, replicas and an argument at once',
    body: {
      spec: {
        kubernetes: { version: 'v1.36.4' },
        controlPlane: { deployment: { replicas: 3, extraArgs: { scheduler: ['--v=2'] } } },
      },
    },
    expects: 'restart',
  },
];
