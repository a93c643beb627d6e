import { goDuration } from '../api/go-duration.ts';
import { DocumentValue } from './read-document.ts';

/** An object of the workload cluster that a condition reads under `key`. */
export interface WaitObject {
  readonly key: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Holds until `expression` (CEL) is true of its objects. */
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

/** When stages run, in Cluster API's words. */
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
 * Reads `clusteraddon.yaml`. A stage may have a `timeout`, a duration as Go writes it, which is not upstream's.
 * @throws BadReleaseError that names file, path, value and remedy; for a pair of name and action that stands twice in a hook, too:
 * progress is kept by that pair.
 */
export function parseClusterAddonConfig(text: string): ClusterAddonConfig {
  const document = DocumentValue.of(file, text);
  const apiVersion = document.field('apiVersion');
  const written = apiVersion.optionalText(`write ${knownVersion}`);
  if (written !== undefined && written !== knownVersion) {
    apiVersion.refuse(`only ${knownVersion} is understood`);
  }
  const addonStages = document.field('addonStages');
  const entries = Object.keys(addonStages.fields()).map((name) => {
    const hook = addonStages.field(name);
    if (!isHook(name)) return hook.refuse(`there is no hook of this name; there are ${hooks.join(', ')}`);
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
          `the stage "${pair}" stands twice in this hook, which keeps its progress by name and action; merge the two`,
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
        'the name of a folder at the top of the add-on archive is needed, such as "cni"',
      ),
    action:
      action.value === 'apply' || action.value === 'delete' ? action.value : action.refuse('write apply or delete'),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** A wait that is misspelled would be no wait at all. */
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
      if (keys.has(object.key)) item.field('key').refuse('two objects have this key; each needs its own');
      keys.add(object.key);
      return object;
    });
  const expression = condition
    .field('conditions')
    .text('an expression in CEL is needed, such as "deployment.status.readyReplicas == deployment.spec.replicas"');
  return { objects, expression };
}

function objectOf(item: DocumentValue): WaitObject {
  const namespace = item.field('namespace').optionalText('the name of a namespace is needed');
  return {
    key: item
      .field('key')
      .matching(
        /^[_a-zA-Z][_a-zA-Z0-9]*$/,
        'a name that CEL understands is needed: letters, digits and _, no digit first',
      ),
    apiVersion: item.field('apiVersion').text('the group and version of the object is needed, such as "apps/v1"'),
    kind: item.field('kind').text('the kind of the object is needed, such as "Deployment"'),
    name: item.field('name').text('the name of the object is needed'),
    ...(namespace !== undefined && { namespace }),
  };
}

function timeoutOf(timeout: DocumentValue): number | undefined {
  const remedy = 'a duration as Go writes it is needed, longer than nothing, such as "10m" or "1h30m"';
  const text = timeout.optionalText(remedy);
  if (text === undefined) return undefined;
  try {
    const ms = goDuration(text);
    return ms > 0 ? ms : timeout.refuse(remedy);
  } catch {
    return timeout.refuse(remedy);
  }
}
