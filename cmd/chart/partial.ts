import { yamlText } from '../../api/generate/yaml-text.ts';

/** The first line of every template that is generated. */
export const partialsHeader = '{{- /* Made by `npm run gen`; do not edit. */}}\n';

/** A list as a partial that is included below its key. */
export const partial = (name: string, list: readonly unknown[]): string =>
  `\n{{- define "steward.${name}" }}\n${yamlText(list)}{{- end }}\n`;
