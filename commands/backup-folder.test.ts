import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BackupFolder } from './backup-folder.ts'

test('a backup to where nobody can make a folder ends, and says so', { timeout: 20_000 }, async (context) => {
  if (process.platform !== 'linux') return context.skip('only there is a /proc')
  await assert.rejects(BackupFolder.begin('/proc/no-such-folder/backup'), /backup can not be used: .*\. Name a folder/)
  await assert.rejects(BackupFolder.begin('/proc/backup'), /backup can not be used: .*\. Name a folder/)
})

test('a backup into a folder that is not there makes it, with those above', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  try {
    const path = join(folder, 'a', 'b')
    await BackupFolder.begin(path)
    assert.ok((await stat(path)).isDirectory())
  } finally {
    await rm(folder, { recursive: true })
  }
})

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
