/**
 * Kinds that kube-apiserver 1.36 serves by default, as they stand in its keys: for each it has a connection to its datastore, with a
 * watch, and counts their objects once a minute. An idle one was seen with 58 watches, each on a stream of its own, 66 connections, and 75
 * reads a minute without any probe: the connections and reads that it has besides are left out.
 */
export const apiServerKinds: readonly string[] = [
  ...['pods', 'minions', 'services/specs', 'services/endpoints', 'secrets', 'configmaps', 'namespaces', 'events'],
  ...['serviceaccounts', 'persistentvolumes', 'persistentvolumeclaims', 'controllers', 'limitranges', 'resourcequotas'],
  ...['podtemplates', 'deployments', 'daemonsets', 'replicasets', 'statefulsets', 'controllerrevisions', 'jobs'],
  ...['cronjobs', 'horizontalpodautoscalers', 'ingress', 'ingressclasses', 'networkpolicies', 'ipaddresses'],
  ...['servicecidrs', 'poddisruptionbudgets', 'roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  ...[
    'storageclasses',
    'volumeattachments',
    'csinodes',
    'csidrivers',
    'csistoragecapacities',
    'volumeattributesclasses',
  ],
  ...['leases', 'endpointslices', 'priorityclasses', 'runtimeclasses', 'flowschemas', 'prioritylevelconfigurations'],
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations', 'validatingadmissionpolicies'],
  ...['validatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  ...['certificatesigningrequests', 'deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'],
  ...['apiextensions.k8s.io/customresourcedefinitions', 'apiregistration.k8s.io/apiservices'],
];
