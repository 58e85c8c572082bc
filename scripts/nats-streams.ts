/**
 * Backs up and restores the streams of a link on NATS, by the servers' own snapshots (what `nats stream backup` asks them for):
 *
 *   node scripts/nats-streams.ts backup FOLDER
 *   node scripts/nats-streams.ts restore FOLDER
 *
 * `NATS_URL`, `NATS_PREFIX` and the other settings of NATS say where. Devices and engines continue during a backup. `restore` wants servers
 * without these streams, and Millrace stopped.
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { createInbox, errors, type NatsConnection } from '@nats-io/transport-node'
import { z } from 'zod'
import { readConfig } from '../config/read.ts'
import { connectNats } from '../engine/cluster/nats-connection.ts'
import { natsNames } from '../engine/link/jetstream/nats-names.ts'
import { errorText } from '../model/errors.ts'
import { systemClock } from '../model/system-clock.ts'

const ANSWER_MS = 60_000
const CHUNK_BYTES = 128 * 1024
/**
 * A server ends a restore in which it hears nothing for five seconds, and forgets what it was sent. What it is sent then has no answer, or the
 * one that nobody is there.
 */
const MAX_BEGINNINGS = 5
const CHUNK_ANSWER_MS = 15_000
/** Of a stream: its configuration and state, and its content as the server packs it. */
const FILES = { description: 'backup.json', content: 'stream.tar.s2' } as const

const snapshotSchema = z.object({
  error: z.object({ description: z.string() }).optional(),
  config: z.looseObject({ name: z.string() }).optional(),
  state: z.looseObject({ last_seq: z.number() }).optional(),
})
const restoreSchema = z.object({
  error: z.object({ description: z.string() }).optional(),
  deliver_subject: z.string().optional(),
})

/**
 * In the order that loses nothing while engines work. What a record calls settled is in a store, a parked lane or a dead letter: so records come
 * first, and letters, into which parked messages go, last.
 */
function inOrder(prefix: string, existing: readonly string[]): string[] {
  const { old, records, letters } = natsNames(prefix)
  const last = [`${prefix}_PARKED`, letters]
  const first = [old.records, records]
  const others = existing.filter(
    (name) => name.startsWith(`${prefix}_S`) && !first.includes(name) && !last.includes(name),
  )
  return [...first, ...others, ...last].filter((name) => existing.includes(name))
}

/** Resolves with the names of the streams. A folder has a whole backup when it exists without `.part`. */
async function backup(connection: NatsConnection, prefix: string, folder: string): Promise<string[]> {
  const manager = await jetstreamManager(connection, { timeout: ANSWER_MS })
  const existing: string[] = []
  for await (const name of manager.streams.names()) existing.push(name)
  const names = inOrder(prefix, existing)
  if (names.length === 0) throw new Error(`these servers have no stream ${prefix}_…: see NATS_URL and NATS_PREFIX`)
  const part = `${folder}.part`
  await mkdir(part)
  for (const name of names) await backupStream(connection, name, join(part, name))
  await rename(part, folder)
  return names
}

async function backupStream(connection: NatsConnection, name: string, folder: string): Promise<void> {
  await mkdir(folder)
  const inbox = createInbox()
  const chunks = connection.subscribe(inbox)
  const file = createWriteStream(join(folder, FILES.content), { flush: true })
  try {
    // Readers are made anew at each start of an engine: theirs are not part of the backup.
    const request = { deliver_subject: inbox, no_consumers: true, chunk_size: CHUNK_BYTES }
    const { config, state } = snapshotSchema.parse(await ask(connection, `$JS.API.STREAM.SNAPSHOT.${name}`, request))
    if (config === undefined || state === undefined) throw new Error(`${name}: the snapshot has no description`)
    let isWhole = false
    for await (const chunk of chunks) {
      if (chunk.data.length === 0) {
        const failure = chunk.headers?.code ?? 0
        if (failure >= 400) throw new Error(`${name}: the server broke the snapshot off: ${chunk.headers?.description}`)
        isWhole = true
        break
      }
      if (!file.write(chunk.data)) await once(file, 'drain')
      chunk.respond()
    }
    if (!isWhole) throw new Error(`${name}: the connection ended within the snapshot`)
    await writeFile(join(folder, FILES.description), JSON.stringify({ config, state }, undefined, 2), { flush: true })
  } finally {
    chunks.unsubscribe()
    file.end()
    await once(file, 'close')
  }
}

