import { clusterApiReleases, resolveClusterApi } from './cluster-api-releases.ts';
import type { ClusterApiRelease } from './cluster-api-releases.ts';
import { etcdReleases, leakyEtcd, resolveEtcd } from './etcd-releases.ts';
import { kubernetesReleases, resolveKubernetes } from './kubernetes-releases.ts';

/** Go's names of what a binary runs on. */
export interface Platform {
  readonly os: 'linux' | 'darwin';
  readonly arch: 'amd64' | 'arm64';
}

/** A file that the project's publisher offers, with the file that holds its SHA-256. */
export interface Download {
  readonly url: string;
  readonly checksumUrl: string;
  /** The wanted file inside a .tar.gz; absent when the download is the binary itself. */
  readonly member?: string;
}

/** A file of a dependency that is replaced before the build. */
export interface ReplacedFile {
  /** The dependency, which the folder's go.mod requires and does not replace. */
  readonly module: string;
  /** Path below the dependency. */
  readonly file: string;
  /** The file in its place: path below the folder. */
  readonly by: string;
}

/** One folder below modules/: a go.mod of its own, because the tools' dependencies conflict. */
export interface ModulePin {
  readonly folder: string;
  /** The main module of the tool, as the Go module proxy knows it; absent for a program of ours. */
  readonly module?: string;
  /** With the leading v. */
  readonly version: string;
  readonly cgo?: boolean;
  /** Debian packages that the build needs, beside Go. */
  readonly buildPackages?: readonly string[];
  readonly tags?: readonly string[];
  readonly replacedFiles?: readonly ReplacedFile[];
  /** Linker variables, full name to value: they make the binary say its real version. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** One binary: where it comes from and how it tells its version. */
export interface ToolPin {
  readonly name: string;
  readonly source: ModulePin;
  readonly goPackage: string;
  /** Built by `go test -c`: the package's tests are the program. */
  readonly isTest?: true;
  /** Only made when somebody asks for it by name: few need it, and it takes long. */
  readonly byNameOnly?: true;
  /**
   * Arguments that make it print its version. Absent when it cannot tell, or when another program of that name is usual in
   * `PATH` (iproute2 has a `bridge` too): then only the cache is trusted.
   */
  readonly versionArguments?: readonly string[];
  readonly download?: (platform: Platform) => Download;
}

const kubernetesCommands = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kubeadm',
  'kube-proxy',
  'kubectl',
] as const;

const cniPlugins = { bridge: 'main', loopback: 'main', ptp: 'main', 'host-local': 'ipam', portmap: 'meta' } as const;

const versionOptions: Readonly<Record<string, readonly string[]>> = {
  kubeadm: ['version', '-o', 'short'],
  kubectl: ['version', '--client'],
};

const kine: ModulePin = {
  folder: 'kine',
  module: 'github.com/k3s-io/kine',
  version: 'v0.16.4',
  variables: { 'github.com/k3s-io/kine/pkg/version.Version': 'v0.16.4' },
};
const natsServer: ModulePin = {
  folder: 'nats-server',
  module: 'github.com/nats-io/nats-server/v2',
  version: 'v2.15.2',
};
/** The oldest one that a shared store may run. */
const oldestNatsServer: ModulePin = {
  folder: 'nats-server-2.12.12',
  module: 'github.com/nats-io/nats-server/v2',
  version: 'v2.12.12',
};
/** Its minors are those of Kubernetes; this one stands for those of the older minors too. */
const konnectivity: ModulePin = {
  folder: 'konnectivity',
  module: 'sigs.k8s.io/apiserver-network-proxy',
  version: 'v0.36.0',
};
const coredns: ModulePin = { folder: 'coredns', module: 'github.com/coredns/coredns', version: 'v1.14.7' };
const containerd: ModulePin = {
  folder: 'containerd',
  module: 'github.com/containerd/containerd/v2',
  version: 'v2.2.4',
  tags: ['no_btrfs'],
  variables: { 'github.com/containerd/containerd/v2/version.Version': 'v2.2.4' },
};
const runc: ModulePin = {
  folder: 'runc',
  module: 'github.com/opencontainers/runc',
  version: 'v1.4.3',
  cgo: true,
  buildPackages: ['gcc', 'libc6-dev', 'libseccomp-dev', 'pkg-config'],
  tags: ['seccomp'],
};
const cni: ModulePin = {
  folder: 'cni-plugins',
  module: 'github.com/containernetworking/plugins',
  version: 'v1.9.1',
  variables: { 'github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion': 'v1.9.1' },
};
const clusterApiModule = ({ folder, version, variables }: ClusterApiRelease): ModulePin => ({
  ...{ folder, module: 'sigs.k8s.io/cluster-api', version, variables },
});
const kustomize: ModulePin = {
  folder: 'kustomize',
  module: 'sigs.k8s.io/kustomize/kustomize/v5',
  version: 'v5.8.1',
  variables: { 'sigs.k8s.io/kustomize/api/provenance.version': 'v5.8.1' },
};
const helm: ModulePin = {
  folder: 'helm',
  module: 'helm.sh/helm/v4',
  version: 'v4.3.1',
  variables: { 'helm.sh/helm/v4/internal/version.version': 'v4.3.1' },
};
/** The registry that releases are tried on. */
const distribution: ModulePin = {
  folder: 'distribution',
  module: 'github.com/distribution/distribution/v3',
  version: 'v3.1.2',
  variables: { 'github.com/distribution/distribution/v3/version.version': 'v3.1.2' },
};
/**
 * Enforces NetworkPolicies on the machines of tests, and does nothing else there: flaws that are known of this version concern its
 * other parts. kube-network-policies needs an expression of nftables (queue) that not every kernel has.
 */
