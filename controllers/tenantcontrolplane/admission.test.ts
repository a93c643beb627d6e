import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../testing/builders/tenant-control-plane.ts';
import { konnectivityAddon } from '../../testing/builders/konnectivity-addon.ts';
import { validate, warningsAbout, withDefaults } from './admission.ts';

const drivers = new Map([
  ['default', 'etcd'],
  ['other', 'etcd'],
  ['sql', 'MySQL'],
]);

const fields = (changes: TenantControlPlaneChanges, old?: TenantControlPlaneChanges): readonly string[] =>
  validate({
    tcp: tenantControlPlaneWith(changes),
    old: old === undefined ? undefined : tenantControlPlaneWith(old),
    drivers,
  }).map(({ field }) => field);

const spec = (extra: object): TenantControlPlaneChanges => ({ spec: { dataStore: 'default', addons: {}, ...extra } });
const mount = (name: string, mountPath: string): { name: string; mountPath: string } => ({ name, mountPath });
const port = (networkPort: number): TenantControlPlaneChanges => ({ networkProfile: { port: networkPort } });
const pods = (podCidr: string): TenantControlPlaneChanges => ({ networkProfile: { podCidr } });

describe('A spec that cannot work', () => {
  test.each<[string, TenantControlPlaneChanges, readonly string[]]>([
    ['nothing wrong', {}, []],
    ['a name that no Service can have', { metadata: { name: '1st', namespace: 'default' } }, ['metadata.name']],
    ['a dot in the name', { metadata: { name: 'a.b', namespace: 'default' } }, ['metadata.name']],
    ['a name that the API server makes', { metadata: { name: '', generateName: 'tenant-' } }, []],
    ['a name that is too long', { metadata: { name: 'a'.repeat(64), namespace: 'default' } }, ['metadata.name']],
    ['a dash at the end of the name', { metadata: { name: 'a-', namespace: 'default' } }, ['metadata.name']],
    ['no name at all', { metadata: { name: '', namespace: 'default' } }, ['metadata.name']],
    ['a made name that is too long', { metadata: { name: '', generateName: 'a'.repeat(59) } }, ['metadata.name']],
    ['a made name of other letters', { metadata: { name: '', generateName: '1-' } }, ['metadata.name']],
    [
      'a share of a CPU request that is not set',
      { deployment: { autoscaling: { minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 80 } } },
      ['spec.controlPlane.deployment.autoscaling.targetCPUUtilizationPercentage'],
    ],
    [
      'times of sleep that never come, and a time zone that does not exist',
      spec({
        sleep: {
          schedules: [
            { sleep: '0 0 30 2 *', wake: '0 7 * * *' },
            { sleep: '0 20 * * *', wake: '0 7 * * * *' },
            { sleep: '0 20 * * *', wake: '0 7 * * *', timeZone: 'Europe/Atlantis' },
          ],
        },
      }),
      ['spec.sleep.schedules[0].sleep', 'spec.sleep.schedules[1].wake', 'spec.sleep.schedules[2].timeZone'],
    ],
    ['another major version', { kubernetes: { version: 'v2.0.0' } }, ['spec.kubernetes.version']],
    ['a version before the first', { kubernetes: { version: 'v0.36.0' } }, ['spec.kubernetes.version']],
    ['no version', { kubernetes: { version: 'latest' } }, ['spec.kubernetes.version']],
    ['a version of the future', { kubernetes: { version: 'v1.99.0' } }, ['spec.kubernetes.version']],
    ['a DataStore that does not exist', spec({ dataStore: 'nowhere' }), ['spec.dataStore']],
    [
      'a selector that nothing can fulfill',
      spec({
        dataStore: '',
        dataStoreSelector: {
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['gold'] },
            { key: 'tier', operator: 'In' },
            { key: 'tier', operator: 'Like' },
          ],
        },
      }),
      ['spec.dataStoreSelector.matchExpressions[1]', 'spec.dataStoreSelector.matchExpressions[2]'],
    ],
    ['a schema that no store takes', spec({ dataStoreSchema: 'a/b' }), ['spec.dataStoreSchema']],
    ['the name of the administrator', spec({ dataStoreUsername: 'root' }), ['spec.dataStoreUsername']],
    [
      'an override in another kind of store',
      spec({ dataStoreOverrides: [{ resource: '/events', dataStore: 'sql' }] }),
      ['spec.dataStoreOverrides[0].dataStore'],
    ],
    [
      'an override twice',
      spec({
        dataStoreOverrides: [
          { resource: '/events', dataStore: 'other' },
          { resource: '/events', dataStore: 'other' },
        ],
      }),
      ['spec.dataStoreOverrides[1].resource'],
    ],
    ['no service network', { networkProfile: { serviceCidr: '10.96.0.0' } }, ['spec.networkProfile.serviceCidr']],
    [
      'a service network without room for DNS',
      { networkProfile: { serviceCidr: '10.96.0.0/29' } },
      ['spec.networkProfile.serviceCidr'],
    ],
    [
      'a service network that is too large',
      { networkProfile: { serviceCidr: '10.0.0.0/8', podCidr: '192.168.0.0/16' } },
      ['spec.networkProfile.serviceCidr'],
    ],
    [
      'an IPv6 service network that is too large',
      { networkProfile: { serviceCidr: 'fd00:10:96::/48', podCidr: 'fd00:10:244::/56' } },
      ['spec.networkProfile.serviceCidr'],
    ],
    [
      'a list of pod networks that overlap a list of service networks',
      { networkProfile: { serviceCidrs: ['10.8.0.0/16'], podCidrs: ['10.8.128.0/17'] } },
      ['spec.networkProfile.podCidrs'],
    ],
    [
      'a list of service networks of one family',
      { networkProfile: { serviceCidrs: ['10.8.0.0/16', '10.9.0.0/16'] } },
      ['spec.networkProfile.serviceCidrs'],
    ],
    ['no pod network', pods('10.244.0.0/33'), ['spec.networkProfile.podCidr']],
    ['an IPv6 pod network smaller than a node', pods('10.244.0.0/16,fd00::/65'), ['spec.networkProfile.podCidr']],
    [
      'a small pod network for nodes that are smaller still',
      {
        networkProfile: { podCidr: '10.244.0.0/25' },
        deployment: { extraArgs: { controllerManager: ['--node-cidr-mask-size=27'] } },
      },
      [],
    ],
    [
      'a DNS address that is none',
      { networkProfile: { dnsServiceIPs: ['dns.example.org'] } },
      ['spec.networkProfile.dnsServiceIPs'],
    ],
    ['networks that overlap', pods('10.96.128.0/17'), ['spec.networkProfile.podCidr']],
    ['a pod network smaller than a node', pods('10.244.0.0/25'), ['spec.networkProfile.podCidr']],
    [
      'a DNS address outside the service network',
      { networkProfile: { dnsServiceIPs: ['10.200.0.10'] } },
      ['spec.networkProfile.dnsServiceIPs'],
    ],
    ['a host name as address', { networkProfile: { address: 'k8s.example.org' } }, ['spec.networkProfile.address']],
    [
      'a host name as the advertised address',
      { networkProfile: { advertiseAddress: 'k8s.example.org' } },
      ['spec.networkProfile.advertiseAddress'],
    ],
    [
      'an advertised address of the other family',
      { networkProfile: { address: '192.0.2.1', advertiseAddress: 'fd00::1' } },
      ['spec.networkProfile.advertiseAddress'],
    ],
    [
      'probes that must succeed more than once',
      {
        deployment: {
          probes: { liveness: { successThreshold: 2 }, apiServer: { startup: { successThreshold: 3 } } },
        },
      },
      [
        'spec.controlPlane.deployment.probes.liveness.successThreshold',
        'spec.controlPlane.deployment.probes.apiServer.startup.successThreshold',
      ],
    ],
    [
      'an address of the other family',
      { networkProfile: { address: 'fd00::1', serviceCidr: '10.96.0.0/16,fd00:10:96::/112' } },
      ['spec.networkProfile.address'],
    ],
    [
      'an address of the family of the first of two service networks',
      { networkProfile: { address: 'fd00::1', serviceCidr: 'fd00:10:96::/112,10.96.0.0/16' } },
      [],
    ],
    [
      'an address of the other family that nothing advertises',
      {
        networkProfile: { address: 'fd00::1' },
        deployment: { extraArgs: { apiServer: ['--endpoint-reconciler-type=none'] } },
      },
      [],
    ],
    ['a name with a port', { networkProfile: { certSANs: ['a.b:6443'] } }, ['spec.networkProfile.certSANs[0]']],
    [
      'a range that is none',
      { networkProfile: { loadBalancerSourceRanges: ['10.0.0.1'] } },
      ['spec.networkProfile.loadBalancerSourceRanges[0]'],
    ],
    ['port 0', port(0), ['spec.networkProfile.port']],
    ['a port above all', port(65536), ['spec.networkProfile.port']],
    ['a port that the scheduler has', port(10259), ['spec.networkProfile.port']],
    ['a port that the controller manager has', port(10257), ['spec.networkProfile.port']],
    [
      'arguments that are none',
      {
        deployment: {
          extraArgs: {
            apiServer: ['v=2'],
            controllerManager: ['--v=2', '-v=2'],
            scheduler: ['--'],
            kine: ['--a b=c', '--feature'],
          },
        },
      },
      [
        'spec.controlPlane.deployment.extraArgs.apiServer[0]',
        'spec.controlPlane.deployment.extraArgs.controllerManager[1]',
        'spec.controlPlane.deployment.extraArgs.scheduler[0]',
        'spec.controlPlane.deployment.extraArgs.kine[0]',
      ],
    ],
    [
      'containers with names of ours',
      {
        deployment: {
          additionalContainers: [{ name: 'kube-apiserver' }],
          additionalInitContainers: [{ name: 'kine' }, { name: 'mine' }],
        },
      },
      [
        'spec.controlPlane.deployment.additionalInitContainers[0].name',
        'spec.controlPlane.deployment.additionalContainers[0].name',
      ],
    ],
    [
      'a container and one before it with one name',
      { deployment: { additionalContainers: [{ name: 'mine' }], additionalInitContainers: [{ name: 'mine' }] } },
      ['spec.controlPlane.deployment.additionalContainers[0].name'],
    ],
    [
      'volumes with names of ours, and one twice',
      {
        deployment: {
          additionalVolumes: ['etc-kubernetes-pki', 'a', 'kine-uds', 'a'].map((name) => ({ name })),
        },
      },
      [0, 2, 3].map((index) => `spec.controlPlane.deployment.additionalVolumes[${index}].name`),
    ],
    [
      'an image without a name',
      {
        deployment: {
          registrySettings: {
            registry: '',
            apiServerImage: 'a',
            controllerManagerImage: '',
            schedulerImage: 's',
            tagSuffix: '',
          },
        },
      },
      [
        'spec.controlPlane.deployment.registrySettings.registry',
        'spec.controlPlane.deployment.registrySettings.controllerManagerImage',
      ],
    ],
    [
      'a path mounted twice',
      {
        deployment: {
          additionalVolumes: [{ name: 'a' }],
          additionalVolumeMounts: { apiServer: [mount('a', '/a'), mount('a', '/a/')] },
        },
      },
      ['spec.controlPlane.deployment.additionalVolumeMounts.apiServer[1].mountPath'],
    ],
    [
      'paths over ours',
      {
        deployment: {
          additionalVolumes: [{ name: 'a' }],
          additionalVolumeMounts: {
            apiServer: [mount('a', '/etc/kubernetes/pki/')],
            controllerManager: [mount('a', '/etc/kubernetes'), mount('a', '/etc/kubernetes/pki')],
            scheduler: [mount('a', '/etc/kubernetes')],
          },
        },
      },
      ['apiServer[0]', 'controllerManager[0]', 'controllerManager[1]', 'scheduler[0]'].map(
        (at) => `spec.controlPlane.deployment.additionalVolumeMounts.${at}.mountPath`,
      ),
    ],
    [
      'a mount of nothing',
      { deployment: { additionalVolumeMounts: { apiServer: [mount('a', '/a')] } } },
      ['spec.controlPlane.deployment.additionalVolumeMounts.apiServer[0].name'],
    ],
    [
      'a rollout that cannot move',
      { deployment: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
      ['spec.controlPlane.deployment.strategy.rollingUpdate'],
    ],
    [
      'a rollout that cannot move by percentages',
      { deployment: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '0%', maxUnavailable: '0' } } } },
      ['spec.controlPlane.deployment.strategy.rollingUpdate'],
    ],
    ['fewer than no pods', { deployment: { replicas: -1 } }, ['spec.controlPlane.deployment.replicas']],
    [
      'a plugin that is gone',
      { kubernetes: { admissionControllers: ['PodSecurityPolicy'] } },
      ['spec.kubernetes.admissionControllers[0]'],
    ],
    [
      'plugins that are gone in its version, and none that are not yet',
      {
        kubernetes: {
          version: 'v1.30.0',
          admissionControllers: [
            'SecurityContextDeny',
            'PersistentVolumeLabel',
            'DenyEscalatingExec',
            'NodeRestriction',
          ],
        } as object,
      },
      ['spec.kubernetes.admissionControllers[0]', 'spec.kubernetes.admissionControllers[2]'],
    ],
    [
      'plugins that are neither a list nor a text',
      { kubernetes: { admissionControllers: 7 } as object },
      ['spec.kubernetes.admissionControllers'],
    ],
    [
      'patches that point nowhere',
      {
        kubernetes: {
          kubelet: {
            preferredAddressTypes: ['InternalIP'],
            configurationJSONPatches: [
              { op: 'copy', path: '/a' },
              { op: 'move', path: '/a~2', from: '/b' },
              { op: 'replace', path: '' },
            ],
          },
        },
      },
      [
        'spec.kubernetes.kubelet.configurationJSONPatches[0].from',
        'spec.kubernetes.kubelet.configurationJSONPatches[1].path',
        'spec.kubernetes.kubelet.configurationJSONPatches[2].path',
        'spec.kubernetes.kubelet.configurationJSONPatches[2].value',
      ],
    ],
    [
      'a patch of nothing',
      {
        kubernetes: {
          kubelet: { preferredAddressTypes: ['InternalIP'], configurationJSONPatches: [{ op: 'add', path: 'x' }] },
        },
      },
      [
        'spec.kubernetes.kubelet.configurationJSONPatches[0].path',
        'spec.kubernetes.kubelet.configurationJSONPatches[0].value',
      ],
    ],
    [
      'a patch of something that is not there',
      {
        kubernetes: {
          kubelet: {
            preferredAddressTypes: ['InternalIP'],
            configurationJSONPatches: [{ op: 'remove', path: '/noSuchField' }],
          },
        },
      },
      ['spec.kubernetes.kubelet.configurationJSONPatches[0]'],
    ],
    [
      'workers of Talos without Talos',
      spec({ addons: { workerBootstrap: { provider: 'talos', csrApproval: { autoApprove: true } } } }),
      ['spec.addons.workerBootstrap.talos'],
    ],
    [
      'workers of Talos at no port, from no network',
      spec({
        addons: {
          workerBootstrap: {
            provider: 'talos',
            csrApproval: { autoApprove: true },
            talos: { port: 0 },
            allowedSubnets: ['10.0.0.0/8', '10.0.0.1'],
          },
        },
      }),
      ['spec.addons.workerBootstrap.talos.port', 'spec.addons.workerBootstrap.allowedSubnets[1]'],
    ],
  ])('%s', (_case, changes, expected) => {
    expect(fields(changes)).toEqual(expected);
  });

  test('is reported completely: field, reason and fix, everything at once', () => {
    const tcp = tenantControlPlaneWith({ kubernetes: { version: 'x' }, networkProfile: { port: 0, serviceCidr: 'x' } });
    const errors = validate({ tcp, drivers });
    expect(errors.map(({ field }) => field)).toEqual([
      'spec.kubernetes.version',
      'spec.networkProfile.serviceCidr',
      'spec.networkProfile.port',
    ]);
    for (const { reason, remedy } of errors) expect([reason, remedy].every((text) => text.length > 5)).toBe(true);
  });
});

