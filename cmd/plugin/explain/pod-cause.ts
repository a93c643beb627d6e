import type { Deployment, Pod, ReplicaSet } from '../../../api/core/kinds.ts';
import { timesText } from '../../../api/counted.ts';
import { withoutMiddle } from '../../../api/without-middle.ts';
import { causeWith } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import { podRemedies } from './pod-remedies.ts';
import type { Situation } from './situation.ts';

type Reason = keyof typeof podRemedies;
type Containers = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;
type ContainerStatus = Containers[number];

interface Found {
  readonly reason: Reason;
  readonly where: string;
  readonly what: string;
  readonly since?: string | undefined;
}

/** So long may a start take before something is wrong, in milliseconds. */
const startMs = 60_000;

/** The most severe first: what comes later usually follows from what comes earlier. */
const severity: readonly Reason[] = [
  'QuotaExceeded',
  'PodSecurityRefused',
  'WebhookRefused',
  'ServiceAccountMissing',
  'PodsRefused',
  'Unschedulable',
  'ImageMissing',
  'ContainerNotCreated',
  'WrongArgument',
  'OutOfMemory',
  'CrashLoop',
  'NotReady',
  'PodsStarting',
];

const pulls: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
]);
const creations: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CreatePodSandboxError',
]);

/** How Kubernetes' own programs refuse their arguments. */
const refusesArgument =
  /unknown (shorthand )?flag|flag provided but not defined|invalid argument|unrecognized feature gate|Error: \[?--|must be specified|invalid value .* for flag/i;

/** A time of an object: JSON has text where the type of the client library has a Date. */
const timeOf = (time: unknown): string | undefined =>
  typeof time === 'string' ? time : time instanceof Date ? time.toISOString() : undefined;

const shortened = (text: string): string => withoutMiddle(text, 600);

/** The line of a log that says why the program ended. */
function lastWord(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const found =
    lines.findLast((line) => refusesArgument.test(line)) ??
    lines.findLast((line) => /^(Error|F\d{4}|panic|fatal)/i.test(line)) ??
    lines.findLast((line) => /^E\d{4}/.test(line)) ??
    lines.at(-1);
  return found === undefined ? undefined : shortened(found.trim());
}

function crashed(pod: Pod, container: ContainerStatus, situation: Situation): Found {
  const { name, lastState, state, restartCount } = container;
  const ended = lastState?.terminated ?? state?.terminated;
  const log = situation.logs[`${pod.metadata.name}/${name}`] ?? '';
  const said = lastWord(ended?.message ?? '') ?? lastWord(log);
  const isArgument = refusesArgument.test(said ?? '');
  const outOfMemory = ended?.reason === 'OOMKilled';
  const exit = outOfMemory ? 'used more memory than its limit' : `ends with exit code ${ended?.exitCode ?? 'unknown'}`;
  return {
    reason: outOfMemory ? 'OutOfMemory' : isArgument ? 'WrongArgument' : 'CrashLoop',
    where: `Pod ${pod.metadata.name}`,
    what: `container ${name} ${exit}, restarted ${timesText(restartCount)}${said === undefined ? '' : `: ${said}`}`,
    since: timeOf(ended?.startedAt) ?? timeOf(ended?.finishedAt),
  };
}

const startOf = ({ status, metadata }: Pod): string | undefined =>
  timeOf(status?.startTime) ?? metadata.creationTimestamp;

function ofContainer(pod: Pod, container: ContainerStatus, situation: Situation): readonly Found[] {
  const { name, image, ready, state } = container;
  const where = `Pod ${pod.metadata.name}`;
  const since = startOf(pod);
  const { reason = '', message = '' } = state?.waiting ?? {};
  const told = shortened([reason, message].filter((part) => part !== '').join(': '));
  if (pulls.has(reason))
    return [{ reason: 'ImageMissing', where, what: `container ${name} cannot get its image ${image}: ${told}`, since }];
  if (creations.has(reason))
    return [{ reason: 'ContainerNotCreated', where, what: `container ${name} cannot be created: ${told}`, since }];
  if (hasCrashed(container)) return [crashed(pod, container, situation)];
  if (ready || state?.terminated !== undefined) return [];
  return [unready(pod, container, situation)];
}

function hasCrashed({ ready, state, restartCount }: ContainerStatus): boolean {
  const { terminated, waiting } = state ?? {};
  if (waiting?.reason === 'CrashLoopBackOff' || (restartCount > 0 && !ready)) return true;
  return terminated !== undefined && terminated.exitCode !== 0;
}

/** A container that starts, or runs for some time without being ready. */
function unready(pod: Pod, { name, state }: ContainerStatus, situation: Situation): Found {
  const where = `Pod ${pod.metadata.name}`;
  const since = startOf(pod);
  const isOld = situation.now.getTime() - Date.parse(since ?? '') > startMs;
  if (state?.running !== undefined && isOld) {
    const probe = situation.events.findLast(
      ({ reason: why, regarding }) => why === 'Unhealthy' && regarding?.name === pod.metadata.name,
    );
    const what = `container ${name} runs, but is not ready${probe?.note === undefined ? '' : `: ${shortened(probe.note)}`}`;
    return { reason: 'NotReady', where, what, since: timeOf(state.running.startedAt) ?? since };
  }
  return { reason: 'PodsStarting', where, what: `container ${name} is starting`, since };
}

function ofPod(pod: Pod, situation: Situation): readonly Found[] {
  const { status, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined) return [];
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unscheduled !== undefined) {
    const what = unscheduled.message ?? 'the pod is not scheduled';
    const since = timeOf(unscheduled.lastTransitionTime);
    return [{ reason: 'Unschedulable', where: `Pod ${metadata.name}`, what, since }];
  }
  const mount = situation.events.findLast(
    ({ reason, regarding }) => reason === 'FailedMount' && regarding?.name === metadata.name,
  );
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (mount !== undefined && containers.every(({ ready }) => !ready)) {
    const what = shortened(mount.note ?? 'a volume cannot be mounted');
    return [{ reason: 'ContainerNotCreated', where: `Pod ${metadata.name}`, what, since: metadata.creationTimestamp }];
  }
  if (containers.length === 0) {
    const what = 'its containers are not created yet';
    return [{ reason: 'PodsStarting', where: `Pod ${metadata.name}`, what, since: metadata.creationTimestamp }];
  }
  return containers.flatMap((container) => ofContainer(pod, container, situation));
}