const kubeRouter: ModulePin = {
  folder: 'kube-router',
  module: 'github.com/cloudnativelabs/kube-router/v2',
  version: 'v2.1.0',
  variables: { 'github.com/cloudnativelabs/kube-router/v2/pkg/version.Version': 'v2.1.0' },
};
const pause: ModulePin = { folder: 'pause', version: 'v1.0.0' };
const metricsServer: ModulePin = {
  folder: 'metrics-server',
  module: 'sigs.k8s.io/metrics-server',
  version: 'v0.9.0',
  variables: { 'k8s.io/client-go/pkg/version.gitVersion': 'v0.9.0' },
};

/** Reads modules of OpenTofu and Terraform as far as that is possible without their providers; it has no releases. */
const configInspect: ModulePin = {
  folder: 'terraform-config-inspect',
  module: 'github.com/hashicorp/terraform-config-inspect',
  version: 'v0.0.0-20260904064934-75d64de68c31',
};

/** The S3 server of the tests: it keeps objects as files of a folder, and checks signatures, policies and object locks as AWS does. */
const versitygw: ModulePin = {
  folder: 'versitygw',
  module: 'github.com/versity/versitygw',
  version: 'v1.8.0',
  variables: { 'main.Version': 'v1.8.0' },
};

const newest = kubernetesReleases[0];
/** Kubernetes' tests of whole clusters, apart from its programs: their dependencies are many more. */
const kubernetesTests: ModulePin = {
  folder: `kubernetes-e2e-${newest.minor}`,
  module: 'k8s.io/kubernetes',
  version: newest.version,
  variables: newest.variables,
};
/** The version whose image those tests run as an aggregated API server. */
const sampleApiServer: ModulePin = {
  folder: 'sample-apiserver',
  module: 'k8s.io/sample-apiserver',
  version: 'v0.29.2',
};

/** What Argo CD and Flux are made of, as far as it decides about the health of objects: Argo CD's interpreter of Lua, Flux's packages. */
const gitopsHealth: ModulePin = {
  folder: 'gitops-health',
  module: 'github.com/fluxcd/pkg/runtime',
  version: 'v0.110.3',
};

/** Flux's controllers, in the newest minor that the pinned Go builds. Their clients of clouds and registries make that a long build. */
const fluxController = (name: 'source-controller' | 'kustomize-controller'): ModulePin => ({
  folder: name,
  module: `github.com/fluxcd/${name}`,
  version: 'v1.9.6',
});
const sourceController = fluxController('source-controller');
const kustomizeController = fluxController('kustomize-controller');

/** Modules of which only the source files are wanted, beside those that binaries are built from. */
const certManager: ModulePin = {
  folder: 'cert-manager',
  module: 'github.com/cert-manager/cert-manager',
  version: 'v1.21.2',
};

/** The newest one whose module the pinned Go reads; its standard channel has TLSRoute in v1. */
const gatewayApi: ModulePin = { folder: 'gateway-api', module: 'sigs.k8s.io/gateway-api', version: 'v1.6.3' };
/** The last one whose TLSRoute is experimental. */
const experimentalGatewayApi: ModulePin = {
  folder: 'gateway-api-1.4',
  module: 'sigs.k8s.io/gateway-api',
  version: 'v1.4.1',
};
/**
 * Without the clients of DNS services that its ACME client has: some of their modules are not to be had from every proxy, and they would be
 * half of the build. Nor with its fork of go-http-auth, for the first reason. No route needs either.
 */
