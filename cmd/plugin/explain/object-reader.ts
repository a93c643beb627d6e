import type { Key, KindRef, Resource } from '../../../api/meta.ts';

/** Which objects of a kind are read. */
export interface ObjectSelection {
  readonly namespace?: string;
  /** In the API's string form, e.g. `a=b,c`. */
  readonly labelSelector?: string;
}

/** What commands read from the management cluster. Both throw what the API server refuses. */
export interface ObjectReader {
  /** Undefined if the object does not exist. */
  read<T extends Resource>(kind: KindRef<T>, key: Key): Promise<T | undefined>;
  /** Undefined if the cluster does not have the kind. */
  list<T extends Resource>(kind: KindRef<T>, selection: ObjectSelection): Promise<readonly T[] | undefined>;
  /** The last lines of a container's log: of the run before this one, or of this one if there was none. */
  log(pod: Key, container: string): Promise<string>;
}
