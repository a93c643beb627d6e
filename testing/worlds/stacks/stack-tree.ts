/** A small source tree of a cluster stack, as `steward stack build` reads it; `changes` replaces files, and undefined takes one out. */
export function stackTree(changes: Readonly<Record<string, string | undefined>> = {}): ReadonlyMap<string, Buffer> {
  const files: Readonly<Record<string, string | undefined>> = {
    'csctl.yaml': [
      'apiVersion: csctl.clusterstack.x-k8s.io/v1alpha1',
      'config:',
      '  kubernetesVersion: v1.33.1',
      '  clusterStackName: steward',
      '  provider:',
      '    type: docker',
      '    apiVersion: docker.csctl.clusterstack.x-k8s.io/v1alpha1',
      '',
    ].join('\n'),
    'clusteraddon.yaml': [
      'apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1',
      'clusterAddonVersion: clusteraddons.clusterstack.x-k8s.io/v1alpha1',
      'addonStages:',
      '  AfterControlPlaneInitialized:',
      '    - {name: cni, action: apply}',
      '    - {name: metrics, action: apply}',
      '',
    ].join('\n'),
    'cluster-class/Chart.yaml':
      'apiVersion: v2\n# of the stack\nname: docker-steward-1-33-cluster-class\nversion: v1\n',
    'cluster-class/values.yaml': 'images: registry.example\n',
    'cluster-class/.helmignore': '*.swp\nnotes/\n',
    'cluster-class/templates/cluster-class.yaml': [
      'apiVersion: cluster.x-k8s.io/v1beta2',
      'kind: ClusterClass',
      'metadata:',
      '  name: {{ .Release.Name }}-{{ .Chart.Version }}',
      '  annotations: {version: << .ClusterClassVersion >>, images: {{ .Values.images }}}',
      '',
    ].join('\n'),
    'cluster-addon/cni/Chart.yaml': 'apiVersion: v2\nname: cni\nversion: v1\n',
    'cluster-addon/cni/templates/cni.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cni}\n',
    'cluster-addon/cni/overwrite.yaml': 'values: |\n  name: {{ .Cluster.metadata.name }}\n',
    'cluster-addon/metrics/metrics.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: metrics}\n',
    ...changes,
  };
  return new Map(
    Object.entries(files).flatMap(([path, text]) => (text === undefined ? [] : [[path, Buffer.from(text)] as const])),
  );
}