const traefik: ModulePin = {
  folder: 'traefik',
  module: 'github.com/traefik/traefik/v3',
  version: 'v3.7.13',
  replacedFiles: [
    {
      module: 'github.com/go-acme/lego/v5',
      file: 'providers/dns/zz_gen_dns_providers.go',
      by: 'lego/dns_providers.go',
    },
  ],
  variables: { 'github.com/traefik/traefik/v3/pkg/version.Version': 'v3.7.13' },
};

/** Pinned modules whose source folder other files read: CRDs, kustomize folders. */
export const sourceModules = {
  'cluster-api': clusterApiModule(clusterApiReleases[0]),
  'cluster-api-1.13': clusterApiModule(clusterApiReleases[1]),
  'cert-manager': certManager,
  'gateway-api': gatewayApi,
  'gateway-api-1.4': experimentalGatewayApi,
  traefik,
  'source-controller': sourceController,
  'kustomize-controller': kustomizeController,
  'kubernetes-tests': kubernetesTests,
  'metrics-server': metricsServer,
} as const;

const github = (repository: string, tag: string, file: string): string =>
  `https://github.com/${repository}/releases/download/${encodeURIComponent(tag)}/${file}`;

const fixedTools: readonly ToolPin[] = [
  {
    name: 'kine',
    source: kine,
    goPackage: 'github.com/k3s-io/kine',
    versionArguments: ['--version'],
    download: ({ arch }) => ({
      url: github('k3s-io/kine', kine.version, `kine-${arch}`),
      checksumUrl: github('k3s-io/kine', kine.version, `sha256sum-${arch}.txt`),
    }),
  },
  ...[natsServer, oldestNatsServer].map((source): ToolPin => ({
    name: source.folder,
    source,
    goPackage: 'github.com/nats-io/nats-server/v2',
    versionArguments: ['--version'],
    download: ({ os, arch }) => {
      const stem = `nats-server-${source.version}-${os}-${arch}`;
      return {
        url: github('nats-io/nats-server', source.version, `${stem}.tar.gz`),
        checksumUrl: github('nats-io/nats-server', source.version, 'SHA256SUMS'),
        member: `${stem}/nats-server`,
      };
    },
  })),
  {
    name: 'coredns',
    source: coredns,
    goPackage: 'github.com/coredns/coredns',
    versionArguments: ['-version'],
    download: ({ os, arch }) => {
      const file = `coredns_${coredns.version.slice(1)}_${os}_${arch}.tgz`;
      const url = github('coredns/coredns', coredns.version, file);
      return { url, checksumUrl: `${url}.sha256`, member: 'coredns' };
    },
  },
  ...['containerd', 'containerd-shim-runc-v2', 'ctr'].map((name): ToolPin => ({
    name,
    source: containerd,
    goPackage: `github.com/containerd/containerd/v2/cmd/${name}`,
    versionArguments: [name === 'containerd-shim-runc-v2' ? '-v' : '--version'],
    download: ({ os, arch }) => {
      const file = `containerd-static-${containerd.version.slice(1)}-${os}-${arch}.tar.gz`;
      const url = github('containerd/containerd', containerd.version, file);
      return { url, checksumUrl: `${url}.sha256sum`, member: `bin/${name}` };
    },
  })),
  {
    name: 'runc',
    source: runc,
    goPackage: 'github.com/opencontainers/runc',
    versionArguments: ['--version'],
    download: ({ arch }) => ({
      url: github('opencontainers/runc', runc.version, `runc.${arch}`),
      checksumUrl: github('opencontainers/runc', runc.version, 'runc.sha256sum'),
    }),
  },
  ...Object.entries(cniPlugins).map(([name, family]): ToolPin => ({
    name,
    source: cni,
    goPackage: `github.com/containernetworking/plugins/plugins/${family}/${name}`,
    download: ({ os, arch }) => {
      const url = github('containernetworking/plugins', cni.version, `cni-plugins-${os}-${arch}-${cni.version}.tgz`);
      return { url, checksumUrl: `${url}.sha256`, member: `./${name}` };
    },
  })),
  {
    name: 'kustomize',
    source: kustomize,
    goPackage: 'sigs.k8s.io/kustomize/kustomize/v5',
    versionArguments: ['version'],
    download: ({ os, arch }) => ({
      url: github(
        'kubernetes-sigs/kustomize',
        `kustomize/${kustomize.version}`,
        `kustomize_${kustomize.version}_${os}_${arch}.tar.gz`,
      ),
      checksumUrl: github('kubernetes-sigs/kustomize', `kustomize/${kustomize.version}`, 'checksums.txt'),
      member: 'kustomize',
    }),
  },
  {
    name: 'helm',
    source: helm,
    goPackage: 'helm.sh/helm/v4/cmd/helm',
    versionArguments: ['version', '--short'],
    download: ({ os, arch }) => {
      const url = `https://get.helm.sh/helm-${helm.version}-${os}-${arch}.tar.gz`;
      return { url, checksumUrl: `${url}.sha256`, member: `${os}-${arch}/helm` };
    },
  },
  {
    name: 'registry',
    source: distribution,
    goPackage: 'github.com/distribution/distribution/v3/cmd/registry',
    versionArguments: ['--version'],
    download: ({ os, arch }) => {
      const file = `registry_${distribution.version.slice(1)}_${os}_${arch}.tar.gz`;
      const url = github('distribution/distribution', distribution.version, file);
      return { url, checksumUrl: `${url}.sha256`, member: 'registry' };
    },
  },
  ...Object.entries({ 'proxy-server': 'server', 'proxy-agent': 'agent' }).map(([name, command]): ToolPin => ({
    name,
    source: konnectivity,
    goPackage: `sigs.k8s.io/apiserver-network-proxy/cmd/${command}`,
  })),
  {
    name: 'metrics-server',
    source: metricsServer,
    goPackage: 'sigs.k8s.io/metrics-server/cmd/metrics-server',
    versionArguments: ['--version'],
  },
  {
    name: 'traefik',
    source: traefik,
    goPackage: 'github.com/traefik/traefik/v3/cmd/traefik',
    byNameOnly: true,
    versionArguments: ['version'],
    download: ({ os, arch }) => {
      const { version } = traefik;
      return {
        url: github('traefik/traefik', version, `traefik_${version}_${os}_${arch}.tar.gz`),
        checksumUrl: github('traefik/traefik', version, `traefik_${version}_checksums.txt`),
        member: 'traefik',
      };
    },
  },
  {
    name: 'kube-router',
    source: kubeRouter,
    goPackage: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router',
    byNameOnly: true,
    versionArguments: ['--version'],
  },
  {
    name: 'gitops-health',
    source: gitopsHealth,
    goPackage: 'steward.butlerlabs.dev/tools/gitops-health',
    byNameOnly: true,
  },
  ...[sourceController, kustomizeController].map((source): ToolPin => ({
    name: source.folder,
    source,
    goPackage: source.module ?? '',
    byNameOnly: true,
  })),
  {
    name: 'terraform-config-inspect',
    source: configInspect,
    goPackage: 'github.com/hashicorp/terraform-config-inspect',
    byNameOnly: true,
  },
  {
    name: 'versitygw',
    source: versitygw,
    goPackage: 'github.com/versity/versitygw/cmd/versitygw',
    byNameOnly: true,
    versionArguments: ['--version'],
    download: ({ os, arch }) => {
      const system = `${os === 'linux' ? 'Linux' : 'Darwin'}_${arch === 'amd64' ? 'x86_64' : arch}`;
      const stem = `versitygw_${versitygw.version}_${system}`;
      return {
        url: github('versity/versitygw', versitygw.version, `${stem}.tar.gz`),
        checksumUrl: github('versity/versitygw', versitygw.version, 'checksums.txt'),
        member: `${stem}/versitygw`,
      };
    },
  },
  { name: 'pause', source: pause, goPackage: 'steward.butlerlabs.dev/tools/pause' },
  {
    name: 'e2e.test',
    source: kubernetesTests,
    goPackage: 'k8s.io/kubernetes/test/e2e',
    isTest: true,
    byNameOnly: true,
    versionArguments: ['--version'],
    download: ({ os, arch }) => {
      const url = `https://dl.k8s.io/${kubernetesTests.version}/kubernetes-test-${os}-${arch}.tar.gz`;
      return { url, checksumUrl: `${url}.sha256`, member: 'kubernetes/test/bin/e2e.test' };
    },
  },
  {
    name: 'nonewprivs',
    source: kubernetesTests,
    goPackage: 'k8s.io/kubernetes/test/images/nonewprivs',
    byNameOnly: true,
  },
  { name: 'sample-apiserver', source: sampleApiServer, goPackage: 'k8s.io/sample-apiserver', byNameOnly: true },
];

