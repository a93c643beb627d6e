const longest = 2000;

/**
 * What helm said, for people: without the advice that means a terminal, without the chain of calls around a template that was handed
 * to `tpl` (the chain quotes all of it), and not longer than a condition bears.
 */
export function helmComplaint(stderr: string): string {
  const said = stderr
    .split('\n')
    .filter((line) => !/^(Use --debug flag|WARNING: |level=(WARN|INFO))/.test(line.trim()) && line.trim() !== '')
    .join('\n')
    .replace(/^Error: /, '')
    .trim();
  const inner = said.lastIndexOf(': template: gotpl:');
  const short = inner === -1 ? said : said.slice(inner + ': template: gotpl:'.length).replace(/^(\d+)/, 'line $1');
  return short.length <= longest ? short : `${short.slice(0, longest)}…`;
}
