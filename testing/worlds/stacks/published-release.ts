import { archiveOf, releaseManifest } from './stack-release.ts';
import type { ArchiveEntry } from './stack-release.ts';

/** A release as its makers leave it in a registry. */
export interface PublishedRelease {
  readonly tag: string;
  readonly files: Readonly<Record<string, Buffer>>;
  readonly manifest: Buffer;
}

/** Names and versions of a release, and how its class is written. */
interface Stack {
  /** `<provider>-<name>-<major>-<minor>`. */
  readonly prefix: string;
  /** With a dot where it has a suffix. */
  readonly version: string;
  readonly kubernetes: string;
  readonly contract: 'v1beta1' | 'v1beta2';
}

type Contract = Stack['contract'];

const named = '{{ .Release.Name }}-{{ .Chart.Version }}';

/** In v1beta1 references have a namespace and lie in `ref`, in v1beta2 they have none and lie in `templateRef`. */
function reference(
  contract: Contract,
  [group, kind, name]: readonly [group: string, kind: string, name: string],
): string {
  const fields = `apiVersion: ${group}.cluster.x-k8s.io/v1beta1, kind: ${kind}, name: "${named}-${name}"`;
  return contract === 'v1beta1'
    ? `ref: {${fields}, namespace: "{{ .Release.Namespace }}"}`
    : `templateRef: {${fields}}`;
}

/** A class of kubeadm control planes on Docker. A patch's condition stands unescaped, so that Helm evaluates it before Cluster API can: so do published charts. */
function clusterClass(contract: Contract): string {
  const worker = [
    `bootstrap: {${reference(contract, ['bootstrap', 'KubeadmConfigTemplate', 'worker'])}}`,
    `infrastructure: {${reference(contract, ['infrastructure', 'DockerMachineTemplate', 'machine'])}}`,
  ];
  const deployment =
    contract === 'v1beta1'
      ? ['    - class: default-worker', '      template:', ...worker.map((line) => `        ${line}`)]
      : ['    - class: default-worker', ...worker.map((line) => `      ${line}`)];
  return [
    `apiVersion: cluster.x-k8s.io/${contract}`,
    'kind: ClusterClass',
    `metadata: {name: "${named}", namespace: "{{ .Release.Namespace }}"}`,
    'spec:',
    '  controlPlane:',
    `    ${reference(contract, ['controlplane', 'KubeadmControlPlaneTemplate', 'control-plane'])}`,
    '    machineInfrastructure:',
    `      ${reference(contract, ['infrastructure', 'DockerMachineTemplate', 'machine'])}`,
    '  infrastructure:',
    `    ${reference(contract, ['infrastructure', 'DockerClusterTemplate', 'cluster'])}`,
    '  workers:',
    '    machineDeployments:',
    ...deployment,
    '  variables:',
    '  - name: imageRepository',
    '    required: true',
    '    schema: {openAPIV3Schema: {type: string, default: "", example: registry.example.com}}',
    '  patches:',
    '  - name: imageRepository',
    `    enabledIf: '{{ ne .imageRepository "" }}'`,
    '    definitions:',
    '    - selector:',
    '        apiVersion: controlplane.cluster.x-k8s.io/v1beta1',
    '        kind: KubeadmControlPlaneTemplate',
    '        matchResources: {controlPlane: true}',
    '      jsonPatches:',
    '      - op: add',
    '        path: /spec/template/spec/kubeadmConfigSpec/clusterConfiguration/imageRepository',
    '        valueFrom: {variable: imageRepository}',
    '  - name: customImage',
    '    definitions:',
    '    - selector:',
    '        apiVersion: infrastructure.cluster.x-k8s.io/v1beta1',
    '        kind: DockerMachineTemplate',
    '        matchResources: {controlPlane: true, machineDeploymentClass: {names: [default-worker]}}',
    '      jsonPatches:',
    '      - {op: add, path: /spec/template/spec/customImage, value: "{{ (index .Values.images.worker 0).name }}"}',
    '',
  ].join('\n');
}

const template = (group: string, kind: string, name: string, spec = '{}'): string =>
  `apiVersion: ${group}.cluster.x-k8s.io/v1beta1\nkind: ${kind}\nmetadata: {name: "${named}-${name}"}\nspec: {template: {spec: ${spec}}}\n`;

/** What `helm package` makes: one folder of the chart's name, without entries for folders. */
function packaged(name: string, version: string, files: Readonly<Record<string, string>>): Buffer {
  const chart = `apiVersion: v2\ndescription: as published\nname: ${name}\ntype: application\nversion: ${version}\n`;
  const entries = Object.entries({ 'Chart.yaml': chart, ...files });
  return archiveOf(entries.map(([path, content]): ArchiveEntry => ({ path: `${name}/${path}`, content })));
}