describe('A change of the spec', () => {
  const version = (text: string): TenantControlPlaneChanges => ({ kubernetes: { version: text } });

  test.each<[string, string, string, boolean]>([
    ['another patch', 'v1.35.1', 'v1.35.4', true],
    ['an older patch', 'v1.35.4', 'v1.35.1', true],
    ['the next minor', 'v1.35.1', 'v1.36.0', true],
    ['two minors at once', 'v1.34.1', 'v1.36.0', false],
    ['an older minor', 'v1.36.0', 'v1.35.0', false],
    ['another major version', 'v1.36.0', 'v2.0.0', false],
    ['the release of a candidate', 'v1.36.0-rc.1', 'v1.36.0', true],
  ])('of the version to %s', (_case, from, to, allowed) => {
    expect(fields(version(to), version(from))).toEqual(allowed ? [] : ['spec.kubernetes.version']);
  });

  test('cannot skip a minor in two steps while the first is not finished', () => {
    const status = { kubernetesResources: { version: { status: 'Upgrading', version: 'v1.34.1' } } } as const;
    expect(fields(version('v1.36.0'), { ...version('v1.35.0'), status })).toEqual(['spec.kubernetes.version']);
  });

  test.each([
    ['the one that runs', 'v1.35.1', true],
    ['a patch of it', 'v1.35.4', true],
    ['the one after the held one', 'v1.37.0', false],
    ['an older minor', 'v1.34.4', false],
  ])('may revert a held version to %s', (_what, to, allowed) => {
    const held = { status: 'False', reason: 'KubeletsTooOld', message: '', lastTransitionTime: '' } as const;
    const conditions = [{ type: 'UpgradeAllowed', ...held }];
    const kubernetesResources = { version: { status: 'Ready', version: 'v1.35.1' } } as const;
    const old = { ...version('v1.36.0'), status: { conditions, kubernetesResources } };
    expect(fields(version(to), old)).toEqual(allowed ? [] : ['spec.kubernetes.version']);
    const begun = { ...old, status: { ...old.status, conditions: [{ ...conditions[0], status: 'True' as const }] } };
    expect(fields(version(to), begun as TenantControlPlaneChanges)).toEqual(['spec.kubernetes.version']);
  });

  test.each([
    ['what is not a version', 'latest', 'v1.35.1'],
    ['a minor that would be skipped', 'v1.36.0', 'v1.34.4'],
    ['a minor that is not hosted', 'v1.37.0', 'v1.36.0'],
    ['an older minor', 'v1.34.4', 'v1.35.1'],
  ])('takes back %s, which was stored while the webhooks were disabled', (_what, stored, installed) => {
    const status = { kubernetesResources: { version: { status: 'Ready', version: installed } } } as const;
    const old = { ...version(stored), status };
    expect(fields(version(installed), old)).toEqual([]);
    expect(fields(version('v1.37.1'), old)).toEqual(['spec.kubernetes.version']);
  });

  test('is not refused because of a DataStore that is gone', () => {
    expect(fields(spec({ dataStore: 'gone' }), spec({ dataStore: 'gone' }))).toEqual([]);
  });

  test('to a DataStore of another kind is accepted', () => {
    expect(fields(spec({ dataStore: 'sql' }), spec({ dataStore: 'default' }))).toEqual([]);
  });

  test('of an object that is being deleted is admitted', () => {
    const leaving: TenantControlPlaneChanges = {
      metadata: { name: 'tenant', namespace: 'default', deletionTimestamp: '2030-01-01T00:00:00Z' },
      ...version('broken'),
    };
    expect(fields(leaving, version('v1.36.0'))).toEqual([]);
  });
});

