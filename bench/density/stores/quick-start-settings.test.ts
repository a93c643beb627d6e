import { expect, test } from '@jest/globals';

import { flagsOf, settingsOf } from './quick-start-settings.ts';

test('Settings are read without comments, sections, quotes and what is left out', () => {
  const text = "# a = comment\n[mariadbd]\n\nssl_cert = /x\nfsync = on\nlisten = '*'\nskip_log_bin\nsize = 5m \n";
  expect(settingsOf(text, ['ssl'])).toEqual({ fsync: 'on', listen: '*', skip_log_bin: 'ON', size: '5m' });
});

test('Flags are read from a container, and a missing one is named', () => {
  const manifest = 'args:\n  - --quota-backend-bytes=42\n  - --name=$(POD_NAME)\n';
  expect(flagsOf(manifest, ['quota-backend-bytes'])).toEqual({ 'quota-backend-bytes': '42' });
  expect(() => flagsOf(manifest, ['auto-compaction-mode'])).toThrow(/no flag --auto-compaction-mode/);
});
