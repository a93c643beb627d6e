import { passing, toDo } from '../../../api/remedies/remedy.ts';

const pods = 'kubectl -n <namespace> describe pods -l steward.butlerlabs.dev/name=<name>';
const replicaSets = 'kubectl -n <namespace> describe replicasets -l steward.butlerlabs.dev/name=<name>';
const spec = 'kubectl -n <namespace> get tcp <name> -o jsonpath={.spec.controlPlane.deployment}';

/** What to do about what pods and their ReplicaSets report. */
export const podRemedies = {
  ImageMissing: toDo(
    'Check the version in spec.kubernetes.version and the registry in spec.controlPlane.deployment.registrySettings: the image has to exist there. A private registry needs spec.controlPlane.deployment.imagePullSecrets, and the nodes have to reach it.',
    pods,
  ),
  Unschedulable: toDo(
    'Give the pods a node: add nodes or free resources for Insufficient cpu or memory; correct nodeSelector, affinity and topologySpreadConstraints in spec.controlPlane.deployment; add tolerations for taints.',
    pods,
    'kubectl get nodes --show-labels',
  ),
  WrongArgument: toDo(
    'Remove or correct the argument in spec.controlPlane.deployment.extraArgs: this version of the program does not accept it.',
    spec,
  ),
  CrashLoop: toDo(
    'Read the end of the log. If spec.controlPlane.deployment sets extraArgs, additionalVolumes or images, check these first.',
    'kubectl -n <namespace> logs -l steward.butlerlabs.dev/name=<name> --all-containers --prefix --previous --tail=20',
    spec,
  ),
  OutOfMemory: toDo('Raise the memory limit of the container in spec.controlPlane.deployment.resources.', pods),
  ContainerNotCreated: toDo(
    'Create the Secret, ConfigMap or volume that the message names, or remove it from the spec.',
    pods,
  ),
  NotReady: toDo(
    'The container runs, but its probes fail: read its log. An API server is not ready until its datastore answers.',
    'kubectl -n <namespace> logs -l steward.butlerlabs.dev/name=<name> --all-containers --prefix --tail=20',
    pods,
  ),
  QuotaExceeded: toDo(
    'Raise the ResourceQuota that the message names, or lower replicas or resources in spec.controlPlane.deployment. A rollout needs room for new pods beside the old ones.',
    'kubectl -n <namespace> describe resourcequotas',
  ),
  PodSecurityRefused: toDo(
    'Remove from spec.controlPlane.deployment the fields that the message names, or label the namespace with a Pod Security Standard that permits them.',
    'kubectl get namespace <namespace> --show-labels',
    replicaSets,
  ),
  WebhookRefused: toDo(
    'Correct the policy of the admission webhook that the message names, or the fields in spec.controlPlane.deployment that it refuses.',
    replicaSets,
  ),
  ServiceAccountMissing: toDo(
    'Create the ServiceAccount, or correct spec.controlPlane.deployment.serviceAccountName.',
    'kubectl -n <namespace> get serviceaccounts',
  ),
  PodsRefused: toDo('Remove what refuses the pods, as the message says.', replicaSets),
  PodsStarting: passing('Wait: the pods are starting.', pods),
} as const;
