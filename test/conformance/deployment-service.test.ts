/** The unit for systemd says nothing that systemd does not know, and starts the program as the image does. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { readConfig } from '../../config/read.ts'
import { SETTINGS } from '../../config/settings.ts'
import { requireTool } from '../support/require-tool.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

const UNIT = await readFile(join(PROJECT_ROOT, 'deploy', 'millrace.service'), 'utf8')
const FOLDER = '/opt/millrace'

function valueOf(name: string): string {
  const value = new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1]
  assert.ok(value !== undefined, `the unit has no ${name}`)
  return value
}

test('systemd knows every line of the unit', async (context) => {
  if (!requireTool(context, 'systemd-analyze')) return
  // It looks whether programs and files that a unit names are there: those of this folder are.
  const folder = await mkdtemp(join(tmpdir(), 'unit-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'millrace.service')
  await writeFile(file, UNIT.replaceAll(FOLDER, PROJECT_ROOT).replace('User=millrace', 'User=root'))
  const check = spawn('systemd-analyze', ['verify', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [check.stdout, check.stderr]) stream.on('data', (chunk) => (said += String(chunk)))
  await once(check, 'close')
  // Of other units it may say what it likes.
  const own = said.split('\n').filter((line) => line.includes('millrace'))
  assert.deepEqual(own, [])
})

test('the unit starts the program as the image does, with settings that there are and time to stop', async () => {
  const dockerfile = await readFile(join(PROJECT_ROOT, 'Dockerfile'), 'utf8')
  const entry = z.array(z.string()).parse(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]'))
  assert.equal(valueOf('ExecStart'), `${FOLDER}/${entry.join(' ')}`)
  const settings = Object.fromEntries(
    valueOf('Environment')
      .split(' ')
      .map((entry) => entry.split('=', 2)),
  ) as Record<string, string>
  const known = new Set<string>(['NODE_ENV', ...Object.values(SETTINGS).map(({ name }) => name)])
  assert.deepEqual(
    Object.keys(settings).filter((name) => !known.has(name)),
    [],
  )
  const config = readConfig(settings)
  assert.equal(config.demo, false)
  assert.equal(config.dataDir, `/var/lib/${valueOf('StateDirectory')}`)
  assert.ok(Number(valueOf('TimeoutStopSec')) * 1000 > config.stopTimeoutMs)
})
