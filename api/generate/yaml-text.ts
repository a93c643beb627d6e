import { stringify } from 'yaml';

/**
 * The value as YAML that every reader understands alike: strings that YAML 1.1 would take for something else are quoted
 * (Kubernetes still reads 1.1), lines are not folded, and nothing is an alias.
 */
export function yamlText(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    lineWidth: 0,
    indentSeq: false,
  });
}
