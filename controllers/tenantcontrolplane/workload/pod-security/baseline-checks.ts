import type { Container } from '../../shared/pod-parts.ts';
import { tooMuch } from './check.ts';
import type { Finding, PodCheck } from './check.ts';
import { contextsOf, hasOwnUsers } from './evaluated-pod.ts';
import type { EvaluatedPod } from './evaluated-pod.ts';

const harmlessCapabilities = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
);

const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']);
/** The profiles that are at least as strict as the runtime's own. */
const confined = new Set<string | undefined>([undefined, 'RuntimeDefault', 'Localhost']);
const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';

function eachContainer(
  { containers }: EvaluatedPod,
  evaluate: (container: Partial<Container>, at: string) => readonly Finding[],
): readonly Finding[] {
  return containers.flatMap(({ at, container }) => evaluate(container, at));
}

const hostNamespaces: PodCheck = {
  id: 'hostNamespaces',
  standard: 'baseline',
  findings: ({ whole }) =>
    whole === undefined
      ? []
      : (['hostIPC', 'hostNetwork', 'hostPID'] as const)
          .filter((field) => whole.spec[field] === true)
          .map((field) => tooMuch(`${whole.at}.${field}`, true, 'shares a namespace of the node')),
};

const privileged: PodCheck = {
  id: 'privileged',
  standard: 'baseline',
  findings: (pod) =>
    eachContainer(pod, ({ securityContext }, at) =>
      securityContext?.privileged === true
        ? [tooMuch(`${at}.securityContext.privileged`, true, 'gives the container root access to the node')]
        : [],
    ),
};

const capabilities: PodCheck = {
  id: 'capabilities_baseline',
  standard: 'baseline',
  findings: (pod) =>
    eachContainer(pod, ({ securityContext }, at) =>
      (securityContext?.capabilities?.add ?? []).flatMap((name, index) =>
        harmlessCapabilities.has(name)
          ? []
          : [
              tooMuch(
                `${at}.securityContext.capabilities.add[${index}]`,
                name,
                'is a capability that containers do not have by default',
              ),
            ],
      ),
    ),
};

const hostPathVolumes: PodCheck = {
  id: 'hostPathVolumes',
  standard: 'baseline',
  findings: ({ volumes }) =>
    volumes.flatMap(({ at, volume: { hostPath } }) =>
      hostPath === undefined
        ? []
        : [tooMuch(`${at}.hostPath.path`, hostPath.path, 'is a directory of the node', 'use another type of volume')],
    ),
};

const hostPorts: PodCheck = {
  id: 'hostPorts',
  standard: 'baseline',
  findings: (pod) =>
    eachContainer(pod, ({ ports = [] }, at) =>
      ports.flatMap(({ hostPort = 0 }, index) =>
        hostPort === 0 ? [] : [tooMuch(`${at}.ports[${index}].hostPort`, hostPort, 'is a port of the node')],
      ),
    ),
};

function handlerHosts(container: Partial<Container>, at: string): readonly Finding[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  const handlers = {
    livenessProbe,
    readinessProbe,
    startupProbe,
    'lifecycle.postStart': lifecycle?.postStart,
    'lifecycle.preStop': lifecycle?.preStop,
  };
  return Object.entries(handlers).flatMap(([name, handler]) =>
    (['httpGet', 'tcpSocket'] as const).flatMap((by) => {
      const host = handler?.[by]?.host ?? '';
      const wrong = 'makes the kubelet connect to a host other than the pod';
      return host === '' ? [] : [tooMuch(`${at}.${name}.${by}.host`, host, wrong)];
    }),
  );
}

const hostProbes: PodCheck = {
  id: 'hostProbesAndHostLifecycle',
  standard: 'baseline',
  findings: (pod) => eachContainer(pod, handlerHosts),
};

const appArmor: PodCheck = {
  id: 'appArmorProfile',
  standard: 'baseline',
  findings: (pod) => [
    ...contextsOf(pod).flatMap(({ at, context: { appArmorProfile } }) =>
      confined.has(appArmorProfile?.type)
        ? []
        : [tooMuch(`${at}.appArmorProfile.type`, appArmorProfile?.type, 'disables AppArmor')],
    ),
    ...Object.entries(pod.annotations.values).flatMap(([name, value]) =>
      !name.startsWith(appArmorAnnotation) || value === '' || /^(runtime\/default$|localhost\/)/.test(value)
        ? []
        : [tooMuch(`${pod.annotations.at}[${name}]`, value, 'disables AppArmor')],
    ),
  ],
};

const seLinux: PodCheck = {
  id: 'seLinuxOptions',
  standard: 'baseline',
  findings: (pod) =>
    contextsOf(pod).flatMap(({ at, context: { seLinuxOptions = {} } }) => {
      const { type = '', user = '', role = '' } = seLinuxOptions;
      const wrong = 'is an SELinux label that containers do not have by default';
      return [
        ...(seLinuxTypes.has(type) ? [] : [tooMuch(`${at}.seLinuxOptions.type`, type, wrong)]),
        ...(user === '' ? [] : [tooMuch(`${at}.seLinuxOptions.user`, user, wrong)]),
        ...(role === '' ? [] : [tooMuch(`${at}.seLinuxOptions.role`, role, wrong)]),
      ];
    }),
};

/** The same check for both standards, except for pods with a user namespace. */
export function procMountFindings(pod: EvaluatedPod): readonly Finding[] {
  return eachContainer(pod, ({ securityContext }, at) => {
    const { procMount = 'Default' } = securityContext ?? {};
    const field = `${at}.securityContext.procMount`;
    return procMount === 'Default' ? [] : [tooMuch(field, procMount, 'exposes all of /proc to the container')];
  });
}

const procMount: PodCheck = {
  id: 'procMount_baseline',
  standard: 'baseline',
  findings: (pod) => (hasOwnUsers(pod) ? [] : procMountFindings(pod)),
};

/** Finds seccomp profiles that confine nothing. */
export function seccompFindings(pod: EvaluatedPod): readonly Finding[] {
  return contextsOf(pod).flatMap(({ at, context: { seccompProfile } }) => {
    const wrong = 'removes the restriction of system calls';
    if (confined.has(seccompProfile?.type)) return [];
    return [tooMuch(`${at}.seccompProfile.type`, seccompProfile?.type, wrong, 'use RuntimeDefault')];
  });
}

const seccomp: PodCheck = { id: 'seccompProfile_baseline', standard: 'baseline', findings: seccompFindings };

const sysctls: PodCheck = {
  id: 'sysctls',
  standard: 'baseline',
  findings: ({ whole }) =>
    (whole?.spec.securityContext?.sysctls ?? []).flatMap(({ name }, index) =>
      whole === undefined || safeSysctls.has(name)
        ? []
        : [tooMuch(`${whole.at}.securityContext.sysctls[${index}].name`, name, 'affects more than the pod')],
    ),
};

const hostProcess: PodCheck = {
  id: 'windowsHostProcess',
  standard: 'baseline',
  findings: (pod) =>
    contextsOf(pod).flatMap(({ at, context: { windowsOptions } }) =>
      windowsOptions?.hostProcess === true
        ? [tooMuch(`${at}.windowsOptions.hostProcess`, true, 'makes the container run as a process of the node')]
        : [],
    ),
};

/** The checks of the standard `baseline`, which `restricted` includes. */
export const baselineChecks: readonly PodCheck[] = [
  hostNamespaces,
  privileged,
  capabilities,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  appArmor,
  seLinux,
  procMount,
  seccomp,
  sysctls,
  hostProcess,
];
