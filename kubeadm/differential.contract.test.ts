import { beforeAll, describe, expect, test } from '@jest/globals';
import { resolveTools } from '../e2e/tools/resolve.ts';
import { comparedReleases } from '../testing/repository/compared-releases.ts';
import {
  certificateFacts,
  comparable,
  kubeadmVersion,
  kubeconfigFacts,
  runKubeadm,
} from '../testing/repository/real-kubeadm.ts';
import type { KubeadmRun } from '../testing/repository/real-kubeadm.ts';
import { bootstrapRbac } from './bootstrap-rbac.ts';
import { bootstrapTokenSecret, parseBootstrapToken } from './bootstrap-token.ts';
import { clusterConfiguration, kubeadmConfig } from './cluster-configuration.ts';
import type { ClusterConfigurationInputs } from './cluster-configuration.ts';
import { clusterInfo } from './cluster-info.ts';
import { coreDns } from './coredns.ts';
import { deviations } from './deviations.ts';
import type { CertificateFacts, Production } from './deviations.ts';
import { coreDnsImage, kubeProxyImage, pauseImage } from './images.ts';
import { kubeconfig } from './kubeconfig.ts';
import { kubeProxy } from './kube-proxy.ts';
import { kubeletConfig } from './kubelet-configuration.ts';
import { kubeletDefaults } from './kubelet-defaults.ts';
import { issue, issueCa } from './pki/issue.ts';
import type { EncryptionAlgorithm, KeyPair } from './pki/key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from './pki/lifetime.ts';
import { authorityProfiles, leafProfiles } from './pki/profiles.ts';
import type { LeafName } from './pki/profiles.ts';
import { parseVersion } from './versions.ts';
import type { KubernetesVersion } from './versions.ts';

/** One tenant, as input for both. */
interface Case {
  readonly name: string;
  readonly advertiseAddress: string;
  readonly inputs: Omit<ClusterConfigurationInputs, 'version'>;
}

const token = 'abcdef.0123456789abcdef';

// No server listens at the endpoints: kubeadm requests objects in vain, and must not wait for an answer.
const cases: readonly Case[] = [
  {
    name: 'one network of each kind and an address as endpoint',
    advertiseAddress: '192.0.2.7',
    inputs: {
      clusterName: 'tenant-00',
      controlPlaneEndpoint: '127.0.0.7:9',
      serviceCidr: '10.96.0.0/16',
      podCidr: '10.244.0.0/16',
      clusterDomain: 'cluster.local',
      certSANs: ['127.0.0.1', 'localhost', 'tenant-00', 'tenant-00.default.svc'],
      etcdEndpoints: ['etcd-0.example.org:2379', 'etcd-1.example.org:2379'],
      encryptionAlgorithm: 'ECDSA-P256',
      apiServerArgs: { 'etcd-prefix': '/tenant-00', 'etcd-compaction-interval': '0s' },
    },
  },
  {
    name: 'two networks of each kind, a name as endpoint, a domain of its own and RSA',
    advertiseAddress: '192.0.2.7',
    inputs: {
      clusterName: 'on',
      controlPlaneEndpoint: 'api.example.org:443',
      serviceCidr: '172.20.16.0/20,fd00:10:96::/112',
      podCidr: '172.30.0.0/16,fd00:10:244::/56',
      clusterDomain: 'k8s.example.org',
      certSANs: ['*.example.org', 'fd00::0:7'],
      etcdEndpoints: ['127.0.0.1:2379'],
      encryptionAlgorithm: 'RSA-2048',
    },
  },
  {
    name: 'IPv6 alone',
    advertiseAddress: 'fd00:1::7',
    inputs: {
      clusterName: 'tenant-v6',
      controlPlaneEndpoint: '[::1]:9',
      serviceCidr: 'fd00:10:96::/112',
      podCidr: 'fd00:10:244::/56',
      clusterDomain: 'cluster.local',
      certSANs: [],
      etcdEndpoints: ['127.0.0.1:2379'],
      encryptionAlgorithm: 'ECDSA-P384',
    },
  },
];

/** Further binaries, their paths joined by a colon: `KUBEADM_BINARIES=/path/kubeadm-1.33:/path/kubeadm-1.30`. */
const further = (process.env.KUBEADM_BINARIES ?? '').split(':').filter(Boolean);

const compared = comparedReleases().map(({ minor }) => minor);

/** kubeadm before v1beta4 knows RSA-2048 only, and P-384 since 1.34. */
function algorithmFor(version: KubernetesVersion, wanted: EncryptionAlgorithm): EncryptionAlgorithm {
  if (version.minor < 31) return 'RSA-2048';
  return wanted === 'ECDSA-P384' && version.minor < 34 ? 'ECDSA-P256' : wanted;
}

async function pki(asked: Case, inputs: ClusterConfigurationInputs, now: Date): Promise<Record<string, KeyPair>> {
  const algorithm = inputs.encryptionAlgorithm;
  const options = { algorithm, lifetime: lifetimeFrom(now, certificateValidityMs) };
  const rooted = { algorithm, lifetime: lifetimeFrom(now, caValidityMs) };
  const ca = await issueCa(authorityProfiles.ca, rooted);
  const frontProxyCa = await issueCa(authorityProfiles['front-proxy-ca'], rooted);
  const signers = { ca, 'front-proxy-ca': frontProxyCa };
  const pairs: Record<string, KeyPair> = { ...signers };
  for (const [name, leaf] of Object.entries(leafProfiles({ ...inputs, advertiseAddress: asked.advertiseAddress }))) {
    pairs[name] = await issue(leaf.profile, signers[leaf.signer], options);
  }
  return pairs;
}

