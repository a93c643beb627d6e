import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../runtime/client/cluster.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import { installKinds } from '../testing/servers/install-kinds.ts';
import { apiServerUnderTest } from '../testing/servers/api-server-under-test.ts';
import { allKinds } from './all-kinds.ts';
import { clusterAddon } from '../clusterstacks/api/cluster-addon.ts';
import { clusterStack } from '../clusterstacks/api/cluster-stack.ts';
import { stewardControlPlaneTemplate } from './controlplane/steward-control-plane-template.ts';
import { stewardControlPlane } from './controlplane/steward-control-plane.ts';
import { kinds } from './core/kinds.ts';
import type { Manifest } from './meta.ts';
import { apiVersionOf } from './meta.ts';
import type { Kind, OpenApi } from './schema.ts';
import { backupPolicy } from './steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from './steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from './steward/v1alpha1/backup/tenant-restore.ts';
import { dataStore } from './steward/v1alpha1/data-store.ts';
import { controlPlaneClaim } from './steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from './steward/v1alpha1/pool/control-plane-pool.ts';
import { kubeconfigGenerator } from './steward/v1alpha1/kubeconfig-generator.ts';
import { tenantControlPlane } from './steward/v1alpha1/tenant-control-plane.ts';

const namespace = `cel-${randomUUID().slice(0, 8)}`;
let cluster: Cluster;

beforeAll(async () => {
  const server = await apiServerUnderTest();
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  await installKinds(cluster, allKinds);
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}, 120_000);

afterAll(() => cluster.close());

/** `refuses` must be rejected with the message. `keeps` is as similar as possible, and must be accepted. */
interface Case {
  readonly kind: Kind;
  readonly message: string;
  readonly refuses: object;
  readonly keeps: object;
  /** For transition rules: the value before the update. */
  readonly from?: object;
  /** For rules about names. */
  readonly names?: { readonly refuses: readonly string[]; readonly keeps: readonly string[] };
}

const manifestOf = (kind: Kind, spec: object, name = `x-${randomUUID().slice(0, 8)}`): Manifest => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, ...(kind.namespaced && { namespace }) },
  spec,
});

type Spec = Readonly<Record<string, unknown>>;

const tenant = (serviceType: string, spec: Spec = {}, controlPlane: Spec = {}): object => ({
  controlPlane: { service: { serviceType }, ...controlPlane },
  kubernetes: { version: 'v1.36.3' },
  ...spec,
});
const agent = (fields: object): Spec => ({ addons: { konnectivity: { agent: fields } } });
const agentMessage =
  'replicas must be 0 (or unset) when mode is DaemonSet, and greater than 0 (or unset) when mode is Deployment';
const agentsAt: Spec = { addons: { konnectivity: { server: { port: 8132, hostname: 'agents.example.com' } } } };
const agentsAtMessage = 'addons.konnectivity.server.hostname is supported only with an ingress or a gateway';
const bothExposures = { ingress: { hostname: 'a.example.com' }, gateway: { hostname: 'a.example.com' } };
const lb = 'LoadBalancer';
/** A Service of both IP families. */
const bothFamilies = { serviceType: lb, ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] };

