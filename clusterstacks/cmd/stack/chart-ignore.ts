import type { Files } from './release-files.ts';

interface Rule {
  readonly folderOnly: boolean;
  readonly whole: boolean;
  readonly pattern: RegExp;
}

function ruleOf(line: string): Rule {
  if (line.startsWith('!')) {
    throw new RangeError(`.helmignore: "${line}": exceptions are not supported; list the files to leave out`);
  }
  const text = line.replace(/\/$/, '');
  const whole = text.includes('/');
  const expression = text
    .replace(/^\//, '')
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return { folderOnly: line.endsWith('/'), whole, pattern: new RegExp(`^${expression}$`) };
}

function matches(rule: Rule, path: string, isFolder: boolean): boolean {
  if (rule.folderOnly && !isFolder) return false;
  return rule.pattern.test(rule.whole ? path : path.slice(path.lastIndexOf('/') + 1));
}

/** The files of a chart without those that its .helmignore names, as `helm package` takes them (https://helm.sh/docs/chart_template_guide/helm_ignore_file). */
export function withoutIgnored(files: Files): Files {
  const lines = (files.get('.helmignore')?.toString('utf8') ?? '').split('\n').map((line) => line.trim());
  // The last is helm's own: hidden files are no templates.
  const rules = [...lines.filter((line) => line !== '' && !line.startsWith('#')), 'templates/.?*'].map(ruleOf);
  const isIgnored = (path: string): boolean => {
    const parts = path.split('/');
    return parts.some((_, depth) => {
      const isFolder = depth < parts.length - 1;
      return rules.some((rule) => matches(rule, parts.slice(0, depth + 1).join('/'), isFolder));
    });
  };
  return new Map([...files].filter(([path]) => !isIgnored(path)));
}