async function restore(connection: NatsConnection, prefix: string, folder: string): Promise<string[]> {
  const names = inOrder(prefix, await readdir(folder))
  if (names.length === 0) throw new Error(`${folder} has no backup of ${prefix}_…`)
  for (const name of names) await restoreStream(connection, name, join(folder, name))
  return names
}

class RestoreGivenUp extends Error {}

async function restoreStream(connection: NatsConnection, name: string, folder: string): Promise<void> {
  for (let beginning = 1; ; beginning++) {
    try {
      return await sendContent(connection, name, folder)
    } catch (error) {
      if (!(error instanceof RestoreGivenUp) || beginning === MAX_BEGINNINGS) throw error
      process.stderr.write(`${name}: the server heard nothing for too long; its restore begins anew\n`)
    }
  }
}

function isForgotten(error: unknown): boolean {
  if (error instanceof errors.RequestError) return error.isNoResponders()
  return error instanceof errors.NoRespondersError || error instanceof errors.TimeoutError
}

async function sendContent(connection: NatsConnection, name: string, folder: string): Promise<void> {
  const description = snapshotSchema.parse(JSON.parse(await readFile(join(folder, FILES.description), 'utf8')))
  const begun = restoreSchema.parse(await ask(connection, `$JS.API.STREAM.RESTORE.${name}`, description))
  if (begun.deliver_subject === undefined) throw new Error(`${name}: the server named no place for the content`)
  const file = await open(join(folder, FILES.content))
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES))
      if (bytesRead === 0) break
      const answer = await connection
        .request(begun.deliver_subject, buffer.subarray(0, bytesRead), { timeout: CHUNK_ANSWER_MS })
        .catch((error: unknown) => {
          throw isForgotten(error) ? new RestoreGivenUp(`${name}: ${errorText(error)}`) : error
        })
      if (answer.data.length > 0) throw new Error(`${name}: ${answer.string()}`)
    }
  } finally {
    await file.close()
  }
  // An empty message ends the content; its answer comes when the stream is there.
  const ended = snapshotSchema.parse(
    (await connection.request(begun.deliver_subject, '', { timeout: ANSWER_MS })).json(),
  )
  if (ended.error !== undefined) throw new Error(`${name}: ${ended.error.description}`)
  // What was stored while the snapshot was written may be in it too.
  const [restored = -1, expected = 0] = [ended.state?.last_seq, description.state?.last_seq]
  if (restored < expected) throw new Error(`${name}: restored up to ${restored} and not up to ${expected}`)
}

async function ask(connection: NatsConnection, subject: string, request: object): Promise<unknown> {
  const answer: unknown = (await connection.request(subject, JSON.stringify(request), { timeout: ANSWER_MS })).json()
  const { error } = restoreSchema.parse(answer)
  if (error !== undefined) throw new Error(`${subject}: ${error.description}`)
  return answer
}

async function main(): Promise<number> {
  const [action = '', target] = process.argv.slice(2)
  const actions = new Map([
    ['backup', backup],
    ['restore', restore],
  ])
  const act = actions.get(action)
  if (act === undefined || target === undefined) {
    process.stderr.write('node scripts/nats-streams.ts backup|restore FOLDER\n')
    return 1
  }
  const config = readConfig(process.env)
  const line = await connectNats({
    servers: config.natsUrl,
    credsFile: config.natsCredsFile,
    tls: { caFile: config.natsCaFile, certFile: config.natsCertFile, keyFile: config.natsKeyFile },
    name: `millrace ${action}`,
    clock: systemClock,
  })
  try {
    const names = await act(line.connection, config.natsPrefix, resolve(target))
    process.stdout.write(`${names.join(', ')}: ${action === 'backup' ? 'copied' : 'restored'}\n`)
    return 0
  } finally {
    await line.close()
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`)
  process.exitCode = 1
}
