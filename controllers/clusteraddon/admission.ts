import { isDeepStrictEqual } from 'node:util';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../api/clusterstack/cluster-addon.ts';
import { clusterAddonName, clusterStackGroup } from '../../api/clusterstack/names.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import { minorText, parseVersion } from '../../kubeadm/versions.ts';

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

/** On a Cluster, with value `true`: its class may be of another stack. Whether the templates fit is for Cluster API to judge. */
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
 * What is wrong with a Cluster of a stack's class. Others are no matter of ours, and what was admitted once is not held against a
 * Cluster whose class and version stay.
 */
export function clusterComplaints(change: ClusterChange): readonly InvalidInput[] {
  const { cluster, old, facts } = change;
  if (facts === undefined || cluster.metadata.deletionTimestamp !== undefined) return [];
  if (old !== undefined && isDeepStrictEqual(aspects(old), aspects(cluster))) return [];
  return [...versionComplaints(cluster, facts), ...stackComplaints(change), ...minorComplaints(cluster, old)];
}

/** What the user of a Cluster should know. */
export function clusterWarnings({ cluster, facts }: ClusterChange): readonly string[] {
  if (facts === undefined || facts.kubernetesVersion !== undefined) return [];
  return [
    `the Kubernetes version of the release ${facts.release} is not known yet, so spec.topology.version "${versionOf(cluster)}" of the Cluster is not compared with it`,
  ];
}

const aspects = ({ spec }: CapiCluster): unknown => [spec?.topology?.classRef, spec?.topology?.version];
const field = 'spec.topology.version';

function versionComplaints(cluster: CapiCluster, facts: ClassFacts): readonly InvalidInput[] {
  const { kubernetesVersion: wanted, className } = facts;
  const value = versionOf(cluster);
  if (wanted === undefined || value === wanted) return [];
  const reason = `is not the version of the ClusterClass ${className}, whose add-ons and images are made for ${wanted}`;
  return [{ field, value, reason, remedy: `set it to ${wanted}, or leave it out` }];
}

function stackComplaints({ cluster, oldFacts, facts }: ClusterChange): readonly InvalidInput[] {
  if (oldFacts === undefined || facts === undefined || oldFacts.stack === facts.stack) return [];
  if (cluster.metadata.annotations?.[stackChangeAnnotation] === 'true') return [];
  const reason = `is of the stack ${facts.stack}, and this Cluster was made from the stack ${oldFacts.stack}`;
  const remedy = `name a class of ${oldFacts.stack}; or, if templates and control plane are of the same kinds, annotate the Cluster with ${stackChangeAnnotation}=true`;
  return [{ field: 'spec.topology.classRef.name', value: facts.className, reason, remedy }];
}

function minorComplaints(cluster: CapiCluster, old: CapiCluster | undefined): readonly InvalidInput[] {
  if (old === undefined || isEmpty(versionOf(old)) || isEmpty(versionOf(cluster))) return [];
  try {
    const [from, to] = [parseVersion(versionOf(old), field), parseVersion(versionOf(cluster), field)];
    const step = to.minor - from.minor;
    if (from.major === to.major && (step === 0 || step === 1)) return [];
    const allowed = `${minorText(from)} or ${from.major}.${from.minor + 1}`;
    const reason = `is not one minor version after ${versionOf(old)}, which the Cluster has`;
    return [{ field, value: versionOf(cluster), reason, remedy: `go to a ClusterClass for ${allowed} first` }];
  } catch (error) {
    if (error instanceof InvalidInputError) return [error.input];
    throw error;
  }
}

/** What is wrong with a ClusterAddon: it belongs to one Cluster of its own namespace. */
export function addonComplaints(addon: ClusterAddon, old?: ClusterAddon): readonly InvalidInput[] {
  if (addon.metadata.deletionTimestamp !== undefined) return [];
  const { name = '', namespace = '', kind = '' } = addon.spec.clusterRef;
  const own = addon.metadata.namespace ?? '';
  const found: InvalidInput[] = [];
  if (kind !== 'Cluster') {
    const reason = 'is not Cluster';
    found.push({ field: 'spec.clusterRef.kind', value: kind, reason, remedy: 'name a Cluster' });
  }
  if (namespace !== '' && namespace !== own) {
    const reason = `is not ${own}, the namespace of the ClusterAddon`;
    found.push({ field: 'spec.clusterRef.namespace', value: namespace, reason, remedy: `set it to ${own}` });
  }
  if (old !== undefined && old.spec.clusterRef.name !== name) {
    const reason = 'cannot change: each Cluster has a ClusterAddon of its own';
    found.push({ field: 'spec.clusterRef.name', value: name, reason, remedy: 'leave it as it was' });
  } else if (old === undefined && addon.metadata.name !== clusterAddonName(name)) {
    const reason = 'is not the name of the ClusterAddon of the Cluster that it names';
    const remedy = `leave it to the manager, which makes ${clusterAddonName(name)}`;
    found.push({ field: 'metadata.name', value: addon.metadata.name ?? '', reason, remedy });
  }
  return found;
}
