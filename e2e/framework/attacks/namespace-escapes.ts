/** A TenantControlPlane that tries to leave its namespace, and what its author is told. */
export interface NamespaceEscape {
  /** Completes “a TenantControlPlane with …”. */
  readonly name: string;
  /** Parts of `spec.controlPlane.deployment`. */
  readonly deployment?: Readonly<Record<string, unknown>>;
  /** Other parts of the spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** The field, its value, the reason. */
  readonly expected: RegExp;
  /** How an administrator makes it possible; absent where nobody can. */
  readonly opened?: { readonly label: 'privileged' | 'baseline' } | { readonly flag: string };
}

const image = 'registry.k8s.io/pause:3.10.2';
const byLabel = { label: 'privileged' } as const;
const baseline = /which the Pod Security Standard baseline forbids/.source;

const container = (more: Readonly<Record<string, unknown>>): NonNullable<NamespaceEscape['deployment']> => ({
  additionalContainers: [{ name: 'extra', image, ...more }],
});

/** One that the Pod Security Standard `baseline` refuses. */
function byPod(name: string, field: string, value: string, deployment: NamespaceEscape['deployment']): NamespaceEscape {
  const pattern = `${field.replaceAll(/[.[\]]/g, '\\$&')} "${value}" .*${baseline}.*: `;
  return { name, deployment, expected: new RegExp(pattern), opened: byLabel };
}

const first = 'spec.controlPlane.deployment.additionalContainers[0]';
const inContext = (name: string, path: string, value: string, securityContext: object): NamespaceEscape =>
  byPod(name, `${first}.securityContext.${path}`, value, container({ securityContext }));

const podEscapes: readonly NamespaceEscape[] = [
  inContext('a privileged container', 'privileged', 'true', { privileged: true }),
  inContext('the capability SYS_ADMIN', 'capabilities.add[0]', 'SYS_ADMIN', { capabilities: { add: ['SYS_ADMIN'] } }),
  inContext('all of /proc', 'procMount', 'Unmasked', { procMount: 'Unmasked' }),
  inContext('no seccomp', 'seccompProfile.type', 'Unconfined', { seccompProfile: { type: 'Unconfined' } }),
  inContext('no AppArmor', 'appArmorProfile.type', 'Unconfined', { appArmorProfile: { type: 'Unconfined' } }),
  inContext('another type of SELinux', 'seLinuxOptions.type', 'spc_t', { seLinuxOptions: { type: 'spc_t' } }),
  inContext('a process of the node', 'windowsOptions.hostProcess', 'true', { windowsOptions: { hostProcess: true } }),
  byPod(
    'a port of the node',
    `${first}.ports[0].hostPort`,
    '443',
    container({ ports: [{ containerPort: 1, hostPort: 443 }] }),
  ),
  byPod(
    'a probe of another host',
    `${first}.livenessProbe.httpGet.host`,
    '169.254.169.254',
    container({ livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }),
  ),
  byPod(
    'a privileged init container',
    'spec.controlPlane.deployment.additionalInitContainers[0].securityContext.privileged',
    'true',
    { additionalInitContainers: [{ name: 'extra', image, securityContext: { privileged: true } }] },
  ),
  byPod('the root of the node', 'spec.controlPlane.deployment.additionalVolumes[0].hostPath.path', '/', {
    additionalVolumes: [{ name: 'root', hostPath: { path: '/' } }],
    additionalVolumeMounts: { apiServer: [{ name: 'root', mountPath: '/host' }] },
  }),
  byPod(
    'no AppArmor by annotation',
    'spec.controlPlane.deployment.podAdditionalMetadata.annotations[container.apparmor.security.beta.kubernetes.io/kube-apiserver]',
    'unconfined',
    {
      podAdditionalMetadata: {
        annotations: { 'container.apparmor.security.beta.kubernetes.io/kube-apiserver': 'unconfined' },
      },
    },
  ),
  {
    name: 'a privileged konnectivity server',
    spec: { addons: { konnectivity: { server: { port: 8132, securityContext: { privileged: true } } } } },
    expected: new RegExp(`spec\\.addons\\.konnectivity\\.server\\.securityContext\\.privileged "true" .*${baseline}`),
    opened: byLabel,
  },
];

