import { yamlText } from '../../api/generate/yaml-text.ts';
import type { Kind } from '../../api/schema.ts';
import type { Health, HealthRule } from './health-rules.ts';
import { hasPausedCondition, hopelessReason } from './health-rules.ts';

const table = (entries: Readonly<Record<string, Health>> = {}): string => {
  const lines = Object.entries(entries).map(([reason, health]) => `  ${reason} = "${health}",\n`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}}`;
};

/** Other things than the annotation pause an object, too, and its condition says which. */
const pausedByCondition = (kind: Kind): string =>
  hasPausedCondition(kind)
    ? 'local paused = conditions["Paused"]\nif paused ~= nil and paused.status == "True" then\n  return { status = "Suspended", message = paused.message }\nend\n'
    : '';

/** Statements that end the script before the summary is read. */
function shortcuts({ busy, replicas }: HealthRule): string {
  const sleeping =
    replicas === undefined
      ? ''
      : `if obj.spec.${replicas} == 0 then\n  return { status = "Suspended", message = "sleeps: spec.${replicas} is 0" }\nend\n`;
  const changing =
    busy === undefined
      ? ''
      : `local busy = conditions["${busy}"]\nif busy ~= nil and busy.status == "True" then\n  return { status = "Progressing", message = busy.message }\nend\n`;
  return sleeping + changing;
}

/**
 * The health of a kind in Lua, for Argo CD. The script has no other libraries than the basic one and tables: Argo CD opens no more for
 * scripts of its ConfigMap.
 */
export function healthScript(rule: HealthRule): string {
  const { kind, summary, whenTrue, whenFalse, once, pausedBy } = rule;
  const first =
    once === undefined
      ? ''
      : `if health == "Degraded" and not obj.status.${once} then\n  health = "Progressing"\nend\n`;
  return `-- A ${kind.kind}, by its condition ${summary}.
local whenTrue = ${table(whenTrue)}
local whenFalse = ${table(whenFalse)}
local annotations = obj.metadata.annotations
if annotations ~= nil and annotations["${pausedBy}"] ~= nil then
  return { status = "Suspended", message = "paused by the annotation ${pausedBy}" }
end
if obj.status == nil or obj.status.conditions == nil then
  return { status = "Progressing", message = "not reconciled yet" }
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
${pausedByCondition(kind)}local observed = obj.status.observedGeneration
if observed ~= nil and observed ~= obj.metadata.generation then
  return { status = "Progressing", message = "the newest spec is not reconciled yet" }
end
for _, condition in ipairs(obj.status.conditions) do
  if condition.status == "False" and condition.reason == "${hopelessReason}" then
    return { status = "Degraded", message = condition.message }
  end
end
${shortcuts(rule)}local summary = conditions["${summary}"]
if summary == nil then
  return { status = "Progressing", message = "not reconciled yet" }
end
local health = "Progressing"
if summary.status == "True" then
  health = whenTrue[summary.reason] or "Healthy"
elseif summary.status == "False" then
  health = whenFalse[summary.reason] or "Degraded"
end
${first}local message = summary.message
if message == nil or message == "" then
  message = summary.reason
end
return { status = health, message = message }
`;
}

/** Key of Argo CD's ConfigMap for the health of a kind. */
export const healthKey = ({ kind }: HealthRule): string => `resource.customizations.health.${kind.group}_${kind.kind}`;

/** The part of Argo CD's ConfigMap with the health of each kind, to be applied to it with a field manager of its own. */
export function argoCdConfigMap(rules: readonly HealthRule[]): string {
  return yamlText({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd' },
    data: Object.fromEntries(rules.map((rule) => [healthKey(rule), healthScript(rule)])),
  });
}
