import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BackupFolder } from './backup-folder.ts'

test('a backup into a file, or into what is no folder, says what to name instead', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  try {
    const file = join(folder, 'notes.txt')
    await writeFile(file, '')
    await assert.rejects(BackupFolder.begin(file), /notes\.txt can not be used: it is a file\. Name a folder/)
    await assert.rejects(
      BackupFolder.begin(join(file, 'x')),
      /x can not be used: .*\. Name a folder that this user may/,
    )
    await assert.rejects(BackupFolder.begin(folder), /is not empty: name another folder/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
