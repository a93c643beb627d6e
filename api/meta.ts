/** Types common to all Kubernetes objects, and the only types of objects that `runtime/` may import. */

/** Plain JSON, as exchanged with an API server. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A reference from a dependent to its owner (meta/v1). */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Object metadata (meta/v1), as an author may write it. Times are RFC 3339 strings. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly Json[];
}

/** Metadata of an object that an API server stores. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object as plain JSON, stored or not. */
export interface Draft {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Any object that an API server stores, as plain JSON. Unknown fields are preserved. */
export interface Resource extends Draft {
  readonly metadata: StoredMeta;
}

/** An object of a namespaced kind. */
export interface NamespacedResource extends Resource {
  readonly metadata: StoredMeta & { readonly namespace: string };
}

/** An object of this type that need not be stored, such as one that a request to admission creates. */
export type DraftOf<T extends Resource> = Omit<T, 'metadata'> & Draft;

/** A desired object. It has at least a name. */
export interface Manifest extends Draft {
  readonly metadata: ObjectMeta & { readonly name: string };
  readonly [field: string]: unknown;
}

/** A standard condition (meta/v1). */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A reference that makes `owner` the controller of an object. */
export function ownerReferenceOf(owner: Resource): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

/** Identifies one object of a known kind. Cluster-scoped objects have no namespace. */
export interface Key {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * What a client needs in order to address a kind. `T` is the type of its objects and exists at compile time only. Every
 * kind of Steward (`Kind` in `api/schema.ts`) is one; built-in kinds are listed in `api/core/kinds.ts`.
 */
export interface KindRef<T extends Resource = Resource> {
  /** API group; '' for core/v1. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set. Carries the type of the objects. */
  readonly object?: T;
}

/** `group/version`, or `version` for the core group. */
export function apiVersionOf(kind: Pick<KindRef, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** One rule of a ClusterRole or Role (rbac.authorization.k8s.io/v1). */
export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}
