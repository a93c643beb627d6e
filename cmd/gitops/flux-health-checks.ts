import { yamlText } from '../../api/generate/yaml-text.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { Health, HealthRule } from './health-rules.ts';
import { hasPausedCondition, hopelessReason } from './health-rules.ts';

/** CEL expressions over an object, as `spec.healthCheckExprs` of Flux's Kustomization takes them. */
export interface FluxHealthCheck {
  readonly apiVersion: string;
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
}

/** Health in which Flux need not wait any longer. */
const settled: readonly Health[] = ['Healthy', 'Suspended'];

const list = (reasons: readonly string[]): string => `[${reasons.map((reason) => `'${reason}'`).join(', ')}]`;

const reasonsWhere = (entries: Readonly<Record<string, Health>> | undefined, isSettled: boolean): readonly string[] =>
  Object.entries(entries ?? {})
    .filter(([, health]) => settled.includes(health) === isSettled)
    .map(([reason]) => reason);

const exists = (test: string): string => `status.conditions.exists(c, ${test})`;

/**
 * The health of a kind for Flux. It waits for what is progressing or degraded, and takes what is paused or sleeps by intention for
 * done. What only a changed spec can fix counts as failed at once, and so does what was given up.
 */
export function fluxHealthCheck({
  kind,
  summary,
  whenTrue,
  whenFalse,
  final = [],
  busy,
  replicas,
  pausedBy,
}: HealthRule): FluxHealthCheck {
  const open = reasonsWhere(whenTrue, false);
  const done = reasonsWhere(whenFalse, true);
  const holds = [
    `c.status == 'True'${open.length === 0 ? '' : ` && !(c.reason in ${list(open)})`}`,
    ...(done.length === 0 ? [] : [`c.status == 'False' && c.reason in ${list(done)}`]),
  ];
  const either = holds.length === 1 ? holds.join('') : holds.map((one) => `(${one})`).join(' || ');
  const summed = exists(`c.type == '${summary}' && ${holds.length === 1 ? either : `(${either})`}`);
  const settledNow =
    busy === undefined ? summed : `(${summed} && !${exists(`c.type == '${busy}' && c.status == 'True'`)})`;
  const paused = [
    `(has(metadata.annotations) && '${pausedBy}' in metadata.annotations)`,
    ...(hasPausedCondition(kind) ? [exists("c.type == 'Paused' && c.status == 'True'")] : []),
  ];
  const givenUp = `!(${paused.join(' || ')}) && ${exists(`c.type == '${summary}' && c.reason in ${list(final)}`)}`;
  const sleeps = replicas === undefined ? [] : [`(has(spec.${replicas}) && spec.${replicas} == 0)`];
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    failed: [
      exists(`c.status == 'False' && c.reason == '${hopelessReason}'`),
      ...(final.length === 0 ? [] : [`(${givenUp})`]),
    ].join(' || '),
    current: [...paused, ...sleeps, settledNow].join(' || '),
  };
}

/** A patch for Flux's Kustomizations with the health of each kind. */
export function fluxPatch(rules: readonly HealthRule[]): string {
  return yamlText({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'steward-health' },
    spec: { healthCheckExprs: rules.map(fluxHealthCheck) },
  });
}