function refusal(message: string): Reason {
  if (/exceeded quota|failed quota|insufficient quota/i.test(message)) return 'QuotaExceeded';
  if (/violates PodSecurity/i.test(message)) return 'PodSecurityRefused';
  if (/admission webhook|ValidatingAdmissionPolicy/i.test(message)) return 'WebhookRefused';
  if (/serviceaccount .* not found/i.test(message)) return 'ServiceAccountMissing';
  return 'PodsRefused';
}

function ofReplicas(kind: string, { metadata, status }: Deployment | ReplicaSet): readonly Found[] {
  const failures = status?.conditions ?? [];
  const failure = failures.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  if (failure === undefined) return [];
  const { message = 'the pods are refused' } = failure;
  const since = timeOf(failure.lastTransitionTime);
  return [{ reason: refusal(message), where: `${kind} ${metadata.name}`, what: shortened(message), since }];
}

/** Pods that are not created yet, of a Deployment that was. */
function ofNone({ pods, deployment, now }: Situation): readonly Found[] {
  const since = deployment?.metadata.creationTimestamp;
  const isNew = since !== undefined && now.getTime() - Date.parse(since) < startMs;
  if (pods.length > 0 || deployment === undefined || !isNew || (deployment.status?.readyReplicas ?? 0) > 0) return [];
  const where = `Deployment ${deployment.metadata.name}`;
  return [{ reason: 'PodsStarting', where, what: 'its pods are not created yet', since }];
}

/** Why pods do not run: the closest cause that they, and what creates them, report; undefined if all are well. */
export function podCause(situation: Situation, options: { readonly where?: string } = {}): Cause | undefined {
  const { pods, deployment, replicaSets } = situation;
  const found = [
    ...replicaSets.flatMap((set) => ofReplicas('ReplicaSet', set)),
    ...(deployment === undefined ? [] : ofReplicas('Deployment', deployment)),
    ...pods.flatMap((pod) => ofPod(pod, situation)),
    ...ofNone(situation),
  ];
  const worst = found.toSorted((a, b) => severity.indexOf(a.reason) - severity.indexOf(b.reason))[0];
  if (worst === undefined) return undefined;
  const where = options.where === undefined ? worst.where : `${options.where}, ${worst.where}`;
  const { since, ...rest } = worst;
  return causeWith(situation, { ...rest, where, ...(since !== undefined && { since }) }, podRemedies[worst.reason]);
}
