import type { ObjectMeta, OwnerReference, Resource, StoredMeta } from '../../../api/meta.ts';
import { labels, project } from '../../../api/names.ts';
import { asKamaji, asSteward, kamajiNames } from './kamaji-names.ts';

/** An object with a controller. Its content is not read. */
export type Owned = Pick<Resource, 'metadata'>;

/** A merge patch of metadata. */
type MetadataPatch = Readonly<Record<string, unknown>>;

/** Texts under other keys, as a merge patch. */
function renamed(
  texts: ObjectMeta['labels'] = {},
  rename: (key: string) => string,
): Readonly<Record<string, string | null>> {
  const changed = Object.entries(texts).filter(([key]) => rename(key) !== key);
  return Object.fromEntries(
    changed.flatMap(([key, value]) => [
      [key, null],
      [rename(key), value],
    ]),
  );
}

interface Change {
  readonly from: string;
  readonly owner: OwnerReference;
  readonly rename: (key: string) => string;
  /** Labels besides the renamed ones. */
  readonly marks: Readonly<Record<string, string | null>>;
}

/** Refused by the API server if the object has changed in the meantime, so that no write of another client is lost. */
function moved({ metadata }: Owned, { from, owner, rename, marks }: Change): MetadataPatch {
  const { resourceVersion, ownerReferences = [], finalizers } = metadata;
  const others = ownerReferences.filter(({ uid }) => uid !== from && uid !== owner.uid);
  const noted = renamed(metadata.annotations, rename);
  return {
    metadata: {
      resourceVersion,
      labels: { ...renamed(metadata.labels, rename), ...marks },
      ...(Object.keys(noted).length > 0 && { annotations: noted }),
      ...(finalizers?.some((one) => rename(one) !== one) === true && { finalizers: finalizers.map(rename) }),
      ownerReferences: [...others, owner],
    },
  };
}

/** UID of the controller of an object. */
export function controllerOf({
  metadata,
}: {
  readonly metadata: Pick<StoredMeta, 'ownerReferences'>;
}): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** Makes an object of Kamaji one of the TenantControlPlane `owner`: its owner, and the labels by which Steward finds it. */
export function reassign(object: Owned, from: string, owner: OwnerReference): MetadataPatch {
  const marks = { [labels.project]: project, [labels.name]: owner.name };
  return moved(object, { from, owner, rename: asSteward, marks });
}

/** Undoes that. */
export function giveBack(object: Owned, from: string, owner: OwnerReference): MetadataPatch {
  const marks = { [kamajiNames.project]: 'kamaji', [kamajiNames.name]: owner.name };
  return moved(object, { from, owner, rename: asKamaji, marks });
}
