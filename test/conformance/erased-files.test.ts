/** What a deleted device said is in no file any more: said by the server, and seen in the files. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { erase } from '../../commands/erase.ts'
import { login, RestClient } from '../support/clients.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const MARKER = 'MARKER_OF_THE_ERASED'

async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    // It may go while the folder is looked through.
    const bytes = await readFile(file).catch(() => Buffer.alloc(0))
    if (bytes.includes(text)) found.push(file)
  }
  return found
}

test('of a deleted device nothing is left in any file, as the server says', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-erased-files-'))
  const start = () => startMillrace({ dataDir, environment: { LINK_RETENTION_MINUTES: '0' } })
  let millrace = await start()
  context.after(async () => {
    await millrace.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const rest = new RestClient(millrace, await login(millrace))
  const id = await rest.createDevice('erased', 'TOKEN_OF_THE_ERASED')
  const send = async (kind: string, body: object) => {
    const url = `${millrace.url}/api/v1/TOKEN_OF_THE_ERASED/${kind}`
    assert.equal((await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status, 200)
  }
  for (let index = 0; index < 20; index++)
    await send('telemetry', { said: `${MARKER} ${index}`, long: MARKER.repeat(900) })
  await send('attributes', { had: MARKER })
  const path = `/api/plugins/telemetry/DEVICE/${id}/values`
  await eventually(
    () => rest.call('GET', `${path}/timeseries?keys=said`),
    ({ text }) => text.includes(`${MARKER} 19`),
  )
  await eventually(
    () => rest.call('GET', `${path}/attributes/CLIENT_SCOPE`),
    ({ text }) => text.includes(MARKER),
  )
  assert.ok((await filesWith(dataDir, MARKER)).length > 1)

  await rest.expect('DELETE', `/api/device/${id}`)
  const lines: string[] = []
  const output = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
  const flags = ['--url', millrace.url, '--user', 'sysadmin@millrace.local', '--password', 'sysadmin']
  assert.equal(await erase(flags, output), 0, lines.join('\n'))
  assert.ok(lines.includes('entities: gone'), lines.join('\n'))
  assert.ok(lines.includes('series: gone'), lines.join('\n'))
  assert.match(lines.join('\n'), /^log: by 20/m)
  const isOfLog = (file: string) => file.startsWith(join(dataDir, 'link'))
  assert.deepEqual(
    (await filesWith(dataDir, MARKER)).filter((file) => !isOfLog(file)),
    [],
  )
  // The file that the log was written to goes with the next start at the latest.
  await millrace.stop()
  millrace = await start()
  await eventually(
    () => filesWith(dataDir, MARKER),
    (files) => files.length === 0,
  )
})
