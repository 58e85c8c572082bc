import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backupPath, manifestText, parseManifest } from './backup.ts'

const OUTSIDE = ['../x', 'a/../../x', '/etc/x', './x', 'a/.', 'a//b', 'a\\..\\x', '', 'a\0b']
const INSIDE = ['entities.sqlite', 'link/0/segment-1.log', '..a/b..']

test('files of a backup lie within its folder', () => {
  for (const path of OUTSIDE) assert.ok(!backupPath.safeParse(path).success, path)
  for (const path of INSIDE) assert.ok(backupPath.safeParse(path).success, path)
})

test('a manifest that names a file outside is damaged', () => {
  const manifest = (path: string) => ({
    ...{ format: 1, version: '1', cutTime: 0, sequenceFloor: 0 },
    files: [{ path, bytes: 0, sha256: '0'.repeat(64) }],
  })
  assert.deepEqual(parseManifest(manifestText(manifest('a'))), manifest('a'))
  assert.throws(() => parseManifest(manifestText(manifest('../a'))), { code: 'backup-folder.DAMAGED' })
})
