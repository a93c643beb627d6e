import { stringify } from 'yaml';

/**
 * Serializes a value as YAML that every parser reads alike: strings that YAML 1.1 would read as another type are quoted
 * (Kubernetes still uses 1.1), lines are not folded, and there are no aliases.
 */
export function yamlText(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    lineWidth: 0,
    indentSeq: false,
  });
}