const kubernetesTools = (version: string): readonly ToolPin[] => {
  const release = resolveKubernetes(version);
  const source: ModulePin = {
    folder: `kubernetes-${release.minor}`,
    module: 'k8s.io/kubernetes',
    version: release.version,
    variables: release.variables,
  };
  const isInTests = (name: string): boolean => release.inTests === 'all' || name === 'kubeadm';
  const pins: readonly ToolPin[] = [
    ...kubernetesCommands.map((name): ToolPin => ({
      name,
      source,
      goPackage: `k8s.io/kubernetes/cmd/${name}`,
      versionArguments: versionOptions[name] ?? ['--version'],
      download: ({ os, arch }) => {
        const url = `https://dl.k8s.io/release/${release.version}/bin/${os}/${arch}/${name}`;
        return { url, checksumUrl: `${url}.sha256` };
      },
    })),
    { name: 'agnhost', source, goPackage: 'k8s.io/kubernetes/test/images/agnhost' },
  ];
  return pins.map((pin) => (isInTests(pin.name) ? pin : { ...pin, byNameOnly: true }));
};

const etcdTools = (wanted: string): readonly ToolPin[] => {
  const server = resolveEtcd(wanted);
  // The module proxy has no etcdctl of that release; another one administers it as well.
  const client = server === leakyEtcd ? etcdReleases[0] : server;
  return (['etcd', 'etcdctl'] as const).map((name): ToolPin => {
    const { version, folder } = name === 'etcd' ? server : client;
    const source: ModulePin = { folder, module: 'go.etcd.io/etcd/server/v3', version };
    return etcdTool(name, source);
  });
};

