import type { Manifest } from '../../api/meta.ts';
import { onlyIf, templateHeader, templateText } from './template-text.ts';

/** clusterctl's variable with its default, as the components write it. */
const variable = /\$\{(\w+):=[^}]*\}/g;

const values: Readonly<Record<string, string>> = {
  STEWARD_KUBEADM_BOOTSTRAP_SA_NAMESPACE: '{{ .Values.clusterApi.kubeadmBootstrap.namespace }}',
  STEWARD_KUBEADM_BOOTSTRAP_SA_NAME: '{{ .Values.clusterApi.kubeadmBootstrap.serviceAccount }}',
};

/** The rights of the kubeadm bootstrap provider as a template: clusterctl's variables become values. */
export function bootstrapAccessTemplate(manifests: readonly Manifest[]): string {
  const documents = manifests.map((manifest) => `---\n${templateText(manifest)}`).join('');
  const text = documents.replaceAll(variable, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the variable ${name} of clusterctl/ has no value in the chart`);
    return value;
  });
  return templateHeader + onlyIf('and .Values.rbac.create .Values.clusterApi.enabled', text);
}
