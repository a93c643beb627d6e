import { describe, expect, test } from '@jest/globals';
import { helmErrorText } from './helm-error-text.ts';

describe('helmErrorText', () => {
  test('returns helm’s message, without its advice for terminals', () => {
    const said =
      'WARNING: Kubernetes configuration file is group-readable\nError: chart.yaml: broken\n\nUse --debug flag to render out invalid YAML\n';
    expect(helmErrorText(said)).toBe('chart.yaml: broken');
  });

  test('returns only the line of a template that was passed to tpl, without the template', () => {
    const said =
      'Error: template: expand/templates/expanded.yaml:1:9: executing "x" at <tpl (.Files.Get "template.txt") $root>: error calling tpl: ' +
      'error during tpl function execution for "a: b\\nlong text": template: gotpl:5:6: executing "gotpl" at <eq .a 3>: error calling eq: incompatible types\n';
    expect(helmErrorText(said)).toBe('line 5:6: executing "gotpl" at <eq .a 3>: error calling eq: incompatible types');
  });

  test('truncates to the length of a condition', () => {
    expect(helmErrorText(`Error: ${'x'.repeat(5000)}`)).toHaveLength(2001);
  });
});
