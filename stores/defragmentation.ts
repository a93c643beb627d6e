import type { Clock } from '../runtime/clock.ts';

/** Which servers are defragmented. */
export interface DefragmentationLimits {
  /** Free part of a file from which on it is defragmented, in percent. */
  readonly freePercent: number;
  /** Files that are smaller are not defragmented. */
  readonly minimumBytes: number;
  /** A server that would be blocked for longer is not defragmented. */
  readonly maximumPauseMs: number;
}

/** What a defragmentation of one server has done. */
export interface DefragmentedServer {
  /** As in the DataStore. */
  readonly endpoint: string;
  readonly time: Date;
  /** Bytes of its file afterwards. */
  readonly sizeBytes: number;
  readonly freedBytes: number;
  /** For how long it was blocked. */
  readonly pauseMs: number;
}

/** What is needed to defragment a datastore. */
export interface DefragmentationRequest {
  readonly limits: DefragmentationLimits;
  /** Earlier ones: they say how long a server is blocked, and none is defragmented again at once. */
  readonly previous: readonly DefragmentedServer[];
  readonly clock: Clock;
  /** No step begins once it is aborted. */
  readonly signal: AbortSignal;
}

/** Why a datastore that should be defragmented is not; these are reasons of the condition `Defragmented`. */
export type DefragmentationWait =
  'MembersUnhealthy' | 'MembersNotListed' | 'AlarmRaised' | 'SpaceExceeded' | 'PauseTooLong' | 'Busy' | 'Failed';

/** What one step of a defragmentation did. */
export type DefragmentationStep =
  | { readonly is: 'unneeded' }
  | { readonly is: 'defragmented'; readonly server: DefragmentedServer }
  /** Space was freed before, and the datastore accepts writes again. */
  | { readonly is: 'disarmed' }
  | { readonly is: 'waits'; readonly reason: DefragmentationWait; readonly message: string };
