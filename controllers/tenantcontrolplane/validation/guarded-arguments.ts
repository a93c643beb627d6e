/** Programs that take arguments of the author's. */
export const argumentComponents = [
  'apiServer',
  'controllerManager',
  'scheduler',
  'kine',
  'konnectivityServer',
  'konnectivityAgent',
] as const;
export type ArgumentComponent = (typeof argumentComponents)[number];

/** A flag, or flags that begin alike, by which a program would leave what Steward made for it. */
interface Guard {
  /** A name, or its beginning with a `*` behind it. */
  readonly flag: string;
  /** Names that the beginning does not mean. */
  readonly not?: readonly string[];
  /** Which values are meant; all of them unless said. */
  readonly isMeant?: (value: string) => boolean;
  /** Completes the sentence “<argument> …”. */
  readonly why: string;
  readonly instead: string;
}

const store = 'decides whose data is served, and with whose credentials';
const storeInstead = 'choose the store by spec.dataStore and spec.dataStoreOverrides';
const identity = 'decides who is believed to be whom';
const identityInstead = 'leave the authorities to Steward; they are rotated and can be supplied';
const credentials = 'replaces credentials that Steward issues and renews';
const credentialsInstead = 'leave them to Steward';

/** Flags of the three programs that serve or ask with a client authority. */
const delegated: readonly Guard[] = [
  { flag: 'client-ca-file', why: identity, instead: identityInstead },
  { flag: 'requestheader-*', why: identity, instead: identityInstead },
];
const ownKubeconfig: readonly Guard[] = [
  { flag: 'kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'authentication-kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'authorization-kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'master', why: 'leads the program to another API server', instead: credentialsInstead },
];

/** The flags that move the boundary of a program. What only tunes it, or serves the tenant alone, is the author's to give. */
export const guardedArguments: Readonly<Record<ArgumentComponent, readonly Guard[]>> = {
  apiServer: [
    {
      flag: 'etcd-*',
      not: [
        'etcd-count-metric-poll-period',
        'etcd-db-metric-poll-interval',
        'etcd-healthcheck-timeout',
        'etcd-readycheck-timeout',
      ],
      why: store,
      instead: storeInstead,
    },
    { flag: 'storage-backend', why: store, instead: storeInstead },
    ...delegated,
    { flag: 'token-auth-file', why: identity, instead: 'use service accounts, certificates or OpenID Connect' },
    { flag: 'tls-cert-file', why: credentials, instead: 'give further names by --tls-sni-cert-key' },
    { flag: 'tls-private-key-file', why: credentials, instead: 'give further names by --tls-sni-cert-key' },
    { flag: 'service-account-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-endpoint', why: identity, instead: identityInstead },
    { flag: 'kubelet-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'proxy-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'peer-ca-file', why: identity, instead: identityInstead },
    {
      flag: 'authorization-mode',
      // Without any mode the program takes this one.
      isMeant: (value) => value.trim() === '' || value.includes('AlwaysAllow'),
      why: 'makes everybody who reaches the API server its administrator, without a name',
      instead: 'leave it out to have Node,RBAC',
    },
    {
      flag: 'egress-selector-config-file',
      why: 'decides through which tunnel nodes are reached',
      instead: 'use spec.addons.konnectivity',
    },
  ],
  controllerManager: [
    ...delegated,
    ...ownKubeconfig,
    { flag: 'root-ca-file', why: identity, instead: identityInstead },
    { flag: 'service-account-private-key-file', why: identity, instead: identityInstead },
    { flag: 'cluster-signing-*', not: ['cluster-signing-duration'], why: identity, instead: identityInstead },
  ],
  scheduler: [...delegated, ...ownKubeconfig],
  kine: [
    ...[
      'endpoint',
      'listen-address',
      'peer-*',
      's3-*',
      'skip-verify',
      'trusted-ca-file',
      'metrics-ignore-tls-config',
    ].map((flag) => ({ flag, why: store, instead: storeInstead })),
    ...['ca-file', 'cert-file', 'key-file', 'server-cert-file', 'server-key-file'].map((flag) => ({
      flag,
      why: credentials,
      instead: credentialsInstead,
    })),
  ],
  konnectivityServer: [
    ...['kubeconfig', 'server-cert', 'server-key', 'cluster-cert', 'cluster-key'].map((flag) => ({
      flag,
      why: credentials,
      instead: credentialsInstead,
    })),
    ...['server-ca-cert', 'cluster-ca-cert', 'agent-namespace', 'agent-service-account', 'authentication-audience'].map(
      (flag) => ({ flag, why: identity, instead: identityInstead }),
    ),
    ...['server-port', 'server-bind-address', 'uds-name', 'admin-bind-address'].map((flag) => ({
      flag,
      why: 'opens the tunnel to others than the API server of the same pod',
      instead: 'leave it out',
    })),
  ],
  konnectivityAgent: [
    ...['agent-cert', 'agent-key', 'kubeconfig', 'service-account-token-path'].map((flag) => ({
      flag,
      why: credentials,
      instead: credentialsInstead,
    })),
    { flag: 'ca-cert', why: identity, instead: identityInstead },
    ...['proxy-server-host', 'proxy-server-port'].map((flag) => ({
      flag,
      why: 'leads the agents’ credentials to another server',
      instead: 'publish the endpoint as spec.controlPlane says',
    })),
  ],
};

function means({ flag, not = [] }: Guard, name: string): boolean {
  if (not.includes(name)) return false;
  return flag.endsWith('*') ? name.startsWith(flag.slice(0, -1)) : name === flag;
}

/** Why a program is not given a flag; undefined for one that it may have. `name` has dashes, no underscores. */
export function guardOf(
  component: ArgumentComponent,
  name: string,
  value: string,
): Pick<Guard, 'why' | 'instead'> | undefined {
  return guardedArguments[component].find(
    (guard) => means(guard, name) && (guard.isMeant === undefined || guard.isMeant(value)),
  );
}
