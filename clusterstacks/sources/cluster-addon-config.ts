import { goDuration } from '../../api/go-duration.ts';
import { DocumentValue } from './read-document.ts';

/** An object of the workload cluster that a condition reads under `key`. */
export interface WaitObject {
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Waits until `expression` (CEL) is true for its objects. */
export interface WaitCondition {
  readonly objects: readonly WaitObject[];
  readonly expression: string;
}

/** One step of a hook. */
export interface AddonStage {
  /** Folder in the add-on archive. */
  readonly name: string;
  readonly action: 'apply' | 'delete';
  readonly before?: WaitCondition;
  readonly after?: WaitCondition;
  /** How long the stage may take, in milliseconds. */
  readonly timeoutMs?: number;
}

const hooks = ['AfterControlPlaneInitialized', 'BeforeClusterUpgrade', 'AfterClusterUpgrade'] as const;

/** When stages run, in the terms of Cluster API. */
export type AddonHook = (typeof hooks)[number];

/** What `clusteraddon.yaml` of a release says. */
export interface ClusterAddonConfig {
  readonly stages: Readonly<Partial<Record<AddonHook, readonly AddonStage[]>>>;
}

const file = 'clusteraddon.yaml';
const knownVersion = 'clusteraddonconfig.x-k8s.io/v1alpha1';
const stageFields = ['name', 'action', 'waitForPreCondition', 'waitForPostCondition', 'timeout'];
const isHook = (name: string): name is AddonHook => hooks.some((hook) => hook === name);

/**
 * Reads `clusteraddon.yaml`. A stage may have a `timeout`, a Go duration, which upstream does not have.
 * @throws BadReleaseError that names file, path, value and remedy; also when two stages of a hook have the same name and action,
 * because progress is recorded by that pair.
 */
export function parseClusterAddonConfig(text: string): ClusterAddonConfig {
  const document = DocumentValue.of(file, text);
  const apiVersion = document.field('apiVersion');
  const written = apiVersion.optionalText(`use ${knownVersion}`);
  if (written !== undefined && written !== knownVersion) {
    apiVersion.refuse(`only ${knownVersion} is supported`);
  }
  const addonStages = document.field('addonStages');
  const entries = Object.keys(addonStages.fields()).map((name) => {
    const hook = addonStages.field(name);
    if (!isHook(name)) return hook.refuse(`there is no hook with this name; use one of ${hooks.join(', ')}`);
    return [name, stagesOf(hook)] as const;
  });
  return { stages: Object.fromEntries(entries) };
}

function stagesOf(hook: DocumentValue): readonly AddonStage[] {
  const seen = new Set<string>();
  return hook.items().map((item) => {
    const stage = stageOf(item);
    const pair = `${stage.action} ${stage.name}`;
    if (seen.has(pair)) {
      item
        .field('name')
        .refuse(
          `stage "${pair}" appears twice in this hook, but its progress is recorded by name and action; merge the two`,
        );
    }
    seen.add(pair);
    return stage;
  });
}

function stageOf(item: DocumentValue): AddonStage {
  refuseMisspelled(item);
  const before = conditionOf(item.field('waitForPreCondition'));
  const after = conditionOf(item.field('waitForPostCondition'));
  const timeoutMs = timeoutOf(item.field('timeout'));
  const action = item.field('action');
  return {
    name: item
      .field('name')
      .matching(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/,
        'use the name of a top-level folder in the add-on archive, such as "cni"',
      ),
    action: action.value === 'apply' || action.value === 'delete' ? action.value : action.refuse('use apply or delete'),
    before,
    after,
    timeoutMs,
  };
}

/** A misspelled wait would be ignored silently. */
function refuseMisspelled(item: DocumentValue): void {
  for (const name of Object.keys(item.fields())) {
    const meant = stageFields.find((known) => known !== name && known.toLowerCase() === name.toLowerCase());
    if (meant !== undefined) item.field(name).refuse(`the field is spelled ${meant}`);
  }
}

function conditionOf(condition: DocumentValue): WaitCondition | undefined {
  if (Object.keys(condition.fields()).length === 0) return undefined;
  const keys = new Set<string>();
  const objects = condition
    .field('objects')
    .items()
    .map((item) => {
      const object = objectOf(item);
      if (keys.has(object.key)) item.field('key').refuse('another object has this key; use a different key for each');
      keys.add(object.key);
      return object;
    });
  const expression = condition
    .field('conditions')
    .text('use a CEL expression, such as "deployment.status.readyReplicas == deployment.spec.replicas"');
  return { objects, expression };
}

function objectOf(item: DocumentValue): WaitObject {
  const namespace = item.field('namespace').optionalText('use the name of a namespace');
  return {
    key: item
      .field('key')
      .matching(/^[_a-zA-Z][_a-zA-Z0-9]*$/, 'use a CEL identifier: letters, digits and _, not starting with a digit'),
    apiVersion: item.field('apiVersion').text('use the group and version of the object, such as "apps/v1"'),
    kind: item.field('kind').text('use the kind of the object, such as "Deployment"'),
    name: item.field('name').text('use the name of the object'),
    namespace,
  };
}

function timeoutOf(timeout: DocumentValue): number | undefined {
  const remedy = 'use a Go duration longer than zero, such as "10m" or "1h30m"';
  const text = timeout.optionalText(remedy);
  if (text === undefined) return undefined;
  try {
    const ms = goDuration(text);
    return ms > 0 ? ms : timeout.refuse(remedy);
  } catch {
    return timeout.refuse(remedy);
  }
}