describe('A spec that was admitted before a rule existed', () => {
  const byIngress = (port: number, replicas: number): TenantControlPlane =>
    tenantControlPlaneWith({
      spec: {
        dataStore: 'default',
        addons: { konnectivity: konnectivityAddon({ server: { port } }) },
        controlPlane: {
          ...tenantControlPlaneWith({ deployment: { replicas } }).spec.controlPlane,
          ingress: { hostname: 'tenant.example.org' },
        },
      },
    });
  const about = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
    validate({ tcp, old, drivers: new Map() }).map(({ field }) => field);

  test('can be changed in other fields, but not created', () => {
    const fields = ['spec.controlPlane.ingress.hostname', 'spec.addons.konnectivity.server.port'];
    expect(about(byIngress(80, 2))).toEqual(expect.arrayContaining(fields));
    expect(about(byIngress(80, 3), byIngress(80, 2))).toEqual([]);
    expect(about(byIngress(81, 2), byIngress(80, 2))).toEqual(['spec.addons.konnectivity.server.port']);
  });
});

describe('Defaulting', () => {
  const complete = (changes: TenantControlPlaneChanges): TenantControlPlane =>
    withDefaults(tenantControlPlaneWith(changes), { defaultDataStore: 'default' });

  test('sets the DataStore of the manager and the tenth address of the service network', () => {
    const { spec: found } = complete({ spec: { dataStore: '' }, networkProfile: { serviceCidr: '10.7.0.0/16' } });
    expect(found.dataStore).toBe('default');
    expect(found.networkProfile.dnsServiceIPs).toEqual(['10.7.0.10']);
  });

  test.each<[string, TenantControlPlaneChanges]>([
    ['requests one by labels', { spec: { dataStore: '', dataStoreSelector: {} } }],
    [
      'was placed while there was no default',
      {
        spec: { dataStore: '' },
        status: { storage: { placement: { dataStoreName: 'a', score: 1, time: '2030-01-01T00:00:00Z' } } },
      },
    ],
    [
      'has its data somewhere',
      { spec: { dataStore: '' }, status: { storage: { dataStoreName: 'a', setup: { schema: 'x' } } } },
    ],
  ])('sets no DataStore for a tenant that %s', (_words, changes) => {
    const named = complete(changes).spec.dataStore;
    expect(named ?? '').toBe('');
  });

  test('converts the admission plugins to their list form', () => {
    const { spec: found } = complete({ kubernetes: { admissionControllers: 'LimitRanger,ResourceQuota' } });
    expect(found.kubernetes.admissionControllers).toEqual(['LimitRanger', 'ResourceQuota']);
  });

  test('changes nothing the second time', () => {
    const once = complete({ spec: { addons: {} }, kubernetes: { admissionControllers: 'LimitRanger' } });
    expect(withDefaults(once, { defaultDataStore: 'default' })).toBe(once);
  });

  test('never throws, whatever networks and versions are given', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.array(fc.string(), { maxLength: 3 }), (a, b, c, names) => {
        const changes = { kubernetes: { version: a }, networkProfile: { serviceCidr: b, podCidr: c, certSANs: names } };
        const tcp = withDefaults(tenantControlPlaneWith(changes), { defaultDataStore: '' });
        for (const { field, reason, remedy } of validate({ tcp, drivers })) {
          expect(field === '' || reason === '' || remedy === '').toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('The newest supported minor of Kubernetes', () => {
  const refusal = (version: string, newestMinor?: number): readonly string[] =>
    validate({
      tcp: tenantControlPlaneWith({ kubernetes: { version } }),
      drivers,
      newestMinor,
    }).map(({ reason, remedy }) => `${reason}: ${remedy}`);

  test('is the newest that is tested, and the refusal names what is allowed', () => {
    expect(refusal('v1.36.3')).toEqual([]);
    expect(refusal('v1.37.0')).toEqual(['is newer than the supported versions: use a version from v1.29 to v1.36']);
  });

  test('is set by a flag', () => {
    expect(refusal('v1.37.0', 37)).toEqual([]);
    expect(refusal('v1.36.0', 35)).toEqual(['is newer than the supported versions: use a version from v1.29 to v1.35']);
  });

  test('limits upgrades too', () => {
    const old = tenantControlPlaneWith({ kubernetes: { version: 'v1.34.0' } });
    const tcp = tenantControlPlaneWith({ kubernetes: { version: 'v1.33.0' } });
    const [found] = validate({ tcp, old, drivers, newestMinor: 34 });
    expect(found?.remedy).toBe('from v1.34.0 upgrade to v1.34 (another patch)');
  });

  test('does not bound patches of a minor that is installed already', () => {
    const status = { kubernetesResources: { version: { status: 'Ready', version: 'v1.36.2' } } } as const;
    const old = tenantControlPlaneWith({ kubernetes: { version: 'v1.36.2' }, status });
    const to = (version: string): readonly unknown[] =>
      validate({ tcp: tenantControlPlaneWith({ kubernetes: { version }, status }), old, drivers, newestMinor: 35 });
    expect(to('v1.36.3')).toEqual([]);
    expect(to('v1.37.0')).toHaveLength(1);
  });

  test('has no counterpart: an old version is admitted with a warning', () => {
    expect(refusal('v1.23.6')).toEqual([]);
    expect(warningsAbout(tenantControlPlaneWith({ kubernetes: { version: 'v1.23.6' } }))).toEqual([
      'spec.kubernetes.version v1.23.6 is older than the tested versions v1.29 to v1.36, and workers may not be able to join',
    ]);
  });
});

describe('A warning', () => {
  test('is returned for a toleration beside a named DataStore, and for nothing else', () => {
    const tolerating = { dataStoreTolerations: [{ key: 'a', operator: 'Exists' as const }] };
    const warnings = (changes: object): readonly string[] => warningsAbout(tenantControlPlaneWith(spec(changes)));
    expect(warnings({ dataStore: 'default', ...tolerating })).toEqual([
      'spec.dataStoreTolerations has no effect: spec.dataStore names default, so no placement takes place',
    ]);
    expect(warnings({ dataStore: '', ...tolerating })).toEqual([]);
    expect(warnings({ dataStore: 'default' })).toEqual([]);
  });
});
