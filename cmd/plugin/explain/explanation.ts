/** How far a step is. `not yet` means that another one comes first. */
export type StepState = 'done' | 'waiting' | 'failed' | 'not yet';

/** One step towards a control plane that can be used: a condition, and what stands behind it. */
export interface Step {
  readonly condition: string;
  readonly state: StepState;
  readonly reason: string;
  readonly message: string;
  /** Since when the condition has its status; absent if it was never reported. RFC 3339. */
  readonly since?: string;
  /** The conditions that come before this one. */
  readonly needs: readonly string[];
}

/** What explains the steps that are not done. */
export interface Cause {
  /** One CamelCase word: the reason of a condition, or a closer one found in pods, Events and datastores. */
  readonly reason: string;
  /** The object and condition where it was found. */
  readonly where: string;
  /** What was seen, in a sentence. */
  readonly what: string;
  /** RFC 3339; absent if no object says. */
  readonly since?: string;
  /** What a person does about it. */
  readonly remedy: string;
  /** Commands that show more, or that repair it. */
  readonly commands: readonly string[];
  /** True if it ends without a person. */
  readonly passes: boolean;
}

/** Something that happened. */
export interface TimelineEntry {
  /** RFC 3339. */
  readonly at: string;
  /** The object or the condition that says so. */
  readonly from: string;
  readonly text: string;
  readonly isWarning: boolean;
}

/** Why a control plane is as it is. */
export interface Explanation {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `ready` if nothing has to be done, `waiting` if it goes on by itself, `failed` if a person has to act. */
  readonly verdict: 'ready' | 'waiting' | 'failed';
  /** Whether its API server answers; absent while nobody knows. */
  readonly serves?: boolean;
  readonly version: { readonly wanted?: string; readonly running?: string };
  readonly endpoint?: string;
  readonly dataStore?: string;
  /** In the order in which they happen. */
  readonly steps: readonly Step[];
  readonly cause?: Cause;
  /** The oldest first. */
  readonly timeline: readonly TimelineEntry[];
  /** What could not be read, and why: the explanation may be incomplete. */
  readonly unread: readonly string[];
}
