import { isDeepStrictEqual } from 'node:util';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import { clusterAddonName, clusterStackGroup } from '../../api/names.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { minorText, parseVersion } from '../../../kubeadm/versions.ts';

/** What a Cluster's class says of itself; undefined for a class that no release made. */
export interface ClassFacts {
  readonly className: string;
  /** `<provider>-<stack>`. */
  readonly stack: string;
  readonly release: string;
  /** `vX.Y.Z` of the release; undefined while that is not known. */
  readonly kubernetesVersion: string | undefined;
}

/** A Cluster as it should be, and what it takes the place of. */
export interface ClusterChange {
  readonly cluster: CapiCluster;
  readonly old?: CapiCluster | undefined;
  /** Of the class that `cluster` names. */
  readonly facts: ClassFacts | undefined;
  /** Of the class that `old` names. */
  readonly oldFacts?: ClassFacts | undefined;
}

/** On a Cluster, with value `true`: its class may be of another stack. Cluster API checks whether the templates fit. */
export const stackChangeAnnotation = `${clusterStackGroup}/allow-stack-change`;

/** The Cluster with the version of its class's release where it names none. A second time changes nothing. */
export function withReleaseVersion(cluster: CapiCluster, facts: ClassFacts | undefined): CapiCluster {
  const { spec } = cluster;
  const version = facts?.kubernetesVersion;
  if (spec?.topology === undefined || version === undefined || !isEmpty(versionOf(cluster))) return cluster;
  return { ...cluster, spec: { ...spec, topology: { ...spec.topology, version } } };
}

/** Cluster API's own defaulting makes a `v` of no version. */
const isEmpty = (version: string): boolean => version === '' || version === 'v';

const versionOf = ({ spec }: CapiCluster): string => spec?.topology?.version ?? '';

/**
 * Validates a Cluster with a class of a stack. Other Clusters are not validated, and a Cluster whose class and version do
 * not change stays admitted.
 */
export function validateCluster(change: ClusterChange): readonly InvalidInput[] {
  const { cluster, old, facts } = change;
  if (facts === undefined || cluster.metadata.deletionTimestamp !== undefined) return [];
  if (old !== undefined && isDeepStrictEqual(aspects(old), aspects(cluster))) return [];
  return [...validateVersion(cluster, facts), ...validateStack(change), ...validateMinor(cluster, old)];
}

/** What the user of a Cluster should know. */
export function clusterWarnings({ cluster, facts }: ClusterChange): readonly string[] {
  if (facts === undefined || facts.kubernetesVersion !== undefined) return [];
  return [
    `the Kubernetes version of the release ${facts.release} is not known yet, so spec.topology.version "${versionOf(cluster)}" of the Cluster was not checked against it`,
  ];
}

const aspects = ({ spec }: CapiCluster): unknown => [spec?.topology?.classRef, spec?.topology?.version];
const field = 'spec.topology.version';

function validateVersion(cluster: CapiCluster, facts: ClassFacts): readonly InvalidInput[] {
  const { kubernetesVersion: wanted, className } = facts;
  const value = versionOf(cluster);
  if (wanted === undefined || value === wanted) return [];
  const reason = `does not match the ClusterClass ${className}, whose add-ons and images are built for ${wanted}`;
  return [{ field, value, reason, remedy: `set it to ${wanted}, or leave it out` }];
}

function validateStack({ cluster, oldFacts, facts }: ClusterChange): readonly InvalidInput[] {
  if (oldFacts === undefined || facts === undefined || oldFacts.stack === facts.stack) return [];
  if (cluster.metadata.annotations?.[stackChangeAnnotation] === 'true') return [];
  const reason = `belongs to the stack ${facts.stack}, but this Cluster was created from the stack ${oldFacts.stack}`;
  const remedy = `use a class of ${oldFacts.stack}; or, if the templates and the control plane are of the same kinds, annotate the Cluster with ${stackChangeAnnotation}=true`;
  return [{ field: 'spec.topology.classRef.name', value: facts.className, reason, remedy }];
}

function validateMinor(cluster: CapiCluster, old: CapiCluster | undefined): readonly InvalidInput[] {
  if (old === undefined || isEmpty(versionOf(old)) || isEmpty(versionOf(cluster))) return [];
  try {
    const [from, to] = [parseVersion(versionOf(old), field), parseVersion(versionOf(cluster), field)];
    const step = to.minor - from.minor;
    if (from.major === to.major && (step === 0 || step === 1)) return [];
    const allowed = `${minorText(from)} or ${from.major}.${from.minor + 1}`;
    const reason = `is neither the minor version of the Cluster (${versionOf(old)}) nor the next one`;
    return [{ field, value: versionOf(cluster), reason, remedy: `use a ClusterClass for ${allowed} first` }];
  } catch (error) {
    if (error instanceof InvalidInputError) return [error.input];
    throw error;
  }
}

/** What is wrong with a ClusterAddon: it belongs to one Cluster of its own namespace. */
export function validateAddon(addon: ClusterAddon, old?: ClusterAddon): readonly InvalidInput[] {
  if (addon.metadata.deletionTimestamp !== undefined) return [];
  const { name = '', namespace = '', kind = '' } = addon.spec.clusterRef;
  const own = addon.metadata.namespace;
  const found: InvalidInput[] = [];
  if (kind !== 'Cluster') {
    const reason = 'is not Cluster';
    found.push({ field: 'spec.clusterRef.kind', value: kind, reason, remedy: 'set it to Cluster' });
  }
  if (namespace !== '' && namespace !== own) {
    const reason = `is not ${own}, the namespace of the ClusterAddon`;
    found.push({ field: 'spec.clusterRef.namespace', value: namespace, reason, remedy: `set it to ${own}` });
  }
  if (old !== undefined && old.spec.clusterRef.name !== name) {
    const reason = 'cannot be changed: each Cluster has its own ClusterAddon';
    found.push({ field: 'spec.clusterRef.name', value: name, reason, remedy: 'restore the previous value' });
  } else if (old === undefined && addon.metadata.name !== clusterAddonName(name)) {
    const reason = 'is not the name that the ClusterAddon of this Cluster must have';
    const remedy = `let the manager create ${clusterAddonName(name)}`;
    found.push({ field: 'metadata.name', value: addon.metadata.name, reason, remedy });
  }
  return found;
}
