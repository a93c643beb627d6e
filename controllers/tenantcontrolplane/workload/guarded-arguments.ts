/** Programs for which authors may set arguments. */
export const argumentComponents = [
  'apiServer',
  'controllerManager',
  'scheduler',
  'kine',
  'konnectivityServer',
  'konnectivityAgent',
] as const;
export type ArgumentComponent = (typeof argumentComponents)[number];

/** A flag, or flags with the same prefix, that would change what Steward set up for a program. */
interface Guard {
  /** A name, or a prefix followed by `*`. */
  readonly flag: string;
  /** Names with the prefix that are not guarded. */
  readonly not?: readonly string[];
  /** Which values are guarded; all of them by default. */
  readonly isMeant?: (value: string) => boolean;
  /** Completes the sentence “<argument> …”. */
  readonly why: string;
  readonly instead: string;
}

const store = 'determines whose data is served and with whose credentials';
const storeInstead = 'choose the datastore with spec.dataStore and spec.dataStoreOverrides';
const identity = 'determines whose identities are trusted';
const identityInstead = 'leave the CAs and keys to Steward; they can be rotated and user-supplied';
const credentials = 'replaces credentials that Steward issues and renews';
const credentialsInstead = 'leave them to Steward';

/** Flags of the three programs that authenticate clients by a CA. */
const delegated: readonly Guard[] = [
  { flag: 'client-ca-file', why: identity, instead: identityInstead },
  { flag: 'requestheader-*', why: identity, instead: identityInstead },
];
const ownKubeconfig: readonly Guard[] = [
  { flag: 'kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'authentication-kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'authorization-kubeconfig', why: credentials, instead: credentialsInstead },
  { flag: 'master', why: 'points the program to another API server', instead: 'leave it out' },
];

/** The flags that change the boundary of a program. Flags that only tune it, or that serve the tenant alone, are free. */
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
    { flag: 'tls-cert-file', why: credentials, instead: 'add certificates for other names with --tls-sni-cert-key' },
    {
      flag: 'tls-private-key-file',
      why: credentials,
      instead: 'add certificates for other names with --tls-sni-cert-key',
    },
    { flag: 'service-account-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-key-file', why: identity, instead: identityInstead },
    { flag: 'service-account-signing-endpoint', why: identity, instead: identityInstead },
    { flag: 'kubelet-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'proxy-client-*', why: credentials, instead: credentialsInstead },
    { flag: 'peer-ca-file', why: identity, instead: identityInstead },
    {
      flag: 'authorization-mode',
      // An empty value selects this mode, too.
      isMeant: (value) => value.trim() === '' || value.includes('AlwaysAllow'),
      why: 'makes everyone who reaches the API server its anonymous administrator',
      instead: 'leave it out to use Node,RBAC',
    },
    {
      flag: 'egress-selector-config-file',
      why: 'determines the tunnel through which nodes are reached',
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
      why: 'opens the tunnel to clients other than the API server in the same pod',
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
      why: 'sends the agents’ credentials to another server',
      instead: 'expose the endpoint with spec.controlPlane',
    })),
  ],
};

function means({ flag, not = [] }: Guard, name: string): boolean {
  if (not.includes(name)) return false;
  return flag.endsWith('*') ? name.startsWith(flag.slice(0, -1)) : name === flag;
}

/** Why a flag of a program is guarded; undefined for one that is free. `name` has dashes, no underscores. */
export function guardOf(
  component: ArgumentComponent,
  name: string,
  value: string,
): Pick<Guard, 'why' | 'instead'> | undefined {
  return guardedArguments[component].find(
    (guard) => means(guard, name) && (guard.isMeant === undefined || guard.isMeant(value)),
  );
}
