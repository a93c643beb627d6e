import { describe, expect, test } from '@jest/globals';
import { documentedCommands, flagsPage } from './flags-page.ts';

describe('flagsPage', () => {
  test('shows every flag of every command with its default', () => {
    const page = flagsPage(documentedCommands);
    for (const { name, flags } of documentedCommands) {
      const heading = name.replace(/<.*>/, (argument) => `\`${argument}\``);
      expect(page).toContain(`## steward ${heading}\n`);
      for (const flag of Object.keys(flags)) expect(page).toContain(`| \`--${flag}\` |`);
    }
  });

  test('distinguishes switches, numbers and texts, and does not break the table', () => {
    const flags = {
      on: { value: true, help: 'a | b' },
      many: { value: 3, help: 'how many\nof them' },
      name: { value: '', help: 'who' },
    };
    const lines = flagsPage([{ name: 'run', flags }]).split('\n');
    expect(lines).toContain('| `--on` | switch | `true` | a \\| b |');
    expect(lines).toContain('| `--many` | whole number | `3` | how many of them |');
    expect(lines).toContain('| `--name` | text | empty | who |');
  });
});
