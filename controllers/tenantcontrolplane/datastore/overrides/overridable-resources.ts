/**
 * The resources that kube-apiserver 1.34 to 1.36 has built in, by API group: the flag has no effect on others. Events of
 * `events.k8s.io` are stored with those of the core group (k8s.io/kubernetes, pkg/registry/…/rest; the test checks real servers).
 */
const byGroup: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...['configmaps', 'endpoints', 'events', 'limitranges', 'namespaces', 'nodes', 'persistentvolumeclaims'],
    ...['persistentvolumes', 'pods', 'podtemplates', 'replicationcontrollers', 'resourcequotas', 'secrets'],
    ...['serviceaccounts', 'services'],
  ],
  'admissionregistration.k8s.io': [
    ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'],
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'],
  ],
  apps: ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  autoscaling: ['horizontalpodautoscalers'],
  batch: ['cronjobs', 'jobs'],
  'certificates.k8s.io': ['certificatesigningrequests', 'clustertrustbundles', 'podcertificaterequests'],
  'coordination.k8s.io': ['leasecandidates', 'leases'],
  'discovery.k8s.io': ['endpointslices'],
  'flowcontrol.apiserver.k8s.io': ['flowschemas', 'prioritylevelconfigurations'],
  'internal.apiserver.k8s.io': ['storageversions'],
  'networking.k8s.io': ['ingressclasses', 'ingresses', 'ipaddresses', 'networkpolicies', 'servicecidrs'],
  'node.k8s.io': ['runtimeclasses'],
  policy: ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'resource.k8s.io': [
    ...['deviceclasses', 'devicetaintrules', 'resourceclaims', 'resourceclaimtemplates'],
    ...['resourcepoolstatusrequests', 'resourceslices'],
  ],
  'scheduling.k8s.io': ['podgroups', 'priorityclasses', 'workloads'],
  'storage.k8s.io': [
    ...['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments'],
    ...['volumeattributesclasses'],
  ],
  'storagemigration.k8s.io': ['storageversionmigrations'],
};

const compiledIn: ReadonlySet<string> = new Set(
  Object.entries(byGroup).flatMap(([group, resources]) => resources.map((resource) => `${group}/${resource}`)),
);

/** Why a resource cannot be stored elsewhere, and what to write instead. */
export interface ResourceProblem {
  readonly reason: string;
  readonly remedy: string;
}

/** The resource that was probably meant: without its version, and with its group. */
function meant(text: string): string | undefined {
  const [resource = '', ...groups] = text.toLowerCase().split('/').reverse();
  const whole = `${groups.at(-1) ?? ''}/${resource}`;
  if (resource === 'events') return '/events';
  if (compiledIn.has(whole)) return whole;
  const found = [...compiledIn].filter((known) => known.endsWith(`/${resource}`));
  return found.length === 1 ? found[0] : undefined;
}

/** Why kube-apiserver would not store `text` (`group/resource`) elsewhere; undefined when it would. */
export function overridableProblem(text: string): ResourceProblem | undefined {
  if (compiledIn.has(text)) return undefined;
  const instead = meant(text);
  const example = 'write it as group/resource, or as /resource for the core group, e.g. apps/deployments or /events';
  const remedy = instead === undefined ? example : `write ${instead}`;
  if (text === '') return { reason: 'is empty', remedy: 'name a resource such as /events' };
  if (!/^[a-z0-9.-]*\/[a-z0-9]+$/.test(text)) return { reason: 'is not of the form group/resource', remedy };
  if (text === 'events.k8s.io/events') return { reason: 'is stored with the events of the core group', remedy };
  const reason = 'is not built into kube-apiserver, which stores only built-in resources elsewhere';
  return { reason, remedy: instead === undefined ? 'remove it' : remedy };
}

/** Every resource that can be stored elsewhere, as `group/resource`. */
export function overridableResources(): readonly string[] {
  return [...compiledIn];
}
