const longest = 2000;

/**
 * Helm's error for a condition: without advice for terminals, without the call chain around a template that was passed to `tpl`
 * (the chain quotes the whole template), and short enough.
 */
export function helmErrorText(stderr: string): string {
  const text = stderr
    .split('\n')
    .filter((line) => !/^(Use --debug flag|WARNING: |level=(WARN|INFO))/.test(line.trim()) && line.trim() !== '')
    .join('\n')
    .replace(/^Error: /, '')
    .trim();
  const inner = text.lastIndexOf(': template: gotpl:');
  const short = inner === -1 ? text : text.slice(inner + ': template: gotpl:'.length).replace(/^(\d+)/, 'line $1');
  return short.length <= longest ? short : `${short.slice(0, longest)}…`;
}
