import type { Resource } from '../../api/meta.ts';

/** What happened to an object, for people. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
}

/** Takes Events. Never waits and never throws. */
export interface EventSink {
  record(object: Resource, note: EventNote): void;
}
