import { procMountFindings, seccompFindings } from './baseline-checks.ts';
import { tooLittle, tooMuch } from './check.ts';
import type { PodCheck } from './check.ts';
import { contextsOf, hasOwnUsers } from './evaluated-pod.ts';

const volumeTypes = new Set(
  'configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret'.split(' '),
);

const volumes: PodCheck = {
  id: 'restrictedVolumes',
  standard: 'restricted',
  supersedes: 'hostPathVolumes',
  findings: (pod) =>
    pod.volumes.flatMap(({ at, volume }) =>
      Object.entries(volume)
        .filter(([type]) => type !== 'name' && !volumeTypes.has(type))
        .map(([type, source]) =>
          tooMuch(
            `${at}.${type}`,
            source,
            'is a volume type that only operators may use',
            'use a PersistentVolumeClaim or another type',
          ),
        ),
    ),
};

const privilegeEscalation: PodCheck = {
  id: 'allowPrivilegeEscalation',
  standard: 'restricted',
  findings: ({ containers }) =>
    containers.flatMap(({ at, container: { securityContext } }) =>
      securityContext?.allowPrivilegeEscalation === false
        ? []
        : [
            tooLittle(
              `${at}.securityContext.allowPrivilegeEscalation`,
              securityContext?.allowPrivilegeEscalation,
              'set it to false',
            ),
          ],
    ),
};

const nonRoot: PodCheck = {
  id: 'runAsNonRoot',
  standard: 'restricted',
  findings: (pod) => {
    if (hasOwnUsers(pod)) return [];
    const ofPod = pod.whole?.spec.securityContext?.runAsNonRoot;
    return [
      ...(pod.whole !== undefined && ofPod === false
        ? [tooLittle(`${pod.whole.at}.securityContext.runAsNonRoot`, false, 'set it to true')]
        : []),
      ...pod.containers.flatMap(({ at, container: { securityContext } }) => {
        const own = securityContext?.runAsNonRoot;
        if (own === true || (own === undefined && ofPod === true)) return [];
        return [tooLittle(`${at}.securityContext.runAsNonRoot`, own, 'set it to true')];
      }),
    ];
  },
};

const user: PodCheck = {
  id: 'runAsUser',
  standard: 'restricted',
  findings: (pod) =>
    hasOwnUsers(pod)
      ? []
      : contextsOf(pod).flatMap(({ at, context: { runAsUser } }) =>
          runAsUser === 0 ? [tooMuch(`${at}.runAsUser`, 0, 'is root', 'use another UID')] : [],
        ),
};

const capabilities: PodCheck = {
  id: 'capabilities_restricted',
  standard: 'restricted',
  supersedes: 'capabilities_baseline',
  findings: ({ containers }) =>
    containers.flatMap(({ at, container: { securityContext } }) => {
      const { add = [], drop } = securityContext?.capabilities ?? {};
      const field = `${at}.securityContext.capabilities`;
      return [
        ...(drop?.includes('ALL') === true ? [] : [tooLittle(`${field}.drop`, drop, 'set it to [ALL]')]),
        ...add.flatMap((name, index) =>
          name === 'NET_BIND_SERVICE'
            ? []
            : [tooMuch(`${field}.add[${index}]`, name, 'is not NET_BIND_SERVICE, the only one that may be added')],
        ),
      ];
    }),
};

const procMount: PodCheck = {
  id: 'procMount_restricted',
  standard: 'restricted',
  supersedes: 'procMount_baseline',
  findings: procMountFindings,
};

const seccomp: PodCheck = {
  id: 'seccompProfile_restricted',
  standard: 'restricted',
  supersedes: 'seccompProfile_baseline',
  findings: (pod) => {
    const ofPod = pod.whole?.spec.securityContext?.seccompProfile?.type;
    const isConfined = ofPod === 'RuntimeDefault' || ofPod === 'Localhost';
    return [
      ...seccompFindings(pod),
      ...pod.containers.flatMap(({ at, container: { securityContext } }) =>
        isConfined || securityContext?.seccompProfile?.type !== undefined
          ? []
          : [tooLittle(`${at}.securityContext.seccompProfile.type`, undefined, 'set it to RuntimeDefault')],
      ),
    ];
  },
};

/** The checks that only the standard `restricted` has. */
export const restrictedChecks: readonly PodCheck[] = [
  volumes,
  privilegeEscalation,
  nonRoot,
  user,
  capabilities,
  procMount,
  seccomp,
];