/** The users of the kubeconfigs and whether they reach the API server by the endpoint or on the advertised address. */
const users: Readonly<Partial<Record<LeafName, readonly [user: string, byEndpoint: boolean]>>> = {
  'admin.conf': ['kubernetes-admin', true],
  'super-admin.conf': ['kubernetes-super-admin', true],
  'controller-manager.conf': ['system:kube-controller-manager', false],
  'scheduler.conf': ['system:kube-scheduler', false],
};

async function produce(asked: Case, version: KubernetesVersion, real: KubeadmRun): Promise<Production> {
  const algorithm = algorithmFor(version, asked.inputs.encryptionAlgorithm);
  const inputs = { ...asked.inputs, version, encryptionAlgorithm: algorithm };
  const server = `https://${inputs.controlPlaneEndpoint}`;
  const secret = real.production.objects['Secret kube-system/bootstrap-token-abcdef']?.data as Record<string, string>;
  const expiration = new Date(Buffer.from(secret.expiration ?? '', 'base64').toString());
  const dns = coreDns(inputs);
  const manifests = [
    kubeadmConfig(inputs),
    kubeletConfig(inputs),
    clusterInfo({ server, ca: real.ca }),
    bootstrapTokenSecret({ token: parseBootstrapToken(token), expiration }),
    ...bootstrapRbac(),
    ...dns.managed,
    ...dns.createOnly,
    ...kubeProxy(inputs),
  ];
  const certificates: Record<string, CertificateFacts> = {};
  const kubeconfigs: Record<string, Record<string, unknown>> = {};
  for (const [name, pair] of Object.entries(await pki(asked, inputs, new Date()))) {
    certificates[name] = certificateFacts(pair.certificate, pair.key);
    const [user, byEndpoint] = users[name as LeafName] ?? [];
    if (user === undefined) continue;
    const local = asked.advertiseAddress.includes(':') ? `[${asked.advertiseAddress}]` : asked.advertiseAddress;
    kubeconfigs[name] = kubeconfigFacts(
      kubeconfig({
        clusterName: inputs.clusterName,
        server: byEndpoint === true ? server : `https://${local}:6443`,
        ca: real.ca,
        user,
        client: pair,
      }),
    ).config;
  }
  return { objects: Object.fromEntries(manifests.map(comparable)), certificates, kubeconfigs };
}

async function askKubeadm(binary: string, asked: Case, version: KubernetesVersion): Promise<KubeadmRun> {
  const algorithm = algorithmFor(version, asked.inputs.encryptionAlgorithm);
  const document = clusterConfiguration({ ...asked.inputs, version, encryptionAlgorithm: algorithm });
  return runKubeadm(binary, {
    initConfiguration: {
      apiVersion: document.apiVersion,
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress: asked.advertiseAddress, bindPort: 6443 },
      nodeRegistration: { name: 'node', criSocket: 'unix:///run/containerd/containerd.sock' },
      bootstrapTokens: [{ token, ttl: '24h0m0s' }],
    },
    clusterConfiguration: document,
  });
}

/** kubeadm's production with every meant difference, and which of them made one. */
function withDeviations(
  real: Production,
  version: KubernetesVersion,
): { readonly meant: Production; readonly differing: string[] } {
  const differing: string[] = [];
  let meant = real;
  for (const deviation of deviations(kubeletDefaults(version))) {
    const next = deviation.apply(meant, version);
    if (JSON.stringify(next) !== JSON.stringify(meant)) differing.push(deviation.id);
    meant = next;
  }
  return { meant, differing };
}

describe.each([...compared, ...further])('kubeadm %s', (wanted) => {
  let binary: string;
  let version: KubernetesVersion;
  const differing = new Set<string>();

  beforeAll(async () => {
    binary = further.includes(wanted) ? wanted : (await resolveTools(['kubeadm'], { kubernetes: wanted })).kubeadm;
    version = parseVersion(await kubeadmVersion(binary));
  }, 600_000);

  test.each(cases)(
    'produces the same documents as Steward, except for the deviations: $name',
    async (asked) => {
      const real = await askKubeadm(binary, asked, version);
      const { meant, differing: found } = withDeviations(real.production, version);
      for (const id of found) differing.add(id);
      const ours = await produce(asked, version, real);
      expect(Object.keys(ours.objects).sort()).toEqual(Object.keys(meant.objects).sort());
      expect(ours.objects).toEqual(meant.objects);
      expect(ours.certificates).toEqual(meant.certificates);
      expect(ours.kubeconfigs).toEqual(meant.kubeconfigs);
      expect(real.images).toEqual(
        expect.arrayContaining([coreDnsImage(version), kubeProxyImage(version), pauseImage(version)]),
      );
    },
    120_000,
  );

  test('deviates in every listed way and in no other', () => {
    const listed = deviations({}).filter(({ differs }) => differs?.(version) ?? true);
    expect([...differing].sort()).toEqual(listed.map(({ id }) => id).sort());
  });
});

describe('the list of deviations', () => {
  test('gives each a unique name, a place and a reason', () => {
    const listed = deviations({});
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    for (const { where, why } of listed) expect(`${where}: ${why}`).toMatch(/^.{5,}: .{30,}\.$/);
  });
});
