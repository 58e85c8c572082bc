import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { readTenantRows, TenantFileWriter } from './tenant-file.ts'

test('long rows are sent in pieces that a call can take, and a row longer than that alone', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-tenant-file-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'tenant.gz')
  const writer = await TenantFileWriter.begin(file, { tenant: { id: { id: '1' }, title: 'T' }, time: 1 })
  const mib = 1 << 20
  const lengths = [1, mib, mib, mib, mib, 6 * mib, 1, 1]
  for (const length of lengths) await writer.add({ table: 'content_piece', row: 'x'.repeat(length) })
  await writer.finish()
  const pieces: number[][] = []
  for await (const { rows } of readTenantRows(file)) pieces.push(rows.map((row) => row.length))
  assert.deepEqual(pieces.flat(), lengths)
  for (const piece of pieces)
    assert.ok(piece.length === 1 || piece.reduce((sum, length) => sum + length, 0) <= 4 * mib, String(piece))
})

test('a file that can not be written ends the export with an error, and neither the process nor a wait without end', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-tenant-file-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'absent', 'tenant.gz')
  const writer = await TenantFileWriter.begin(file, { tenant: { id: { id: '1' }, title: 'T' }, time: 1 })
  // The server is asked for the next page meanwhile.
  await setTimeout(50)
  const written = async (): Promise<void> => {
    for (let row = 0; row < 3; row++)
      await writer.add({ table: 'content_piece', row: randomBytes(1 << 20).toString('hex') })
    await writer.finish()
  }
  await assert.rejects(written(), { code: 'ENOENT' })
})
