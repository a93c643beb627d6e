import type { Deployment } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { withoutMiddle } from '../../../../api/without-middle.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import { hashLabel } from './rollout-facts.ts';

/** The template of a Deployment's pods, as JSON. */
type Template = Readonly<Record<string, unknown>> & {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
};

type DeploymentManifest = Manifest & {
  readonly spec: Readonly<Record<string, unknown>> & { readonly template: Template };
};

/** A rollout under way, as an annotation of the Deployment records it. */
export interface Hold {
  readonly began: Date;
  /** Checksum of the template that is rolled out. */
  readonly template: string;
  /** How often pods of this template have failed, one time after the other. */
  readonly failures: number;
}

/** A rollout that returned to the pods before it. */
export interface FailedRollout {
  readonly at: Date;
  /** Checksum of the template whose pods failed. */
  readonly template: string;
  /** How often they have failed, one time after the other; at least 1. */
  readonly failures: number;
  readonly why: string;
}

/**
 * No new pod counts as available for this many seconds, so the Deployment controller deletes no old pod. It applies the setting to
 * new pods alone. The most that the API server accepts: while a rollout is paused, nothing must happen by itself.
 */
const holdSeconds = 2_147_483_646;

const secondsOf = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

/** A Deployment without records of rollouts: an author's annotations must not look like them. */
export function withoutRecords(made: Manifest): Manifest {
  const { annotations: given, ...metadata } = made.metadata;
  const own = Object.entries(given ?? {}).filter(
    ([name]) => name !== annotations.rollout && name !== annotations.failedRollout,
  );
  return { ...made, metadata: { ...metadata, ...(own.length > 0 && { annotations: Object.fromEntries(own) }) } };
}

/** A checksum of the pods' template in a manifest. */
export function templateChecksum(made: Manifest): string {
  return checksum({ template: JSON.stringify((made as DeploymentManifest).spec.template) });
}

/** The rollout that a Deployment records; undefined when there is none, or when the record was changed. */
export function holdOf(deployment: Deployment | undefined): Hold | undefined {
  const text = deployment?.metadata.annotations?.[annotations.rollout] ?? '';
  const [time = '', template = '', count = ''] = text.split(' ');
  const began = new Date(time);
  if (template === '' || Number.isNaN(began.getTime())) return undefined;
  return { began, template, failures: failuresOf(count) };
}

/** The failed rollout that a Deployment records. */
export function failedRolloutOf(deployment: Deployment | undefined): FailedRollout | undefined {
  const text = deployment?.metadata.annotations?.[annotations.failedRollout] ?? '';
  const [, time = '', template = '', count = '', why = ''] = /^(\S+) (\S+) (?:(#\d+) )?(.*)$/s.exec(text) ?? [];
  const at = new Date(time);
  if (template === '' || Number.isNaN(at.getTime())) return undefined;
  return { at, template, why, failures: Math.max(failuresOf(count), 1) };
}

/** Reads a number in a record, such as `#2`, which may have been changed. */
function failuresOf(text: string): number {
  return Number(/^#(\d{1,3})$/.exec(text)?.[1] ?? 0);
}

/** True when the strategy of a Deployment creates all new pods before it deletes an old one. */
export function startsAllFirst(made: Manifest): boolean {
  const { strategy } = (made as DeploymentManifest).spec as {
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: unknown; readonly maxSurge?: unknown };
    };
  };
  const { maxUnavailable, maxSurge } = strategy?.rollingUpdate ?? {};
  const none: readonly unknown[] = [0, '0', '0%'];
  return strategy?.type === 'RollingUpdate' && none.includes(maxUnavailable) && maxSurge === '100%';
}

/** The Deployment with the pods that it has. */
export function withTemplate(made: Manifest, present: Deployment): Manifest {
  const { spec } = made as DeploymentManifest;
  return { ...made, spec: { ...spec, template: present.spec?.template } };
}

function annotated(made: Manifest, name: string, value: string): Manifest {
  return { ...made, metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, [name]: value } } };
}

/** A Deployment that keeps its old pods until it is applied without this. */
export function held(made: Manifest, { began, template, failures }: Hold): Manifest {
  const { spec } = made as DeploymentManifest;
  // This deadline must be above the first figure, and means that there is none.
  const delays = { minReadySeconds: holdSeconds, progressDeadlineSeconds: holdSeconds + 1 };
  const marked = annotated(
    made,
    annotations.rollout,
    `${secondsOf(began)} ${template}${failures > 0 ? ` #${failures}` : ''}`,
  );
  return { ...marked, spec: { ...spec, ...delays } };
}

/** A Deployment with the pods of an earlier template, because those of its own failed. */
export function returned(
  made: Manifest,
  template: object,
  { at, template: sum, failures, why }: FailedRollout,
): Manifest {
  const { spec } = made as DeploymentManifest;
  const { metadata, ...rest } = template as Template;
  const labels = Object.fromEntries(Object.entries(metadata?.labels ?? {}).filter(([name]) => name !== hashLabel));
  // An annotation is limited to 256 KiB; what a kubelet reports may be as long as it likes.
  const marked = annotated(
    made,
    annotations.failedRollout,
    `${secondsOf(at)} ${sum} #${failures} ${withoutMiddle(why, 512)}`,
  );
  return { ...marked, spec: { ...spec, template: { ...rest, metadata: { ...metadata, labels } } } };
}
