import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { adoptAnnotation, clusterStackFieldManager, clusterStackLabels } from '../../api/names.ts';
import type { Resource } from '../../../api/meta.ts';
import { describe } from '../../../runtime/cache/object-id.ts';

/** Whether the release has made an object that no controller owns by now: by its label, and by what the status says was made. */
export function isRecorded(object: Resource, { metadata, status }: ClusterStackRelease): boolean {
  if (object.metadata.labels?.[clusterStackLabels.release] !== metadata.name) return false;
  const group = object.apiVersion.split('/').slice(0, -1).join('/');
  return (status?.resources ?? []).some((made) => {
    const isIt = (made.group ?? '') === group && made.kind === object.kind && made.name === object.metadata.name;
    return isIt && made.status === 'synced';
  });
}

/**
 * Why a release does not change an existing object with a name from its chart, as text; undefined for its own, and for
 * those that it may adopt.
 */
export function whyForeign(object: Resource, release: ClusterStackRelease): string | undefined {
  const { ownerReferences = [], annotations } = object.metadata;
  const { name, uid } = release.metadata;
  const controller = ownerReferences.find((reference) => reference.controller === true);
  if (controller !== undefined) return controller.uid === uid ? undefined : foreign(object, release);
  if (isRecorded(object, release) || annotations?.[adoptAnnotation] === name) return undefined;
  return foreign(object, release);
}

function foreign(object: Resource, { metadata: { name } }: ClusterStackRelease): string {
  return `${describe(object)} already exists and was not created by this release: ${whoseText(object)}. Delete it, or, if no controller owns it, let the release adopt it with the annotation ${adoptAnnotation}=${name}`;
}

/** To whom an object belongs, according to its own metadata. */
function whoseText({ metadata }: Resource): string {
  const { ownerReferences = [], labels } = metadata;
  const owners = ownerReferences.map(
    ({ kind, name, controller }) => `it is ${controller === true ? 'controlled' : 'owned'} by ${kind} ${name}`,
  );
  const release = labels?.[clusterStackLabels.release];
  const written = (metadata.managedFields ?? []) as readonly { readonly manager?: string }[];
  const managers = new Set(written.flatMap(({ manager }) => manager ?? []));
  managers.delete(clusterStackFieldManager);
  const texts = [
    ...owners,
    ...(release === undefined ? [] : [`its label names the release ${release}`]),
    ...(managers.size === 0 ? [] : [`its fields are written by ${[...managers].slice(0, 5).join(', ')}`]),
  ];
  return texts.length === 0 ? 'its owner is unknown' : texts.join(', ');
}
