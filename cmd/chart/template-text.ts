import { yamlText } from '../../api/generate/yaml-text.ts';

const open = '<<<';
const close = '>>>';

/** A scalar of a manifest that becomes this template action, unquoted: for numbers and for blocks. */
export const action = (expression: string): string => `${open}${expression}${close}`;

/**
 * A manifest as text of a Helm template: what `action` made stands bare, all else is YAML in which `{{ … }}` may occur inside
 * of quoted texts.
 */
export function templateText(manifest: unknown): string {
  return yamlText(manifest).replaceAll(
    new RegExp(`['"]?${open}(.*?)${close}['"]?`, 'g'),
    (_, expression: string) => `{{${expression}}}`,
  );
}

/** A text that is there only if the condition of a template holds. */
export const onlyIf = (condition: string, body: string): string => `{{- if ${condition} }}\n${body}{{- end }}\n`;

/** The first line of every template that is generated. */
export const templateHeader = '{{- /* Made by `npm run gen`; do not edit. */}}\n';
