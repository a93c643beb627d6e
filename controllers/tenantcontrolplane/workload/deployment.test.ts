import { describe, expect, test } from '@jest/globals';
import type { DraftOf } from '../../../api/meta.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { deployment } from './deployment.ts';

const input = (changes: TenantControlPlaneChanges = {}, port = 6443): ControlPlaneInput => ({
  tcp: tenantControlPlaneWith(changes),
  version: parseVersion(changes.kubernetes?.version ?? 'v1.36.3'),
  endpoint: { address: '192.0.2.7', port, host: '192.0.2.7', hostPort: port },
  store: { kind: 'etcd', endpoints: ['https://a:2379', 'https://b:2379'], prefix: '/tabc' },
  dataStoreName: 'default',
  kineImage: 'rancher/kine:v0.16.4',
  checksums: { ca: 'aa', 'datastore-certificate': 'bb' },
  storageChecksum: 'cc',
});

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;

function made(changes: TenantControlPlaneChanges = {}, port = 6443): DraftOf<Deployment> {
  return deployment(input(changes, port));
}

function pod(changes: TenantControlPlaneChanges = {}, port = 6443): PodSpec {
  const spec = made(changes, port).spec?.template.spec;
  if (spec === undefined) throw new Error('there is no pod');
  return spec;
}

function args(name: string, changes: TenantControlPlaneChanges = {}): readonly string[] {
  return pod(changes).containers.find((container) => container.name === name)?.args ?? [];
}

describe('The pods of a control plane', () => {
  test('have the containers in the order and with the names of existing installations', () => {
    const found = pod().containers.map(({ name, image }) => [name, image]);
    expect(found).toEqual([
      ['kube-apiserver', 'registry.k8s.io/kube-apiserver:v1.36.3'],
      ['kube-scheduler', 'registry.k8s.io/kube-scheduler:v1.36.3'],
      ['kube-controller-manager', 'registry.k8s.io/kube-controller-manager:v1.36.3'],
    ]);
  });

  test('have images of a version that is written without its v', () => {
    expect(pod({ kubernetes: { version: '1.35.4' } }).containers[0]?.image).toBe(
      'registry.k8s.io/kube-apiserver:v1.35.4',
    );
  });

  test('mount the key that signs certificates in kube-controller-manager only', () => {
    const { volumes = [], containers } = pod();
    const withKey = volumes.filter((volume) => JSON.stringify(volume).includes('"ca.key"')).map(({ name }) => name);
    const readers = containers
      .filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => withKey.includes(name)))
      .map(({ name }) => name);
    expect(readers).toEqual(['kube-controller-manager']);
    expect(JSON.stringify(volumes)).not.toContain('front-proxy-ca.key');
  });

  test('run without root, a writable file system, more permissions, or a token of the management cluster', () => {
    const spec = pod();
    expect(spec.automountServiceAccountToken).toBe(false);
    for (const { securityContext } of spec.containers) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
    }
  });

  test('may listen on a low port without a capability', () => {
    expect(pod({}, 443).securityContext?.sysctls).toEqual([
      { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
    ]);
    expect(pod({}, 6443).securityContext).toBeUndefined();
  });

  test('are probed every second while they start, and for readiness every second afterwards', () => {
    for (const { startupProbe } of pod().containers) {
      expect(startupProbe).toMatchObject({ periodSeconds: 1, failureThreshold: 120 });
    }
    expect(pod().containers[0]?.readinessProbe).toMatchObject({ periodSeconds: 1 });
    expect(pod().containers[0]?.readinessProbe?.httpGet).toMatchObject({ path: '/readyz', port: 6443 });
  });

  test('get more time to stop than the API server continues to answer', () => {
    const delay = args('kube-apiserver').find((argument) => argument.startsWith('--shutdown-delay-duration='));
    expect(pod().terminationGracePeriodSeconds).toBeGreaterThan(
      Number.parseInt(delay?.split('=')[1] ?? '999', 10) + 10,
    );
  });

  test('are replaced when a Secret changes, and contain the name of their DataStore', () => {
    const { labels, annotations } = made().spec?.template.metadata ?? {};
    expect(labels).toMatchObject({
      'component.steward.butlerlabs.dev/ca': 'aa',
      'component.steward.butlerlabs.dev/datastore-certificate': 'bb',
      'component.steward.butlerlabs.dev/datastore': 'default',
    });
    expect(annotations).toEqual({ 'storage.steward.butlerlabs.dev/config': 'cc' });
  });

  test('contain what the author adds, which comes first', () => {
    const spec = pod({
      deployment: {
        additionalContainers: [{ name: 'mine' }],
        additionalInitContainers: [{ name: 'before' }],
        additionalVolumes: [{ name: 'extra' }],
        additionalVolumeMounts: { apiServer: [{ name: 'extra', mountPath: '/extra' }] },
        nodeSelector: { zone: 'a' },
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
        podAdditionalMetadata: { labels: { team: 'a', 'steward.butlerlabs.dev/name': 'other' } },
      },
    });
    expect(spec.containers[0]?.name).toBe('mine');
    expect(spec.initContainers?.[0]?.name).toBe('before');
    expect(spec.volumes?.[0]?.name).toBe('extra');
    expect(spec.containers[1]?.volumeMounts?.[0]).toEqual({ name: 'extra', mountPath: '/extra' });
    expect(spec.nodeSelector).toEqual({ zone: 'a' });
    expect(spec.topologySpreadConstraints?.[0]?.labelSelector).toEqual({
      matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' },
    });
  });

  test('have the selector label whatever the author sets', () => {
    const podAdditionalMetadata = { labels: { team: 'a', 'steward.butlerlabs.dev/name': 'other' } };
    const found = made({ deployment: { podAdditionalMetadata } }).spec?.template.metadata?.labels;
    expect(found).toMatchObject({ team: 'a', 'steward.butlerlabs.dev/name': 'tenant' });
  });

  test('have the resources of their component, else those for every container', () => {
    const requests = { cpu: '100m' };
    const found = pod({ deployment: { resources: { apiServer: { requests: { cpu: '1' } }, requests } } });
    expect(found.containers.map(({ resources }) => resources?.requests)).toEqual([{ cpu: '1' }, requests, requests]);
  });
});

