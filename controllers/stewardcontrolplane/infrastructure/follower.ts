import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../../api/meta.ts';

/** A StewardControlPlane that is enqueued by changes: what it follows is remembered by its UID. */
export interface Follower {
  readonly uid: string;
  readonly key: Key;
}

/** A StewardControlPlane as a follower. */
export function followerOf({ metadata: { uid, namespace, name } }: StewardControlPlane): Follower {
  return { uid, key: { namespace, name } };
}