const classChart = ({ prefix, version, kubernetes, contract }: Stack): Buffer =>
  packaged(`${prefix}-cluster-class`, version, {
    'values.yaml': `images:\n  worker:\n  - name: registry.example.com/kindest/node:${kubernetes}\n`,
    'templates/cluster-class.yaml': clusterClass(contract),
    'templates/docker-cluster-template.yaml': template('infrastructure', 'DockerClusterTemplate', 'cluster'),
    'templates/docker-machine-template.yaml': template('infrastructure', 'DockerMachineTemplate', 'machine'),
    'templates/kubeadm-config-template.yaml': template('bootstrap', 'KubeadmConfigTemplate', 'worker'),
    'templates/kubeadm-control-plane-template.yaml': template(
      'controlplane',
      'KubeadmControlPlaneTemplate',
      'control-plane',
      '{kubeadmConfigSpec: {clusterConfiguration: {}}}',
    ),
  });

const addonTemplate =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {domain: "{{ .Values.domain }}"}\n';

const valuesTemplate = 'values: |\n  domain: "{{ .Cluster.spec.controlPlaneEndpoint.host }}"\n';

/** What tar makes of folders with a chart each. */
const stages = (...names: readonly string[]): Buffer =>
  archiveOf(
    names.flatMap((name): ArchiveEntry[] => [
      { path: `${name}/`, type: 'Directory' },
      { path: `${name}/Chart.yaml`, content: `apiVersion: v2\nname: ${name}\nversion: v1\n` },
      { path: `${name}/templates/`, type: 'Directory' },
      { path: `${name}/templates/config.yaml`, content: addonTemplate },
      { path: `${name}/values.yaml`, content: 'domain: none\n' },
      { path: `${name}/overwrite.yaml`, content: valuesTemplate },
    ]),
  );

const stagesConfig = `apiVersion: clusteraddonconfig.x-k8s.io/v1alpha1
clusterAddonVersion: clusteraddons.clusterstack.x-k8s.io/v1alpha1
addonStages:
  AfterControlPlaneInitialized:
    - name: cni
      action: apply
    - name: metrics-server
      action: apply
  BeforeClusterUpgrade:
    - name: cni
      action: apply
    - name: metrics-server
      action: apply
`;

const metadata = ({ version, kubernetes }: Stack, indent: string): string =>
  [
    'apiVersion: metadata.clusterstack.x-k8s.io/v1alpha1',
    'versions:',
    `${indent}kubernetes: ${kubernetes}`,
    `${indent}clusterStack: ${version}`,
    `${indent}components:`,
    `${indent}${indent}clusterAddon: ${version}`,
    `${indent}${indent}nodeImage: ${version}`,
    '',
  ].join('\n');

/** Publishers take files in the order of their names. */
const sorted = (files: Readonly<Record<string, Buffer | string>>): Readonly<Record<string, Buffer>> =>
  Object.fromEntries(
    Object.entries(files)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, content]) => [name, Buffer.from(content)]),
  );

const withDash = (version: string): string => version.replace('.', '-');

/** A release of `csctl create --mode hash --publish`: media types of its own, a dash in the tag where the version has a dot. */
export function releaseOfCsctl(stack: Stack): PublishedRelease {
  const { prefix, version, kubernetes } = stack;
  const hashes = { clusterStack: 'rwvgrnaexample', clusterAddonDir: 'abcdefghexample', clusterAddonValues: '' };
  const files = sorted({
    [`${prefix}-cluster-class-${version}.tgz`]: classChart(stack),
    [`${prefix}-cluster-addon-${version}.tgz`]: stages('cni', 'metrics-server'),
    'clusteraddon.yaml': stagesConfig,
    'hashes.json': JSON.stringify(hashes, null, 2),
    'metadata.yaml': metadata(stack, '  '),
  });
  const manifest = releaseManifest(files, { as: 'csctl', kubernetes });
  return { tag: `${prefix}-${withDash(version)}`, files, manifest };
}

/** A release of the build script that pushes with oras: one media type for everything, the version with its dot in the tag. */
export function releaseOfScript(stack: Stack): PublishedRelease {
  const { prefix, version } = stack;
  const files = sorted({
    [`${prefix}-cluster-class-${version}.tgz`]: classChart(stack),
    [`${prefix}-cluster-addon-${version}.tgz`]: stages('cni', 'metrics-server'),
    'clusteraddon.yaml': stagesConfig,
    'hashes.json': '{\n  "clusterStack": "0123456789abcdef0123456789abcdef01234567"\n}\n',
    'metadata.yaml': metadata(stack, '    '),
  });
  return { tag: `${prefix}-${version}`, files, manifest: releaseManifest(files, { as: 'oras' }) };
}

/** A release from before there were stages: one chart for all add-ons, its values beside it, and an example of a Cluster. */
export function releaseWithoutStages(stack: Stack): PublishedRelease {
  const { prefix, version, kubernetes } = stack;
  const chart = `${prefix}-cluster-addon`;
  const files = sorted({
    [`${prefix}-cluster-class-${version}.tgz`]: classChart(stack),
    [`${chart}-${version}.tgz`]: packaged(chart, version, { 'templates/config.yaml': addonTemplate }),
    'cluster-addon-values.yaml': valuesTemplate,
    'hashes.json': '{"clusterStack":"x","clusterAddonDir":"y","clusterAddonValues":"z"}',
    'metadata.yaml': metadata(stack, '  '),
    [`topology-${prefix}-${version}.yaml`]: 'kind: Cluster\n',
  });
  const manifest = releaseManifest(files, { as: 'csctl', kubernetes });
  return { tag: `${prefix}-${withDash(version)}`, files, manifest };
}
