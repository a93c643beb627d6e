/** Parses the label selectors that this project writes: `key`, `!key`, `key=value` and their conjunctions. Throws for any other. */
export function labelTest(selector = ''): (labels: Readonly<Record<string, string>>) => boolean {
  const tests = selector
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [, not = '', key = '', equals = '', value = ''] = /^(!?)([^=!]+)(={0,2})(.*)$/.exec(part) ?? [];
      if (key === '' || (equals === '' && value !== '') || /[\s(]/.test(key))
        throw new Error(`the label selector ${part} is of a form that plans do not know`);
      if (equals === '') return (labels: Readonly<Record<string, string>>) => key in labels !== (not === '!');
      return (labels: Readonly<Record<string, string>>) => labels[key] === value;
    });
  return (labels) => tests.every((test) => test(labels));
}