type Program = 'apiServer' | 'controllerManager' | 'scheduler' | 'kine';

/** One that moves the boundary of a program. */
function byArgument(program: Program, argument: string, why: string): NamespaceEscape {
  const flag = (argument.slice(2).split('=')[0] ?? '').replaceAll('_', '-');
  const field = `spec\\.controlPlane\\.deployment\\.extraArgs\\.${program}\\[0\\]`;
  return {
    name: `${argument} for ${program}`,
    deployment: { extraArgs: { [program]: [argument] } },
    expected: new RegExp(`${field} "--${flag}" ${why}.*: .*--allow-extra-args=${program}:${flag}`),
    opened: { flag: `--allow-extra-args=${program}:${flag}` },
  };
}

const argumentEscapes: readonly NamespaceEscape[] = [
  byArgument('apiServer', '--etcd-prefix=/', 'determines whose data is served'),
  byArgument('apiServer', '--etcd_prefix=/', 'determines whose data is served'),
  byArgument('apiServer', '--etcd-servers=https://etcd.steward-system:2379', 'determines whose data is served'),
  byArgument('apiServer', '--authorization-mode=AlwaysAllow', 'makes everyone who reaches the API server'),
  byArgument('apiServer', '--authorization-mode=', 'makes everyone who reaches the API server'),
  byArgument('apiServer', '--client-ca-file=/x', 'determines whose identities are trusted'),
  byArgument('apiServer', '--requestheader-client-ca-file=/x', 'determines whose identities are trusted'),
  byArgument('apiServer', '--service-account-key-file=/x', 'determines whose identities are trusted'),
  byArgument('apiServer', '--token-auth-file=/x', 'determines whose identities are trusted'),
  byArgument('apiServer', '--tls-private-key-file=/x', 'replaces credentials'),
  byArgument('apiServer', '--kubelet-client-key=/x', 'replaces credentials'),
  byArgument('apiServer', '--egress-selector-config-file=/x', 'determines the tunnel'),
  byArgument('controllerManager', '--kubeconfig=/x', 'replaces credentials'),
  byArgument('controllerManager', '--cluster-signing-key-file=/x', 'determines whose identities are trusted'),
  byArgument('scheduler', '--authentication-kubeconfig=/x', 'replaces credentials'),
  byArgument('kine', '--endpoint=postgres://postgres@store', 'determines whose data is served'),
];

const imageEscapes: readonly NamespaceEscape[] = [
  {
    name: 'a registry that is none',
    deployment: {
      registrySettings: { registry: 'evil.example/../x y' },
    },
    expected: /registrySettings\.registry "evil\.example\/\.\.\/x y" is not a registry.*: use a host/,
  },
];

/** Every manifest that is refused for its pods and their programs. What reaches others over the network stands in a table of its own. */
export const namespaceEscapes: readonly NamespaceEscape[] = [...podEscapes, ...argumentEscapes, ...imageEscapes];

/** What authors may do with no leave of anybody: none of it leads out of the namespace. */
export const insideNamespace: readonly Pick<NamespaceEscape, 'name' | 'deployment'>[] = [
  { name: 'a container', deployment: container({}) },
  {
    name: 'an encryption configuration',
    deployment: { extraArgs: { apiServer: ['--encryption-provider-config=/x'] } },
  },
  { name: 'OpenID Connect', deployment: { extraArgs: { apiServer: ['--oidc-issuer-url=https://id.example'] } } },
  { name: 'a volume of its own', deployment: { additionalVolumes: [{ name: 'own', emptyDir: {} }] } },
];
