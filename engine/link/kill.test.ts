/** D1 for the log alone: a process that publishes is killed with SIGKILL; what it was told is stored must be there. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { threadArguments } from '../../model/thread-arguments.ts'
import { systemClock } from '../../model/system-clock.ts'
import { Collector } from './contract.ts'
import type { Durability } from '../../disk/disk.ts'
import { nodeDisk } from '../../disk/node-disk.ts'
import { openSegmentLog } from './segments/segment-log.ts'

/** Publishes without end, settles every second delivery, and says so in lines: `a` acknowledged, `s` settled. */
const PUBLISHER = `
import { writeSync } from 'node:fs'
const [directory, durability, first] = process.argv.slice(1)
const { openSegmentLog } = await import('${new URL('./segments/segment-log.ts', import.meta.url).href}')
const { nodeDisk } = await import('${new URL('../../disk/node-disk.ts', import.meta.url).href}')
const { systemClock } = await import('${new URL('../../model/system-clock.ts', import.meta.url).href}')
const { message } = await import('${new URL('./testkit.ts', import.meta.url).href}')
const log = await openSegmentLog({ directory, disk: nodeDisk, clock: systemClock, durability, partitions: 2, bounds: { segmentBytes: 200_000 } })
log.consume({
  room: () => 1000,
  deliver: (batch) => {
    const settled = batch.filter(({ message }) => message.sequence % 2 === 0)
    writeSync(1, settled.map(({ message }) => 's ' + message.id + '\\n').join(''))
    log.settle(settled)
  },
})
let number = Number(first)
const send = () => {
  const id = 'message ' + number++
  log.publish(message({ id, device: number % 10 }), {
    stored: () => { writeSync(1, 'a ' + id + '\\n'); send() },
    refused: (error) => { throw error },
  })
}
for (let count = 0; count < 100; count++) send()
`

async function publishUntilKilled(
  directory: string,
  durability: Durability,
  first: number,
  lines: number,
): Promise<string[]> {
  const args = [...threadArguments(), '--input-type=module', '--eval', PUBLISHER, directory, durability, String(first)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    said.push(line)
    if (said.length === lines) child.kill('SIGKILL')
  })
  const [[, signal]] = (await Promise.all([once(child, 'exit'), once(reader, 'close')])) as [
    [number | null, string | null],
    unknown,
  ]
  assert.equal(signal, 'SIGKILL', 'the publisher ran until it was killed')
  return said
}

for (const durability of ['power-cut', 'process-death'] as const) {
  test(`SIGKILL loses nothing acknowledged, at the level ${durability}`, async (context) => {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-kill-'))
    const acknowledged = new Set<string>()
    const settled = new Set<string>()
    for (let kill = 0; kill < 4; kill++) {
      for (const line of await publishUntilKilled(directory, durability, kill * 1_000_000, 500 + kill * 1700)) {
        const id = line.slice(2)
        if (line.startsWith('a')) acknowledged.add(id)
        else settled.add(id)
      }
    }
    const log = await openSegmentLog({ directory, disk: nodeDisk, clock: systemClock, durability, partitions: 2 })
    const collector = new Collector()
    log.consume(collector)
    await collector.got(log.figures().unsettled)
    const delivered = collector.messages.map(({ id }) => id)
    const present = new Set(delivered)
    assert.equal(present.size, delivered.length, 'nothing comes twice')
    const lost = [...acknowledged].filter((id) => !settled.has(id) && !present.has(id))
    assert.deepEqual(lost, [])
    for (const [index, message] of collector.messages.entries()) {
      assert.ok(message.sequence > (collector.messages[index - 1]?.sequence ?? 0), 'the order of the log is kept')
    }
    const again = delivered.filter((id) => settled.has(id)).length
    context.diagnostic(
      `acknowledged ${acknowledged.size}, settled ${settled.size}, delivered ${delivered.length}, of these settled before the kill ${again}`,
    )
    assert.ok(acknowledged.size > 2000)
    await log.close()
    await rm(directory, { recursive: true })
  })
}