/** Rules of tolerations for DataStore taints. */
const tolerationCases: readonly Omit<Case, 'kind'>[] = [
  {
    message: 'value must be empty when operator is Exists',
    refuses: { dataStoreTolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
    keeps: {
      dataStoreTolerations: [
        { key: 'a', operator: 'Exists' },
        { key: 'a', value: 'b' },
      ],
    },
  },
  {
    message: 'operator must be Exists when key is empty',
    refuses: { dataStoreTolerations: [{ value: 'b' }] },
    keeps: { dataStoreTolerations: [{ operator: 'Exists', effect: 'NoPlacement' }] },
  },
];

const fixedField = (field: string): readonly Case[] => [
  {
    kind: tenantControlPlane,
    message: `changing the ${field} is not supported`,
    from: tenant(lb, { [field]: 'a' }),
    refuses: tenant(lb, { [field]: 'b' }),
    keeps: tenant(lb, { [field]: 'a' }),
  },
  {
    kind: tenantControlPlane,
    message: `unsetting the ${field} is not supported`,
    from: tenant(lb, { [field]: 'a' }),
    refuses: tenant(lb),
    keeps: tenant(lb, { [field]: 'a' }),
  },
];

/** Rules of autoscaling, which is `deployment.autoscaling` in the control planes of every kind. */
const scalingCases = [
  {
    message: 'minReplicas must not be greater than maxReplicas',
    refuses: { minReplicas: 3, maxReplicas: 2, targetInFlightRequests: 100 },
    keeps: { minReplicas: 2, maxReplicas: 2, targetInFlightRequests: 100 },
  },
  {
    message: 'set targetCPUUtilizationPercentage, targetInFlightRequests or both',
    refuses: { minReplicas: 1, maxReplicas: 2 },
    keeps: { minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 80 },
  },
] as const;
const scaled = (autoscaling: object): Spec => ({ deployment: { autoscaling } });

const plugin = { provider: 'kms', kms: { name: 'a', container: 'b' } };
/** Rules of encryption, which is a part of `kubernetes` in the control planes of every kind. */
const encryptionCases = [
  {
    message: 'names that begin with generated- are reserved for keys that Steward generates: use another name',
    refuses: { keySecret: { name: 'a', key: 'generated-1' } },
    keeps: { keySecret: { name: 'a', key: 'first' } },
  },
  {
    message: 'set kms if, and only if, provider is kms',
    refuses: { ...plugin, provider: 'aesgcm' },
    keeps: plugin,
  },
  {
    message: 'set kms if, and only if, provider is kms',
    refuses: { provider: 'kms' },
    keeps: { provider: 'aescbc' },
  },
  {
    message: 'the key of a plugin is not in a Secret: leave out keySecret',
    refuses: { ...plugin, keySecret: { name: 'a', key: 'first' } },
    keeps: { ...plugin, keyGeneration: 2 },
  },
  {
    message: 'to rotate your own key, name another key in keySecret, and leave out keyGeneration',
    refuses: { keySecret: { name: 'a', key: 'first' }, keyGeneration: 2 },
    keeps: { keyGeneration: 2 },
  },
] as const;

/** Rules of `quota`, which is in the spec of every kind. */
const quotaCases = [
  {
    message: 'a quota needs dataSize, objects or writesPerSecond',
    refuses: { quota: { warnAtPercent: 50 } },
    keeps: { quota: { writesPerSecond: 10 } },
  },
] as const;

const nights = { sleep: '0 20 * * *', wake: '0 7 * * *' };
/** Rules of `sleep`, which is in the spec of every kind. */
const sleepCases = [
  {
    message: 'sleep needs schedules or afterIdle',
    refuses: { sleep: {} },
    keeps: { sleep: { schedules: [nights] } },
  },
  {
    message: 'afterIdle must be at least 5m: use is read once a minute, or less often with several pods',
    refuses: { sleep: { afterIdle: '4m59s' } },
    keeps: { sleep: { afterIdle: '5m' } },
  },
  {
    message: 'afterIdle must be at most 720h',
    refuses: { sleep: { afterIdle: '720h1s' } },
    keeps: { sleep: { afterIdle: '720h' } },
  },
  {
    message: 'NodeRequest needs Request',
    refuses: { sleep: { afterIdle: '5m', wakeOn: ['NodeRequest', 'Schedule', 'Manual'] } },
    keeps: { sleep: { afterIdle: '5m', wakeOn: ['Request', 'NodeRequest', 'Schedule', 'Manual'] } },
  },
  {
    message: 'sleep and wake must be different times',
    refuses: { sleep: { schedules: [{ ...nights, wake: nights.sleep }] } },
    keeps: { sleep: { schedules: [nights, { sleep: '0 18 * * 5', wake: '0 7 * * 1', timeZone: 'Europe/Berlin' }] } },
  },
] as const;

const tenantCases: readonly Case[] = [
  ...sleepCases.map(({ message, refuses, keeps }) => ({
    kind: tenantControlPlane,
    message,
    refuses: tenant(lb, refuses),
    keeps: tenant(lb, keeps),
  })),
  ...quotaCases.map(({ message, refuses, keeps }) => ({
    kind: tenantControlPlane,
    message,
    refuses: tenant(lb, refuses),
    keeps: tenant(lb, keeps),
  })),
  ...encryptionCases.map(({ message, refuses, keeps }) => ({
    kind: tenantControlPlane,
    message,
    refuses: tenant(lb, { kubernetes: { version: 'v1.36.3', encryption: refuses } }),
    keeps: tenant(lb, { kubernetes: { version: 'v1.36.3', encryption: keeps } }),
  })),
  ...scalingCases.map(({ message, refuses, keeps }) => ({
    kind: tenantControlPlane,
    message,
    refuses: tenant(lb, {}, scaled(refuses)),
    keeps: tenant(lb, {}, scaled(keeps)),
  })),
  ...tolerationCases.map((one) => ({
    kind: tenantControlPlane,
    message: one.message,
    refuses: tenant(lb, { ...one.refuses }),
    keeps: tenant(lb, { ...one.keeps }),
  })),
  {
    kind: tenantControlPlane,
    message: 'dataStore and dataStoreSelector are mutually exclusive: remove one of them',
    refuses: tenant(lb, { dataStore: 'a', dataStoreSelector: {} }),
    keeps: tenant(lb, { dataStore: '', dataStoreSelector: { matchLabels: { tier: 'gold' } } }),
  },
  ...fixedField('dataStoreSchema'),
  ...fixedField('dataStoreUsername'),
  {
    kind: tenantControlPlane,
    message: 'unsetting the dataStore is not supported',
    from: tenant(lb, { dataStore: 'a' }),
    refuses: tenant(lb),
    keeps: tenant(lb, { dataStore: 'b' }),
  },
  {
    kind: tenantControlPlane,
    message: 'changing the cluster domain is not supported',
    from: tenant(lb, { networkProfile: { clusterDomain: 'a.local' } }),
    refuses: tenant(lb, { networkProfile: { clusterDomain: 'b.local' } }),
    keeps: tenant(lb, { networkProfile: { clusterDomain: 'a.local', port: 443 } }),
  },
  {
    kind: tenantControlPlane,
    message: 'LoadBalancerClass is immutable',
    from: tenant(lb, { networkProfile: { loadBalancerClass: 'a' } }),
    refuses: tenant(lb, { networkProfile: { loadBalancerClass: 'b' } }),
    keeps: tenant('NodePort', { networkProfile: {} }),
  },
  {
    kind: tenantControlPlane,
    message: 'LoadBalancerClass cannot be set or unset at runtime',
    from: tenant(lb, { networkProfile: { port: 6443 } }),
    refuses: tenant(lb, { networkProfile: { loadBalancerClass: 'a' } }),
    keeps: tenant(lb, { networkProfile: { port: 443 } }),
  },
  {
    kind: tenantControlPlane,
    message: 'LoadBalancerClass is supported only with LoadBalancer service type',
    refuses: tenant('ClusterIP', { networkProfile: { loadBalancerClass: 'a' } }),
    keeps: tenant(lb, { networkProfile: { loadBalancerClass: 'a' } }),
  },
  {
    kind: tenantControlPlane,
    message: agentsAtMessage,
    refuses: tenant(lb, agentsAt),
    keeps: tenant(lb, agentsAt, { gateway: { hostname: 'a.example.com' } }),
  },
  {
    kind: tenantControlPlane,
    message: 'LoadBalancer source ranges are supported only with LoadBalancer service type',
    refuses: tenant('NodePort', { networkProfile: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }),
    keeps: tenant('NodePort', { networkProfile: { loadBalancerSourceRanges: [] } }),
  },
  {
    kind: tenantControlPlane,
    message: 'allocateLoadBalancerNodePorts is supported only with LoadBalancer service type',
    refuses: tenant(lb, {}, { service: { serviceType: 'NodePort', allocateLoadBalancerNodePorts: false } }),
    keeps: tenant(lb, {}, { service: { serviceType: lb, allocateLoadBalancerNodePorts: false } }),
  },
  {
    kind: tenantControlPlane,
    message: 'externalTrafficPolicy is supported only with NodePort and LoadBalancer service types',
    refuses: tenant(lb, {}, { service: { serviceType: 'ClusterIP', externalTrafficPolicy: 'Local' } }),
    keeps: tenant(lb, {}, { service: { serviceType: 'NodePort', externalTrafficPolicy: 'Local' } }),
  },
  {
    kind: tenantControlPlane,
    message: 'ipFamilies has the same family twice: remove one',
    refuses: tenant(lb, {}, { service: { ...bothFamilies, ipFamilies: ['IPv4', 'IPv4'] } }),
    keeps: tenant(lb, {}, { service: bothFamilies }),
  },
  {
    kind: tenantControlPlane,
    message: 'the first of ipFamilies cannot be changed',
    from: tenant(lb, {}, { service: bothFamilies }),
    refuses: tenant(lb, {}, { service: { ...bothFamilies, ipFamilies: ['IPv6', 'IPv4'] } }),
    keeps: tenant(lb, {}, { service: { serviceType: lb, ipFamilies: ['IPv4'] } }),
  },
  {
    kind: tenantControlPlane,
    message: 'two ipFamilies need the ipFamilyPolicy PreferDualStack or RequireDualStack',
    refuses: tenant(lb, {}, { service: { ...bothFamilies, ipFamilyPolicy: 'SingleStack' } }),
    keeps: tenant(lb, {}, { service: { serviceType: lb, ipFamilies: ['IPv6'] } }),
  },
  {
    kind: tenantControlPlane,
    message: 'using both ingress and gateway is not supported',
    refuses: tenant('ClusterIP', {}, bothExposures),
    keeps: tenant('ClusterIP', {}, { ingress: bothExposures.ingress }),
  },
  {
    kind: tenantControlPlane,
    message: 'parentRefs must not specify port or sectionName: Steward sets them',
    refuses: tenant('ClusterIP', {}, { gateway: { parentRefs: [{ name: 'a' }, { name: 'b', sectionName: 'c' }] } }),
    keeps: tenant('ClusterIP', {}, { gateway: { parentRefs: [{ name: 'a', namespace: 'b' }] } }),
  },
  {
    kind: tenantControlPlane,
    message: agentMessage,
    refuses: tenant(lb, agent({ replicas: 1 })),
    keeps: tenant(lb, agent({ mode: 'Deployment', replicas: 1 })),
  },
];

const content = { content: 'YQ==' };
const certificateAuthority = { certificate: content, privateKey: content };
const clientCertificate = { certificate: content, privateKey: content };
const store = (driver: string, rest: Spec): object => ({ driver, endpoints: ['a:1'], ...rest });
const goodEtcd = store('etcd', { tlsConfig: { certificateAuthority, clientCertificate } });
const goodSql = store('MySQL', { basicAuth: { username: content, password: content } });

const accounts = { operatorKey: content, systemCredentials: content };

const placementCases: readonly Case[] = [
  {
    kind: dataStore,
    message: 'allowedNamespaces must set names, selector, or both; names: [] alone allows no namespace',
    refuses: { ...goodEtcd, allowedNamespaces: {} },
    keeps: { ...goodEtcd, allowedNamespaces: { names: ['a'] } },
  },
];

const etcdCases: readonly Case[] = [
  {
    kind: dataStore,
    message: 'etcd is supported only with driver etcd: remove etcd',
    refuses: store('PostgreSQL', {
      basicAuth: { username: content, password: content },
      etcd: { defragmentation: {} },
    }),
    keeps: { ...goodEtcd, etcd: { compaction: {}, defragmentation: {} } },
  },
];

const natsCases: readonly Case[] = [
  {
    kind: dataStore,
    message: 'nats is supported only with driver NATS: remove nats',
    refuses: store('PostgreSQL', { nats: accounts }),
    keeps: store('NATS', { nats: accounts }),
  },
  {
    kind: dataStore,
    message:
      'nats and basicAuth are mutually exclusive: servers with an operator accept no passwords; remove basicAuth',
    refuses: store('NATS', { nats: accounts, basicAuth: { username: content, password: content } }),
    keeps: store('NATS', { nats: accounts, tlsConfig: { certificateAuthority: { certificate: content } } }),
  },
  ...(['operatorKey', 'systemCredentials'] as const).map((field) => ({
    kind: dataStore,
    message: `nats.${field} is empty: set its secretReference or content`,
    refuses: store('NATS', { nats: { ...accounts, [field]: {} } }),
    keeps: store('NATS', { nats: accounts }),
  })),
  {
    kind: dataStore,
    message: 'nats cannot be added or removed: the data of tenants would be left behind; create another DataStore',
    from: store('NATS', { nats: accounts }),
    refuses: store('NATS', { basicAuth: { username: content, password: content } }),
    keeps: store('NATS', { nats: { ...accounts, replicas: 3 } }),
  },
];

const dataStoreCases: readonly Case[] = [
  ...placementCases,
  ...etcdCases,
  ...natsCases,
  ...[
    store('etcd', {}),
    store('etcd', { tlsConfig: { certificateAuthority: { certificate: content }, clientCertificate } }),
    store('etcd', { tlsConfig: { certificateAuthority: { certificate: content, privateKey: {} }, clientCertificate } }),
  ].map((refuses) => ({
    kind: dataStore,
    message: 'certificateAuthority privateKey must have secretReference or content when driver is etcd',
    refuses,
    keeps: goodEtcd,
  })),
  ...[
    store('etcd', { tlsConfig: { certificateAuthority } }),
    store('etcd', { tlsConfig: { certificateAuthority, clientCertificate: { certificate: {}, privateKey: content } } }),
  ].map((refuses) => ({
    kind: dataStore,
    message: 'clientCertificate must have secretReference or content when driver is etcd',
    refuses,
    keeps: goodEtcd,
  })),
  {
    kind: dataStore,
    message: 'clientCertificate privateKey must have secretReference or content when driver is etcd',
    refuses: store('etcd', {
      tlsConfig: { certificateAuthority, clientCertificate: { certificate: content, privateKey: {} } },
    }),
    keeps: goodEtcd,
  },
  {
    kind: dataStore,
    message: 'When driver is not etcd and tlsConfig exists, clientCertificate must be null or contain valid content',
    refuses: store('NATS', {
      tlsConfig: { certificateAuthority, clientCertificate: { certificate: {}, privateKey: content } },
    }),
    keeps: store('NATS', { tlsConfig: { certificateAuthority, clientCertificate: null } }),
  },
  ...(['username', 'password'] as const).map((field) => ({
    kind: dataStore,
    message: `When driver is not etcd and basicAuth exists, ${field} must have secretReference or content`,
    refuses: store('PostgreSQL', { basicAuth: { username: content, password: content, [field]: {} } }),
    keeps: goodSql,
  })),
  {
    kind: dataStore,
    message: 'When driver is not etcd, either tlsConfig or basicAuth must be provided',
    refuses: store('PostgreSQL', {}),
    keeps: goodSql,
  },
  {
    kind: dataStore,
    message: 'Datastore driver is immutable',
    from: goodSql,
    refuses: store('PostgreSQL', { basicAuth: { username: content, password: content } }),
    keeps: store('MySQL', { endpoints: ['b:1'], basicAuth: { username: content, password: content } }),
  },
];

const eitherOr = 'Either stringValue or fromDefinition must be set, but not both.';
const generatorCases: readonly Case[] = [
  {
    kind: kubeconfigGenerator,
    message: eitherOr,
    refuses: { user: { stringValue: 'a', fromDefinition: 'metadata.name' } },
    keeps: { user: { fromDefinition: 'metadata.name' } },
  },
  {
    kind: kubeconfigGenerator,
    message: eitherOr,
    refuses: { user: { stringValue: 'a' }, groups: [{}] },
    keeps: { user: { stringValue: 'a' }, groups: [{ stringValue: 'b' }] },
  },
];

const encryption = { keySecret: { name: 'a' } };
const storage = { persistentVolumeClaim: { claimName: 'a' } };
const backupSource = { tenantControlPlaneName: 'a', encryption, storage };
const backupUID = '0dd0b9f5-6f0a-4f4e-9b1c-0a1b2c3d4e5f';
const policy = (spec: Spec = {}): object => ({ ...backupSource, interval: '1h', ...spec });
const restore = (spec: Spec = {}): object => ({
  ...{ tenantControlPlaneName: 'a', type: 'InPlace', source: { policyName: 'a' } },
  ...spec,
});
const oneBackup = 'only the deletionPolicy of a backup can be changed: create another one';

const backupCases: readonly Case[] = [
  ...(
    [
      ['tenantControlPlaneName cannot be changed', { tenantControlPlaneName: 'b' }],
      ['the key of a policy cannot be changed', { encryption: { keySecret: { name: 'b' } } }],
      ['the storage of a policy cannot be changed', { storage: { persistentVolumeClaim: { claimName: 'b' } } }],
    ] as const
  ).map(([message, change]) => ({
    kind: backupPolicy,
    message,
    from: policy(),
    refuses: policy(change),
    keeps: policy({ suspend: true }),
  })),
  {
    kind: backupPolicy,
    message: 'set persistentVolumeClaim or bucket, but not both',
    refuses: policy({ storage: { ...storage, bucket: { secretName: 'a' } } }),
    keeps: policy({ storage: { bucket: { secretName: 'a' } } }),
  },
  {
    kind: backupPolicy,
    message: 'interval must be at least 1m',
    refuses: policy({ interval: '59s' }),
    keeps: policy({ interval: '1h30m' }),
  },
  {
    kind: backupPolicy,
    message: 'set schedule or interval, but not both',
    refuses: policy({ schedule: '0 * * * *' }),
    keeps: { ...backupSource, schedule: '0 * * * *' },
  },
  {
    kind: backupPolicy,
    message: 'set schedule or interval, but not both',
    refuses: backupSource,
    keeps: policy(),
  },
  {
    kind: backupPolicy,
    message: 'timeZone is supported only with schedule',
    refuses: policy({ timeZone: 'Europe/Berlin' }),
    keeps: { ...backupSource, schedule: '0 * * * *', timeZone: 'Europe/Berlin' },
  },
  {
    kind: backupPolicy,
    message: 'interval must be at least 10m',
    refuses: policy({ rehearsal: { interval: '9m59s' } }),
    keeps: policy({ rehearsal: { interval: '10m' } }),
  },
  {
    kind: backupPolicy,
    message: 'set schedule or interval, but not both',
    refuses: policy({ rehearsal: { dataStoreName: 'trials' } }),
    keeps: policy({ rehearsal: { dataStoreName: 'trials', interval: '24h' } }),
  },
  {
    kind: backupPolicy,
    message: 'timeZone is supported only with schedule',
    refuses: policy({ rehearsal: { interval: '24h', timeZone: 'Europe/Berlin' } }),
    keeps: policy({ rehearsal: { schedule: '0 4 * * 0', timeZone: 'Europe/Berlin' } }),
  },
  {
    kind: tenantBackup,
    message: 'set either policyName or source, which say what is backed up and where to',
    refuses: { deletionPolicy: 'Delete' },
    keeps: { policyName: 'a' },
  },
  {
    kind: tenantBackup,
    message: 'set persistentVolumeClaim or bucket, but not both',
    refuses: { source: { ...backupSource, storage: { ...storage, bucket: { secretName: 'a' } } } },
    keeps: { source: { ...backupSource, storage: { bucket: { secretName: 'a' } } } },
  },
  {
    kind: tenantBackup,
    message: 'time is set by Steward, for the backups of a policy',
    refuses: { policyName: 'a', time: '2030-01-01T00:00:00.000Z' },
    keeps: { policyName: 'a', source: backupSource, time: '2030-01-01T00:00:00.000Z' },
  },
  ...[{ policyName: 'b' }, { policyName: 'a', source: backupSource }].map((refuses) => ({
    kind: tenantBackup,
    message: oneBackup,
    from: { policyName: 'a' },
    refuses,
    keeps: { policyName: 'a', deletionPolicy: 'Delete' },
  })),
  {
    kind: tenantRestore,
    message: 'set exactly one of backupName, policyName and repository',
    refuses: restore({ source: { policyName: 'a', backupName: 'a' } }),
    keeps: restore({ source: { repository: backupSource } }),
  },
  {
    kind: tenantRestore,
    message: 'set persistentVolumeClaim or bucket, but not both',
    refuses: restore({
      source: { repository: { ...backupSource, storage: { ...storage, bucket: { secretName: 'a' } } } },
    }),
    keeps: restore({ source: { repository: { ...backupSource, storage: { bucket: { secretName: 'a' } } } } }),
  },
  {
    kind: tenantRestore,
    message:
      'toTime is not supported with source.backupName: leave it out, or use source.policyName or source.repository',
    refuses: restore({ source: { backupName: 'a' }, toTime: '2030-01-01T00:00:00Z' }),
    keeps: restore({ toTime: '2030-01-01T00:00:00Z' }),
  },
  {
    kind: tenantRestore,
    message: 'toTime is not supported with source.repository.backupUID: leave one of them out',
    refuses: restore({ source: { repository: { ...backupSource, backupUID } }, toTime: '2030-01-01T00:00:00Z' }),
    keeps: restore({ source: { repository: backupSource }, toTime: '2030-01-01T00:00:00Z' }),
  },
  {
    kind: tenantRestore,
    message: 'sleep is not supported with types Recreate and Move: there is nothing to put to sleep',
    refuses: restore({ type: 'Recreate', sleep: true }),
    keeps: restore({ type: 'Clone', sleep: true }),
  },
  {
    kind: tenantRestore,
    message: 'sleep is not supported with types Recreate and Move: there is nothing to put to sleep',
    refuses: restore({ type: 'Move', sleep: true }),
    keeps: restore({ type: 'Move' }),
  },
  {
    kind: tenantRestore,
    message: 'a restore cannot be changed: create another one',
    from: restore(),
    refuses: restore({ sleep: true }),
    keeps: restore(),
  },
];

const startsFrom = (restoreFrom?: object): object => ({ version: 'v1.36.3', ...(restoreFrom && { restoreFrom }) });
/** What a StewardControlPlane starts from is decided once. */
const startCases: readonly Case[] = [
  [startsFrom({ policyName: 'a' }), startsFrom({ policyName: 'b' })],
  [startsFrom({ policyName: 'a' }), startsFrom({ policyName: 'a', toTime: '2030-01-01T00:00:00Z' })],
  [startsFrom(), startsFrom({ policyName: 'a' })],
].map(([from = {}, refuses = {}]) => ({
  kind: stewardControlPlane,
  message:
    'restoreFrom is set on creation and cannot be added or changed: leave it as it was, or create another Cluster; once the backup is restored, the field can be removed',
  ...{ from, refuses, keeps: startsFrom() },
}));

/** Rules that a StewardControlPlane and its template share: the template wraps the spec. */
type SharedCase = Omit<Case, 'kind'>;

const network = (fields: Spec): object => ({ network: fields });
const gateway = (fields: Spec): object => network({ gateway: { hostname: 'a.example.com', ...fields } });
const balanced = (loadBalancerConfig: Spec, serviceType = lb): object => network({ serviceType, loadBalancerConfig });

const sharedCases: readonly SharedCase[] = [
  ...encryptionCases.map(({ message, refuses, keeps }) => ({
    message,
    refuses: { encryption: refuses },
    keeps: { encryption: keeps },
  })),
  ...scalingCases.map(({ message, refuses, keeps }) => ({
    message,
    refuses: scaled(refuses),
    keeps: scaled(keeps),
  })),
  ...tolerationCases,
  ...quotaCases,
  ...sleepCases,
  {
    message: 'set exactly one of backupName, policyName and repository',
    refuses: { restoreFrom: { policyName: 'a', backupName: 'a' } },
    keeps: { restoreFrom: { repository: backupSource } },
  },
  {
    message: 'set persistentVolumeClaim or bucket, but not both',
    refuses: {
      restoreFrom: { repository: { ...backupSource, storage: { ...storage, bucket: { secretName: 'a' } } } },
    },
    keeps: { restoreFrom: { repository: { ...backupSource, storage: { bucket: { secretName: 'a' } } } } },
  },
  {
    message: 'toTime is not supported with backupName: leave it out, or use policyName or repository',
    refuses: { restoreFrom: { backupName: 'a', toTime: '2030-01-01T00:00:00Z' } },
    keeps: { restoreFrom: { policyName: 'a', toTime: '2030-01-01T00:00:00Z' } },
  },
  {
    message: 'toTime is not supported with repository.backupUID: leave one of them out',
    refuses: { restoreFrom: { repository: { ...backupSource, backupUID }, toTime: '2030-01-01T00:00:00Z' } },
    keeps: { restoreFrom: { repository: { ...backupSource, backupUID } } },
  },
  {
    message:
      'restoreFrom is not supported with deployment.externalClusterReference: a restore reaches only control planes in this cluster; remove one of them',
    refuses: {
      restoreFrom: { policyName: 'a' },
      deployment: {
        externalClusterReference: { kubeconfigSecretName: 'a', kubeconfigSecretKey: 'b', deploymentNamespace: 'c' },
      },
    },
    keeps: { restoreFrom: { policyName: 'a' }, deployment: {} },
  },
  {
    message: agentsAtMessage,
    refuses: agentsAt,
    keeps: { ...agentsAt, ...network({ ingress: { hostname: 'a.example.com' } }) },
  },
  {
    message: 'dataStoreName and dataStoreSelector are mutually exclusive: remove one of them',
    refuses: { dataStoreName: 'a', dataStoreSelector: {} },
    keeps: { dataStoreName: '', dataStoreSelector: {} },
  },
  {
    message: 'changing the dataStoreUsername is not supported',
    from: { dataStoreUsername: 'a' },
    refuses: { dataStoreUsername: 'b' },
    keeps: { dataStoreUsername: 'a', registry: 'b' },
  },
  {
    message: 'allocateLoadBalancerNodePorts is supported only with LoadBalancer service type',
    refuses: network({ serviceType: 'NodePort', allocateLoadBalancerNodePorts: false }),
    keeps: network({ serviceType: lb, allocateLoadBalancerNodePorts: false }),
  },
  {
    message: 'externalTrafficPolicy is supported only with NodePort and LoadBalancer service types',
    refuses: network({ serviceType: 'ClusterIP', externalTrafficPolicy: 'Local' }),
    keeps: network({ serviceType: 'NodePort', externalTrafficPolicy: 'Local' }),
  },
  {
    message: 'ipFamilies has the same family twice: remove one',
    refuses: network({ ...bothFamilies, ipFamilies: ['IPv6', 'IPv6'] }),
    keeps: network(bothFamilies),
  },
  {
    message: 'the first of ipFamilies cannot be changed',
    from: network(bothFamilies),
    refuses: network({ ...bothFamilies, ipFamilies: ['IPv6'] }),
    keeps: network({ serviceType: lb, ipFamilies: ['IPv4'] }),
  },
  {
    message: 'two ipFamilies need the ipFamilyPolicy PreferDualStack or RequireDualStack',
    refuses: network({ serviceType: lb, ipFamilies: ['IPv6', 'IPv4'] }),
    keeps: network({ serviceType: lb, ipFamilies: ['IPv6'] }),
  },
  {
    message: 'LoadBalancer source ranges are supported only with LoadBalancer service type',
    refuses: balanced({ loadBalancerSourceRanges: ['10.0.0.0/8'] }, 'NodePort'),
    keeps: balanced({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
  },
  {
    message: 'LoadBalancerClass is supported only with LoadBalancer service type',
    refuses: balanced({ loadBalancerClass: 'a' }, 'NodePort'),
    keeps: balanced({ loadBalancerClass: 'a' }),
  },
  {
    message: 'LoadBalancerClass is immutable',
    from: balanced({ loadBalancerClass: 'a' }),
    refuses: balanced({ loadBalancerClass: 'b' }),
    keeps: balanced({ loadBalancerClass: 'a', loadBalancerSourceRanges: [] }),
  },
  {
    message: 'LoadBalancerClass cannot be set or unset at runtime',
    from: network({ serviceType: lb }),
    refuses: balanced({ loadBalancerClass: 'a' }),
    // In the Go provider, adding only the parent was an evaluation error.
    keeps: balanced({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
  },
  {
    message: 'using both ingress and gateway is not supported',
    refuses: network(bothExposures),
    keeps: network({ ingress: bothExposures.ingress }),
  },
  {
    message:
      'parentRefs and name are mutually exclusive: set name and namespace for one Gateway, or parentRefs for several',
    refuses: gateway({ name: 'a', namespace: 'b', parentRefs: [{ name: 'c' }] }),
    keeps: gateway({ parentRefs: [{ name: 'c' }] }),
  },
  {
    message: 'name and namespace must be set together: set both, or use parentRefs',
    refuses: gateway({ name: 'a' }),
    keeps: gateway({ name: 'a', namespace: 'b', sectionName: 'c', port: 443 }),
  },
  {
    message: agentMessage,
    refuses: agent({ mode: 'Deployment', replicas: 0 }),
    keeps: agent({ mode: 'Deployment' }),
  },
];

const stack = (fields: object = {}): object => ({
  provider: 'docker',
  name: 'hosted-control-plane',
  kubernetesVersion: '1.36',
  noProvider: true,
  ...fields,
});
const source = (fields: object): object => stack({ source: fields });
const registry = { type: 'oci', repository: 'registry.example.com/stacks' };
const secret = { name: 'registry' };

const stackCases: readonly Case[] = [
  ...[
    { field: 'provider', value: 'openstack' },
    { field: 'name', value: 'scs' },
    { field: 'kubernetesVersion', value: '1.37' },
    { field: 'channel', value: 'custom' },
  ].map(({ field, value }) => ({
    kind: clusterStack,
    message: `${field} is immutable: create another ClusterStack`,
    from: stack(),
    refuses: stack({ [field]: value }),
    keeps: stack({ versions: ['v1', 'v0-sha.rwvgrna'], autoSubscribe: false }),
  })),
  {
    kind: clusterStack,
    message: 'pollInterval must be at least 10s, since registries limit the rate of requests: increase it',
    refuses: stack({ pollInterval: '9s999ms' }),
    keeps: stack({ pollInterval: '10s' }),
  },
  {
    kind: clusterStack,
    message: 'providerRef is required unless noProvider is true: name the template, or set noProvider',
    refuses: stack({ noProvider: false }),
    keeps: stack({ noProvider: false, providerRef: { kind: 'XClusterStackReleaseTemplate', name: 'x' } }),
  },
  {
    kind: clusterStack,
    message: 'repository is required for type oci (host/path) and github (owner/name): set it',
    refuses: source({ type: 'github' }),
    keeps: source({ type: 'directory' }),
  },
  {
    kind: clusterStack,
    message: 'plainHTTP and caSecretRef are supported only for type oci: remove them',
    refuses: source({ type: 'github', repository: 'a/b', caSecretRef: secret }),
    keeps: source({ ...registry, caSecretRef: secret, plainHTTP: true }),
  },
  {
    kind: clusterStack,
    message: 'credentialsSecretRef is not supported for type directory: remove it',
    refuses: source({ type: 'directory', credentialsSecretRef: secret }),
    keeps: source({ type: 'github', repository: 'a/b', credentialsSecretRef: secret }),
  },
  {
    kind: clusterAddon,
    message: 'clusterRef.kind must be Cluster',
    refuses: { clusterRef: { kind: 'Machine', name: 'a' } },
    keeps: { clusterRef: { kind: 'Cluster', name: 'a' } },
  },
  {
    kind: clusterAddon,
    message: 'clusterRef.name is immutable: each Cluster has its own ClusterAddon',
    from: { clusterRef: { kind: 'Cluster', name: 'a' } },
    refuses: { clusterRef: { kind: 'Cluster', name: 'b' } },
    keeps: { clusterRef: { kind: 'Cluster', name: 'a', uid: 'b' }, hook: 'AfterControlPlaneInitialized' },
  },
];

const wrapped = (one: SharedCase, kind: Kind, wrap: (spec: object) => object): Case => ({
  kind,
  message: one.message,
  refuses: wrap(one.refuses),
  keeps: wrap(one.keeps),
  ...(one.from && { from: wrap(one.from) }),
});

const prepared = (spec: object, more: Spec = {}): object => ({ template: { spec }, ...more });
const inPool = (message: string, refuses: object, keeps: object = prepared(tenant('ClusterIP'))): Case => ({
  ...{ kind: controlPlanePool, message, refuses, keeps },
});
/** What a prepared control plane cannot have, as all of a pool would have it. */
const notShared = /"(ingress|gateway|sleep)":/;
const oneAddress = 'an address can belong to one control plane only: remove it from the template';
const onePort = 'a node port can belong to one control plane only: remove it, and the API server chooses one for each';
const onNodePort = (spec: Spec): object => prepared(tenant('NodePort', spec));
const markedBy = (metadata: object): object => ({ template: { metadata, spec: tenant('ClusterIP') } });
const foreignMarks = { 'example.com/steward.butlerlabs.dev': 'a', 'notsteward.butlerlabs.dev/a': 'b' };

const poolCases: readonly Case[] = [
  ...tenantCases
    .filter(({ from }) => from === undefined)
    .map(({ message, refuses, keeps }) =>
      inPool(message, prepared(refuses), notShared.test(JSON.stringify(keeps)) ? undefined : prepared(keeps)),
    ),
  inPool(
    oneAddress,
    prepared(tenant(lb, { networkProfile: { address: '192.0.2.1' } })),
    prepared(tenant(lb, { networkProfile: { address: '' } })),
  ),
  inPool(oneAddress, prepared(tenant(lb, { networkProfile: { advertiseAddress: '192.0.2.1' } }))),
  inPool(
    'a tenancy can belong to one control plane only: remove it from the template',
    prepared(tenant(lb, { dataStoreSchema: 'a' })),
  ),
  inPool(
    'a user in a datastore can belong to one control plane only: remove it from the template',
    prepared(tenant(lb, { dataStoreUsername: 'a' })),
  ),
  inPool(
    'a host name can belong to one control plane only, and ingress needs one: remove it from the template',
    prepared(tenant('ClusterIP', {}, { ingress: {} })),
  ),
  inPool(
    'a host name can belong to one control plane only, and gateway needs one: remove it from the template',
    prepared(tenant('ClusterIP', {}, { gateway: {} })),
  ),
  inPool(
    onePort,
    onNodePort({ networkProfile: { port: 31000 } }),
    prepared(tenant('ClusterIP', { networkProfile: { port: 31000 } })),
  ),
  inPool(
    onePort,
    onNodePort({ addons: { konnectivity: { server: { port: 30000 } } } }),
    onNodePort({ addons: { konnectivity: { server: { port: 8132 } } } }),
  ),
  inPool(
    onePort,
    onNodePort({ addons: { workerBootstrap: { provider: 'talos', talos: { port: 32767 } } } }),
    onNodePort({ addons: { workerBootstrap: { provider: 'talos', talos: {} } } }),
  ),
  inPool(
    'a prepared control plane runs: set at least 1 replica',
    prepared(tenant(lb, {}, { deployment: { replicas: 0 } })),
    prepared(tenant(lb, {}, { deployment: { replicas: 1 } })),
  ),
  inPool(
    'a prepared control plane does not sleep: remove it, and set it on the control plane after the claim',
    prepared(tenant(lb, { sleep: { schedules: [nights] } })),
  ),
  inPool(
    'labels of steward.butlerlabs.dev are set by Steward: remove them from the template',
    markedBy({ labels: { 'steward.butlerlabs.dev/pool': 'a' } }),
    markedBy({ labels: { ...foreignMarks, tier: 'gold' } }),
  ),
  inPool(
    'annotations of steward.butlerlabs.dev are set by Steward: remove them from the template',
    markedBy({ annotations: { 'backup.steward.butlerlabs.dev/awaits-restore': 'a' } }),
    markedBy({ annotations: foreignMarks }),
  ),
  ...(['labels', 'annotations'] as const).map((field) =>
    inPool(
      `a key of ${field} is a name of at most 63 letters, digits, dashes, underscores and dots, optionally after a DNS name in lower case and a slash`,
      markedBy({ [field]: { 'example.com/a b': 'a' } }),
      markedBy({ [field]: { [`example.com/${'a'.repeat(63)}`]: 'a', a_B: 'a' } }),
    ),
  ),
  {
    ...inPool(
      'the names of the control planes begin with that of the pool: use at most 50 lower-case letters, digits and dashes, begin with a letter and do not end with a dash',
      prepared(tenant('ClusterIP')),
    ),
    names: { refuses: ['a'.repeat(51), 'a.b', '1a'], keeps: ['a'.repeat(50), 'a', 'a-1'] },
  },
  inPool(
    'maxReady must not be less than minReady',
    prepared(tenant(lb), { minReady: 2, maxReady: 1 }),
    prepared(tenant(lb), { minReady: 2, maxReady: 2 }),
  ),
  {
    kind: controlPlaneClaim,
    message: 'the name of a claim is that of the user in its certificate: use at most 63 characters',
    refuses: { pool: 'a' },
    keeps: { pool: 'a' },
    names: { refuses: ['a'.repeat(64)], keeps: ['a'.repeat(63), 'a.b'] },
  },
  {
    kind: controlPlaneClaim,
    message: 'the pool cannot be changed',
    from: { pool: 'a' },
    refuses: { pool: 'b' },
    keeps: { pool: 'a', deletionPolicy: 'Retain' },
  },
];

const cases: readonly Case[] = [
  ...tenantCases,
  ...poolCases,
  ...dataStoreCases,
  ...generatorCases,
  ...backupCases,
  ...stackCases,
  ...sharedCases.map((one) => wrapped(one, stewardControlPlane, (spec) => ({ version: 'v1.36.3', ...spec }))),
  ...startCases,
  ...sharedCases.map((one) => wrapped(one, stewardControlPlaneTemplate, (spec) => ({ template: { spec } }))),
];

/** The rules of a kind but for those of its status, which only the manager writes. */
const rulesOf = (kind: Kind): readonly string[] => [
  ...(kind.rules ?? []).map(({ message }) => message),
  ...messagesOf(kind.spec.openapi),
];

/** The messages of all rules in a schema. */
function messagesOf(schema: OpenApi): readonly string[] {
  const below = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    ...below.flatMap((one) => (one ? messagesOf(one) : [])),
  ];
}

async function write(one: Case, spec: object, chosen?: string): Promise<void> {
  if (one.from === undefined) {
    await cluster.create(one.kind, manifestOf(one.kind, spec, chosen), { dryRun: true });
    return;
  }
  const manifest = manifestOf(one.kind, one.from);
  const { name } = manifest.metadata;
  const key = { name, ...(one.kind.namespaced && { namespace }) };
  await cluster.create(one.kind, manifest);
  try {
    const body = [{ op: 'replace', path: '/spec', value: spec }];
    await cluster.patch(one.kind, key, { type: 'json', body }, { dryRun: true });
  } finally {
    await cluster.delete(one.kind, key);
  }
}

describe('the rules that the API server evaluates', () => {
  test.each(cases.map((one) => [one.kind.kind, one.message, one] as const))(
    '%s: %s',
    async (_, message, one) => {
      for (const name of one.names?.refuses ?? [undefined]) {
        await expect(write(one, one.refuses, name)).rejects.toThrow(message);
      }
      for (const name of one.names?.keeps ?? [undefined]) {
        await expect(write(one, one.keeps, name)).resolves.toBeUndefined();
      }
    },
    20_000,
  );

  test('a tenant names Gateways without port and listener, which follow from its Service', async () => {
    const one = cases.find(({ message }) => message.startsWith('parentRefs must not specify'));
    if (one === undefined) throw new Error('there is no such rule');
    for (const own of [{ port: 6443 }, { sectionName: 'kube-apiserver' }]) {
      const asked = tenant('ClusterIP', {}, { gateway: { parentRefs: [{ name: 'a', ...own }] } });
      await expect(write(one, asked)).rejects.toThrow(one.message);
    }
  });

  test.each(allKinds.map((kind) => [kind.kind, kind] as const))('every rule of %s has a case here', (_, kind) => {
    const tried = cases.filter((one) => one.kind === kind).map(({ message }) => message);
    expect([...new Set(rulesOf(kind))].sort()).toEqual([...new Set(tried)].sort());
  });
});
