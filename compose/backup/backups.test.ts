import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock, systemRandom } from '../../model/system-clock.ts'
import { until } from '../../test/support/until.ts'
import { Backups } from './backups.ts'

test('a piece that is asked for while the backup is given back is one of no backup', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-backups-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'link'))
  const note = (): void => undefined
  const backups = new Backups({
    sources: {
      folder,
      entities: { copyTo: (file) => writeFile(file, 'entities'), attributes: { maxSequence: async () => 1 } },
      timeSeries: { copyTo: async () => 1 },
    },
    kept: '',
    holdOutbox: () => note,
    clock: systemClock,
    random: systemRandom,
    log: { debug: note, info: note, warn: note, error: note },
  })
  context.after(() => backups.close())
  const { id } = await backups.begin()
  await until(async () => (await backups.status(id)).phase !== 'cutting')
  assert.equal(Buffer.from(await backups.read(id, 'entities.sqlite', 0)).toString(), 'entities')
  // Its removal has come so far.
  await rm(join(folder, 'backup', id), { recursive: true })
  await assert.rejects(backups.read(id, 'entities.sqlite', 0), { code: 'backup.UNKNOWN' })
})