const etcdTool = (name: 'etcd' | 'etcdctl', source: ModulePin): ToolPin => {
  const { version } = source;
  return {
    name,
    source,
    goPackage: name === 'etcd' ? 'go.etcd.io/etcd/server/v3' : 'go.etcd.io/etcd/etcdctl/v3',
    versionArguments: [name === 'etcd' ? '--version' : 'version'],
    download: ({ os, arch }) => {
      const stem = `etcd-${version}-${os}-${arch}`;
      return {
        url: github('etcd-io/etcd', version, `${stem}.tar.gz`),
        checksumUrl: github('etcd-io/etcd', version, 'SHA256SUMS'),
        member: `${stem}/${name}`,
      };
    },
  };
};

const clusterApiTools = (wanted: string): readonly ToolPin[] => {
  const found = resolveClusterApi(wanted);
  const source = clusterApiModule(found);
  const goPackage = (path: string): string =>
    path === '.' ? 'sigs.k8s.io/cluster-api' : `sigs.k8s.io/cluster-api/${path}`;
  return [
    { name: 'capi-core-manager', source, goPackage: goPackage(found.core) },
    { name: 'capi-kubeadm-bootstrap-manager', source, goPackage: goPackage('bootstrap/kubeadm') },
    {
      name: 'clusterctl',
      source,
      goPackage: goPackage('cmd/clusterctl'),
      versionArguments: ['version', '-o', 'short'],
    },
  ];
};

/** Releases of which several are pinned; the newest Kubernetes, the default etcd and the newest Cluster API unless said. */
export interface WantedReleases {
  /** A minor (`1.36`) or a pinned patch (`v1.36.3`). */
  readonly kubernetes?: string | undefined;
  /** A minor (`3.7`) or a pinned patch (`v3.7.3`). */
  readonly etcd?: string | undefined;
  /** A minor (`1.13`) or a pinned patch (`v1.13.6`). */
  readonly clusterApi?: string | undefined;
}

/** Every tool; Kubernetes' own, etcd's and Cluster API's in the wanted versions. */
export const toolPins = ({ kubernetes, etcd, clusterApi }: WantedReleases = {}): readonly ToolPin[] => [
  ...kubernetesTools(kubernetes ?? kubernetesReleases[0].version),
  ...etcdTools(etcd ?? etcdReleases[0].version),
  ...clusterApiTools(clusterApi ?? clusterApiReleases[0].version),
  ...fixedTools,
];

/** The pin of one tool. Throws an error that lists the names when there is none. */
export const toolPin = (name: string, releases: WantedReleases = {}): ToolPin => {
  const pins = toolPins(releases);
  const pin = pins.find((candidate) => candidate.name === name);
  if (pin === undefined) {
    throw new Error(`"${name}" is no pinned tool; pinned are ${pins.map((each) => each.name).join(', ')}`);
  }
  return pin;
};
