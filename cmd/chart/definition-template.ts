import { clusterStackGroup } from '../../clusterstacks/api/names.ts';
import { crd } from '../../api/generate/crd.ts';
import { yamlText } from '../../api/generate/yaml-text.ts';
import { controlPlaneGroup } from '../../api/names.ts';
import type { Kind } from '../../api/schema.ts';
import { onlyIf, templateHeader } from './template-text.ts';

const moreLabels = `    app.kubernetes.io/managed-by: {{ .Release.Service }}
    helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.labels }}
    {{- toYaml . | nindent 4 }}
{{- end }}
`;

const moreAnnotations = `{{- if .Values.keep }}
    helm.sh/resource-policy: keep
{{- end }}
{{- with .Values.annotations }}
    {{- toYaml . | nindent 4 }}
{{- end }}
`;

/** A CustomResourceDefinition as a template: what it describes is left as it is, labels and annotations are added. */
export function definitionTemplate(kind: Kind): string {
  const { apiVersion, kind: definition, metadata, ...rest } = crd(kind);
  const { labels = {}, annotations = {}, name } = metadata;
  const text = [
    yamlText({ apiVersion, kind: definition }),
    `metadata:\n  name: ${name}\n`,
    `  labels:\n${entries(labels)}${moreLabels}`,
    `  annotations:\n${entries(annotations)}${moreAnnotations}`,
    // What people wrote about fields may hold braces, which the template engine would take for its own.
    yamlText(rest).replaceAll('{{', "{{ '{{' }}"),
  ].join('');
  const condition = conditions[kind.group];
  return templateHeader + (condition === undefined ? text : onlyIf(condition, text));
}

/** What the kinds of a group need; those of other groups are always defined. */
const conditions: Readonly<Record<string, string>> = {
  [controlPlaneGroup]: '.Values.clusterApi.enabled',
  [clusterStackGroup]: '(.Values.clusterStacks).enabled',
};

const entries = (map: Readonly<Record<string, string>>): string =>
  Object.entries(map)
    .map((entry) => `    ${yamlText(Object.fromEntries([entry]))}`)
    .join('');
