import { Document, Scalar, visit as walk } from 'yaml';

/** Numbers of YAML 1.2 that YAML 1.1 does not have, such as `0o7` and `1e3`; Go's parsers know both. */
const number = /^[-+]?(?:0o[0-7]+|0x[\da-f]+|(?:\.\d+|\d+(?:\.\d*)?)(?:e[-+]?\d+)?)$/i;

/**
 * Block YAML with a trailing newline and sorted keys, as Go programs write it. Strings that a parser of YAML 1.1 or 1.2 would
 * read as something else (`yes`, `on`, `12:30`, `0o7`) are quoted.
 */
export function toYaml(value: unknown): string {
  const document = new Document(value, { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false });
  walk(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && number.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0, indentSeq: false, directives: false });
}