describe('The pods of a control plane whose datastore is behind kine', () => {
  const kine = (changes: TenantControlPlaneChanges = {}): PodSpec => {
    const store = { kind: 'kine', endpoint: 'postgres://$(DB_USER)@x/y', connection: 'db:5432' } as const;
    const spec = (deployment({ ...input(changes), store, storeTls: { ca: 'x' } }) as Deployment).spec?.template.spec;
    if (spec === undefined) throw new Error('there is no pod');
    return spec;
  };

  test('have kine as a sidecar, which outlives the others, after the author’s init containers', () => {
    const { initContainers = [] } = kine({ deployment: { additionalInitContainers: [{ name: 'before' }] } });
    expect(initContainers.map(({ name, restartPolicy }) => [name, restartPolicy])).toEqual([
      ['before', undefined],
      ['kine', 'Always'],
    ]);
    expect(initContainers[1]).toMatchObject({
      image: 'rancher/kine:v0.16.4',
      command: ['/bin/kine'],
      envFrom: [{ secretRef: { name: 'tenant-datastore-config' } }],
      securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true },
    });
  });

  test('let kube-apiserver reach the data through the socket only', () => {
    const { containers, volumes = [] } = kine();
    const flags = containers[0]?.args?.filter((argument) => argument.startsWith('--etcd-'));
    expect(flags).toEqual(['--etcd-servers=unix:///uds/kine']);
    const readers = containers.filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === 'kine-config'));
    expect(readers).toEqual([]);
    expect(volumes.find(({ name }) => name === 'kine-uds')).toEqual({
      name: 'kine-uds',
      emptyDir: { medium: 'Memory' },
    });
    expect(JSON.stringify(volumes.find(({ name }) => name === 'etc-kubernetes-pki'))).not.toContain('datastore');
  });

  test("give kine its resources and the author's flags", () => {
    const resources = { kine: { requests: { cpu: '5m' } } };
    const [made] = kine({ deployment: { resources, extraArgs: { kine: ['--debug'] } } }).initContainers ?? [];
    expect(made?.resources).toEqual(resources.kine);
    expect(made?.args).toContain('--debug=true');
  });

  test('have no kine if the datastore is etcd', () => {
    expect(pod().initContainers).toBeUndefined();
    expect(JSON.stringify(pod())).not.toContain('kine');
  });
});

