import { describe, expect, test } from '@jest/globals';
import type { DraftOf } from '../../../api/meta.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { DeploymentSpec } from '../../../api/steward/v1alpha1/deployment-spec.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { addons } from '../addons/registry.ts';
import { findingsOf } from './pod-security/findings.ts';
import { podSelectorText } from '../shared/pod-selector.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { deployment } from './deployment.ts';

type Store = ControlPlaneInput['store'];
type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;
type Container = PodSpec['containers'][number];

const etcd: Store = { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' };
const behindKine: Store = { kind: 'kine', endpoint: 'postgres://$(DB_USER)@x/y', connection: 'db:5432' };
const registrySettings = {
  registry: 'registry.k8s.io',
  apiServerImage: 'kube-apiserver',
  controllerManagerImage: 'kube-controller-manager',
  schedulerImage: 'kube-scheduler',
};

function made(changes: TenantControlPlaneChanges = {}, store = etcd, port = 6443): DraftOf<Deployment> {
  const version = parseVersion(changes.kubernetes?.version ?? 'v1.36.3');
  const manifest = deployment({
    tcp: tenantControlPlaneWith(changes),
    version,
    addons: addons.flatMap((addon) => addon.pod?.(tenantControlPlaneWith(changes), version) ?? []),
    endpoint: { address: '192.0.2.7', port, host: '192.0.2.7', hostPort: port },
    store,
    dataStoreName: 'default',
    kineImage: 'rancher/kine:v0.16.4',
    checksums: {},
    storageChecksum: 'cc',
  });
  return manifest;
}

/** The pods of a control plane with these fields below spec.controlPlane.deployment. */
function podOf(given: Partial<DeploymentSpec>, store = etcd): PodSpec {
  const spec = made({ deployment: given }, store).spec?.template.spec;
  if (spec === undefined) throw new Error('there is no pod');
  return spec;
}

function container(name: string, { containers, initContainers = [] }: PodSpec): Container {
  const found = [...containers, ...initContainers].find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no container ${name}`);
  return found;
}

test.each<[string, Store, number]>([
  ['with etcd', etcd, 6443],
  ['behind kine', behindKine, 6443],
  ['at a low port', etcd, 443],
])('The generated pods %s are permitted by the Pod Security Standard restricted', (_how, store, port) => {
  const konnectivity = konnectivityAddon();
  const workerBootstrap = {
    provider: 'talos',
    talos: { image: 'trustd', port: 50001 },
    csrApproval: { autoApprove: true },
  } as const;
  const changes = { spec: { addons: { konnectivity, workerBootstrap } }, networkProfile: { port } };
  const { spec = { containers: [] }, metadata } = made(changes, store, port).spec?.template ?? {};
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const evaluated = {
    containers: containers.map((each) => ({ at: each.name, container: each })),
    volumes: (spec.volumes ?? []).map((volume) => ({ at: volume.name, volume })),
    annotations: { at: 'annotations', values: metadata?.annotations ?? {} },
    whole: { at: 'spec', spec },
  };
  expect(containers.length).toBeGreaterThan(4);
  expect(findingsOf(evaluated, 'restricted')).toEqual([]);
});

describe('Scheduling of the pods of a control plane', () => {
  test('nodeSelector chooses nodes', () => {
    expect(podOf({ nodeSelector: { zone: 'a' } }).nodeSelector).toEqual({ zone: 'a' });
    expect(podOf({}).nodeSelector).toBeUndefined();
  });

  test('tolerations are set', () => {
    const tolerations = [{ key: 'dedicated', operator: 'Exists' }];
    expect(podOf({ tolerations }).tolerations).toEqual(tolerations);
    expect(podOf({}).tolerations).toBeUndefined();
  });

  test('affinity is set', () => {
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] } };
    expect(podOf({ affinity }).affinity).toEqual(affinity);
    expect(podOf({}).affinity).toBeUndefined();
  });

  test('topologySpreadConstraints are set, and select the pods of the control plane unless they say otherwise', () => {
    const own = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const other = { ...own, labelSelector: { matchLabels: { a: 'b' } } };
    expect(podOf({ topologySpreadConstraints: [own, other] }).topologySpreadConstraints).toEqual([
      { ...own, labelSelector: { matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } } },
      other,
    ]);
  });

  test('pods are spread over nodes, as far as that is possible, if nothing is set', () => {
    expect(podOf({}).topologySpreadConstraints).toMatchObject([
      { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
  });

  test('runtimeClassName is set, and absent if it is empty', () => {
    expect(podOf({ runtimeClassName: 'gvisor' }).runtimeClassName).toBe('gvisor');
    for (const given of [{}, { runtimeClassName: '' }]) expect(podOf(given)).not.toHaveProperty('runtimeClassName');
  });

  test('hostUsers is set, and absent if the spec does not set it', () => {
    for (const hostUsers of [true, false]) expect(podOf({ hostUsers }).hostUsers).toBe(hostUsers);
    expect(podOf({})).not.toHaveProperty('hostUsers');
  });

  test('priorityClassName is set, and absent if it is empty', () => {
    expect(podOf({ priorityClassName: 'high' }).priorityClassName).toBe('high');
    for (const given of [{}, { priorityClassName: '' }]) expect(podOf(given)).not.toHaveProperty('priorityClassName');
  });
});

describe('The number of pods and their replacement', () => {
  test.each([0, 1, 3])('replicas is set to %d', (replicas) => {
    expect(made({ deployment: { replicas } }).spec?.replicas).toBe(replicas);
  });

  test('strategy Recreate has no parameters, whatever was defaulted', () => {
    const strategy = { type: 'Recreate', rollingUpdate: { maxSurge: 1 } };
    expect(made({ deployment: { strategy } }).spec?.strategy).toEqual({ type: 'Recreate' });
  });

  test('strategy RollingUpdate has the given parameters, else it starts all new pods beside the old ones', () => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 2 } };
    expect(made({ deployment: { strategy } }).spec?.strategy).toEqual(strategy);
    expect(made({ deployment: { strategy: { type: 'RollingUpdate' } } }).spec?.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' },
    });
  });
});

describe('The containers of the pods', () => {
  test.each([
    ['apiServerImage', 'kube-apiserver'],
    ['controllerManagerImage', 'kube-controller-manager'],
    ['schedulerImage', 'kube-scheduler'],
  ])('registrySettings.%s is the image of %s', (field, name) => {
    const found = podOf({ registrySettings: { ...registrySettings, [field]: 'team/mine' } });
    expect(container(name, found).image).toBe('registry.k8s.io/team/mine:v1.36.3');
  });

  test('registrySettings.registry is used for all three, and registrySettings.tagSuffix is appended to their tags', () => {
    const given = { ...registrySettings, registry: 'registry.example:5000/k8s/', tagSuffix: '-fips' };
    const images = podOf({ registrySettings: given }).containers.map(({ image }) => image);
    expect(images).toEqual([
      'registry.example:5000/k8s/kube-apiserver:v1.36.3-fips',
      'registry.example:5000/k8s/kube-scheduler:v1.36.3-fips',
      'registry.example:5000/k8s/kube-controller-manager:v1.36.3-fips',
    ]);
  });

  test.each([
    ['apiServer', 'kube-apiserver'],
    ['controllerManager', 'kube-controller-manager'],
    ['scheduler', 'kube-scheduler'],
    ['kine', 'kine'],
  ])('resources.%s are those of %s, and of no other', (component, name) => {
    const resources = { limits: { memory: '1Gi' }, requests: { cpu: '1' } };
    const pod = podOf({ resources: { [component]: resources } }, behindKine);
    for (const each of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(each.resources).toEqual(each.name === name ? resources : undefined);
    }
  });

  test('resources.limits and resources.requests are set on every container of Steward without its own', () => {
    const resources = {
      scheduler: { requests: { cpu: '5m' } },
      limits: { memory: '512Mi' },
      requests: { cpu: '250m' },
    };
    const pod = podOf({ resources, additionalContainers: [{ name: 'mine' }] }, behindKine);
    const both = { limits: resources.limits, requests: resources.requests };
    for (const name of ['kube-apiserver', 'kube-controller-manager', 'kine']) {
      expect(container(name, pod).resources).toEqual(both);
    }
    expect(container('kube-scheduler', pod).resources).toEqual(resources.scheduler);
    expect(container('mine', pod).resources).toBeUndefined();
    expect(container('kube-apiserver', podOf({ resources: { limits: { cpu: 1 } } })).resources).toEqual({
      limits: { cpu: 1 },
    });
  });

  test.each([
    ['apiServer', 'kube-apiserver'],
    ['controllerManager', 'kube-controller-manager'],
    ['scheduler', 'kube-scheduler'],
    ['kine', 'kine'],
  ])('extraArgs.%s are passed to %s, in the given order and with repeats', (component, name) => {
    const given = ['--x=b', '--x=a', '--x=b', '--zz', '--a-flag=1'];
    const args = container(name, podOf({ extraArgs: { [component]: given } }, behindKine)).args ?? [];
    expect(args.filter((argument) => argument.startsWith('--x='))).toEqual(['--x=b', '--x=a', '--x=b']);
    expect(args).toEqual(expect.arrayContaining(['--zz=true', '--a-flag=1']));
    expect(container(name, podOf({}, behindKine)).args).not.toContain('--zz=true');
  });

  test.each([
    ['apiServer', 'kube-apiserver'],
    ['controllerManager', 'kube-controller-manager'],
    ['scheduler', 'kube-scheduler'],
  ])('additionalVolumeMounts.%s are mounted in %s, before the default ones, and in no other', (component, name) => {
    const mount = { name: 'extra', mountPath: '/extra' };
    const pod = podOf({ additionalVolumeMounts: { [component]: [mount] } });
    for (const each of pod.containers) {
      expect(each.volumeMounts?.[0]?.name === 'extra').toBe(each.name === name);
      expect(each.volumeMounts?.length).toBeGreaterThan(each.name === name ? 1 : 0);
    }
  });

  test('additionalVolumes come first', () => {
    const volumes = podOf({ additionalVolumes: [{ name: 'extra', emptyDir: {} }] }).volumes ?? [];
    expect(volumes[0]).toEqual({ name: 'extra', emptyDir: {} });
    expect(volumes.length).toBeGreaterThan(1);
  });

  test('additionalContainers and additionalInitContainers come first, unchanged', () => {
    const pod = podOf(
      { additionalContainers: [{ name: 'a', image: 'x' }], additionalInitContainers: [{ name: 'b', image: 'y' }] },
      behindKine,
    );
    expect(pod.containers[0]).toEqual({ name: 'a', image: 'x' });
    expect(pod.initContainers?.map(({ name }) => name)).toEqual(['b', 'kine']);
    expect(pod.initContainers?.[0]).toEqual({ name: 'b', image: 'y' });
  });

  test('serviceAccountName is set, and its token is not mounted', () => {
    expect(podOf({ serviceAccountName: 'mine' })).toMatchObject({
      serviceAccountName: 'mine',
      automountServiceAccountToken: false,
    });
    expect(podOf({ serviceAccountName: '' }).serviceAccountName).toBe('default');
  });

  test('imagePullSecrets are set, and absent if there are none', () => {
    const imagePullSecrets = [{ name: 'registry' }, { name: 'mirror' }];
    expect(podOf({ imagePullSecrets }).imagePullSecrets).toEqual(imagePullSecrets);
    for (const given of [{}, { imagePullSecrets: [] }]) expect(podOf(given)).not.toHaveProperty('imagePullSecrets');
  });

  test('automountServiceAccountToken gives the pods a token', () => {
    expect(podOf({ automountServiceAccountToken: true }).automountServiceAccountToken).toBe(true);
  });

  test('podSecurityContext is that of the pods, and a low port adds its sysctl once', () => {
    const sysctl = { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' };
    expect(podOf({ podSecurityContext: { fsGroup: 7 } }).securityContext).toEqual({ fsGroup: 7 });
    const other = { name: 'net.ipv4.tcp_syncookies', value: '1' };
    const low = (sysctls: readonly (typeof other)[]): unknown =>
      made({ deployment: { podSecurityContext: { fsGroup: 7, sysctls } } }, etcd, 443).spec?.template.spec
        ?.securityContext;
    expect(low([other])).toEqual({ fsGroup: 7, sysctls: [sysctl, other] });
    expect(low([sysctl])).toEqual({ fsGroup: 7, sysctls: [sysctl] });
  });

  test.each([
    ['apiServer', 'kube-apiserver'],
    ['controllerManager', 'kube-controller-manager'],
    ['scheduler', 'kube-scheduler'],
    ['kine', 'kine'],
  ])('containerSecurityContexts.%s wins over the fields that Steward sets for %s, one by one', (component, name) => {
    const pod = podOf({ containerSecurityContexts: { [component]: { runAsUser: 1000 } } }, behindKine);
    const all = [...(pod.initContainers ?? []), ...pod.containers];
    expect(all.find((container) => container.name === name)?.securityContext).toMatchObject({
      runAsUser: 1000,
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
    });
    expect(all.filter(({ securityContext }) => securityContext?.runAsUser === 1000)).toHaveLength(1);
  });

  test('an API server older than 1.29 gets no flag that it does not know', () => {
    const args = (version: string): readonly string[] =>
      made({ kubernetes: { version } }).spec?.template.spec?.containers[0]?.args ?? [];
    const flag = '--shutdown-watch-termination-grace-period=2s';
    expect(args('v1.29.0')).toContain(flag);
    expect(args('v1.28.15')).not.toContain(flag);
  });
});

describe('The probes of the pods', () => {
  // None of them is the default of any probe, so that a field that is lost is seen.
  const timing = { initialDelaySeconds: 23, timeoutSeconds: 24, periodSeconds: 25, failureThreshold: 26 };
  const names = {
    apiServer: 'kube-apiserver',
    controllerManager: 'kube-controller-manager',
    scheduler: 'kube-scheduler',
  };
  const kindsOfProbe = { liveness: 'livenessProbe', readiness: 'readinessProbe', startup: 'startupProbe' } as const;
  const kindNames = Object.keys(kindsOfProbe) as (keyof typeof kindsOfProbe)[];

  test.each(kindNames)('probes.%s sets the timing of all components that have it', (kind) => {
    // Kubernetes refuses two successes of the others than readiness; what is ours is to hand them on.
    const given = { ...timing, successThreshold: 2 };
    const pod = podOf({ probes: { [kind]: given } });
    expect(container('kube-apiserver', pod)[kindsOfProbe[kind]]).toMatchObject(given);
    const other = container('kube-scheduler', pod)[kindsOfProbe[kind]];
    if (kind === 'readiness') expect(other).toBeUndefined();
    else expect(other).toMatchObject({ ...given, httpGet: { path: '/healthz', port: 10259 } });
  });

  const components = Object.keys(names) as (keyof typeof names)[];
  test.each(components)('probes.%s sets the timing of one component, and overrides that of all', (component) => {
    // In nothing like what is for all, so that a fallback to that is seen.
    const own = {
      initialDelaySeconds: 13,
      timeoutSeconds: 14,
      periodSeconds: 15,
      failureThreshold: 16,
      successThreshold: 2,
    };
    const probes = { startup: timing, liveness: timing, [component]: { startup: own, liveness: own, readiness: own } };
    const pod = podOf({ probes });
    expect(container(names[component], pod)).toMatchObject({
      startupProbe: own,
      livenessProbe: own,
      readinessProbe: { ...own, httpGet: { scheme: 'HTTPS' } },
    });
    const others = components.filter((other) => other !== component);
    for (const other of others) expect(container(names[other], pod)).toMatchObject({ livenessProbe: timing });
  });

  test('timing that is not set keeps its default', () => {
    const { startupProbe } = container('kube-apiserver', podOf({ probes: { startup: { failureThreshold: 300 } } }));
    expect(startupProbe).toMatchObject({ failureThreshold: 300, periodSeconds: 1, timeoutSeconds: 1 });
  });
});

describe('The metadata of the Deployment and its pods', () => {
  test('the selector in the status, which autoscalers use, selects the pods', () => {
    const [name = '', value] = podSelectorText(tenantControlPlaneWith()).split('=');
    const { spec } = made();
    expect(spec?.selector.matchLabels).toEqual({ [name]: value });
    expect(spec?.template.metadata?.labels).toMatchObject({ [name]: value });
  });

  const metadata = { labels: { team: 'a' }, annotations: { note: 'b' } };

  test('additionalMetadata is set on the Deployment', () => {
    const found = made({ deployment: { additionalMetadata: metadata } });
    expect(found.metadata).toMatchObject(metadata);
    expect(found.spec?.template.metadata?.labels).not.toHaveProperty('team');
    expect(found.spec?.template.metadata?.annotations).not.toHaveProperty('note');
  });

  test('podAdditionalMetadata is set on the pods', () => {
    const found = made({ deployment: { podAdditionalMetadata: metadata } });
    expect(found.spec?.template.metadata).toMatchObject(metadata);
    expect(found.metadata.labels).not.toHaveProperty('team');
    expect(found.metadata).not.toHaveProperty('annotations');
  });

  test('labels of Steward are not overridden', () => {
    const labels = { 'steward.butlerlabs.dev/name': 'other', 'steward.butlerlabs.dev/component': 'other' };
    const found = made({ deployment: { additionalMetadata: { labels }, podAdditionalMetadata: { labels } } });
    const ours = { 'steward.butlerlabs.dev/name': 'tenant', 'steward.butlerlabs.dev/component': 'deployment' };
    expect(found.metadata.labels).toMatchObject(ours);
    expect(found.spec?.template.metadata?.labels).toMatchObject(ours);
  });
});
