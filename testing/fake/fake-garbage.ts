import type { KindRef } from '../../api/meta.ts';
import type { StoredObject } from './stored-object.ts';

/** The finalizer by which an object waits for the dependents that block it. */
export const foregroundFinalizer = 'foregroundDeletion';

type Placed = readonly [KindRef, StoredObject];

/** Objects whose owners have all gone, or wait in the foreground for their dependents to go. */
export function garbageIn(all: readonly Placed[]): readonly Placed[] {
  const byUid = new Map(all.map(([, object]) => [object.metadata.uid, object]));
  const isGoing = (uid: string): boolean => {
    const owner = byUid.get(uid);
    return owner === undefined || owner.metadata.finalizers?.includes(foregroundFinalizer) === true;
  };
  return all.filter(([, object]) => {
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    return (
      ownerReferences.length > 0 && deletionTimestamp === undefined && ownerReferences.every(({ uid }) => isGoing(uid))
    );
  });
}

/** Objects deleted in the foreground that no dependent blocks anymore. */
export function freedIn(all: readonly Placed[]): readonly Placed[] {
  return all.filter(
    ([, object]) =>
      object.metadata.finalizers?.includes(foregroundFinalizer) === true &&
      !dependentsOf(object, all).some(([, dependent]) =>
        dependent.metadata.ownerReferences?.some(
          (reference) => reference.uid === object.metadata.uid && reference.blockOwnerDeletion === true,
        ),
      ),
  );
}

/** Objects that name this one as an owner. */
export function dependentsOf(owner: StoredObject, all: Iterable<Placed>): Placed[] {
  return [...all].filter(([, object]) =>
    object.metadata.ownerReferences?.some((reference) => reference.uid === owner.metadata.uid),
  );
}