describe('The flags', () => {
  test('are sorted, so that an unchanged control plane is an unchanged Deployment', () => {
    for (const name of ['kube-apiserver', 'kube-scheduler', 'kube-controller-manager']) {
      const names = args(name).map((argument) => argument.split('=')[0]);
      expect(names).toEqual([...names].sort());
      expect(new Set(args(name)).size).toBe(args(name).length);
    }
  });

  test('give the API server its own prefix in the datastore', () => {
    expect(args('kube-apiserver')).toEqual(
      expect.arrayContaining(['--etcd-servers=https://a:2379,https://b:2379', '--etcd-prefix=/tabc']),
    );
  });

  test('let it watch for compactions of etcd and never compact, from the minor on that ends old lists by them', () => {
    const interval = (version: string): string | undefined =>
      args('kube-apiserver', { kubernetes: { version } }).find((one) => one.includes('compaction-interval'));
    expect(interval('v1.33.9')).toBe('--etcd-compaction-interval=0');
    expect(interval('v1.34.0')).toBe('--etcd-compaction-interval=876000h');
  });

  test('of the author override those of the API server and the controller manager, and not of the scheduler', () => {
    const extraArgs = {
      apiServer: ['--secure-port=1', '--v=4'],
      controllerManager: ['--cluster-name=mine'],
      scheduler: ['--leader-elect=false', '--v=2'],
    };
    const changes = { deployment: { extraArgs } };
    expect(args('kube-apiserver', changes)).toEqual(expect.arrayContaining(['--secure-port=1', '--v=4']));
    expect(args('kube-apiserver', changes)).not.toContain('--secure-port=6443');
    expect(args('kube-controller-manager', changes)).toContain('--cluster-name=mine');
    expect(args('kube-scheduler', changes)).toEqual(expect.arrayContaining(['--leader-elect=true', '--v=2']));
  });

  test('that are lists keep all their values in the given order', () => {
    const given = ['--api-audiences=b', '--api-audiences=a', '--api-audiences=b'];
    const found = args('kube-apiserver', { deployment: { extraArgs: { apiServer: given } } });
    expect(found.filter((argument) => argument.startsWith('--api-audiences'))).toEqual(given);
  });

  test('leave the authorization mode to a configuration of the author', () => {
    const apiServer = ['--authorization-config=/a.yaml'];
    const found = args('kube-apiserver', { deployment: { extraArgs: { apiServer } } });
    expect(found.some((argument) => argument.startsWith('--authorization-mode'))).toBe(false);
  });

  test.each([['--authorization-config='], ['--authorization_config=']])(
    'keep the authorization mode beside %s, which configures nothing',
    (argument) => {
      const found = args('kube-apiserver', { deployment: { extraArgs: { apiServer: [argument] } } });
      expect(found).toContain('--authorization-mode=Node,RBAC');
    },
  );

  test('of the author without a value do not consume the next flag', () => {
    const apiServer = ['--authentication-token-webhook-config-file'];
    const found = args('kube-apiserver', { deployment: { extraArgs: { apiServer } } });
    expect(found).toContain('--authentication-token-webhook-config-file=true');
    expect(found.filter((argument) => !argument.includes('='))).toEqual([]);
  });

  test('of the author replace the defaults also if underscores stand for dashes', () => {
    const extraArgs = { apiServer: ['--secure_port=1'], scheduler: ['--leader_elect=false'] };
    const changes = { deployment: { extraArgs } };
    expect(args('kube-apiserver', changes)).not.toContain('--secure-port=6443');
    expect(args('kube-scheduler', changes)).not.toContain('--leader_elect=false');
  });

  test('contain the issuer of the tenant’s domain first, and accept the one that was fixed before', () => {
    const issuers = args('kube-apiserver', { networkProfile: { clusterDomain: 'corp.example' } }).filter((argument) =>
      argument.startsWith('--service-account-issuer'),
    );
    expect(issuers).toEqual([
      '--service-account-issuer=https://kubernetes.default.svc.corp.example',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    ]);
  });
});
