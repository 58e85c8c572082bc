/**
 * What an acknowledgement is worth on the servers that are there. JetStream answers before its files are synced unless it is set to
 * `sync_interval: always`, and tells no client which it is: its monitoring port does, or the operator vouches for it.
 */
import { z } from 'zod'
import { errorText } from '../../../model/errors.ts'
import { LinkErrors } from '../errors.ts'

/** What acknowledged messages survive: the end of a server's process · the loss of one machine · a power cut of all machines. */
export type ServerDurability = 'process-death' | 'one-machine' | 'power-cut'

export interface DurabilityOptions {
  readonly replicas: number
  /** `http://host:port` of each server's monitoring, with commas between. */
  readonly monitors?: string | undefined
  /** The operator says that all servers are set to `sync_interval: always`. */
  readonly isSynced?: boolean | undefined
  /** Refuse to start where a power cut of one machine would lose acknowledged messages. */
  readonly isStrict?: boolean | undefined
}

export interface DurabilityReport {
  readonly level: ServerDurability
  /** One line for the log and for the health page. */
  readonly text: string
  /** A power cut of one machine loses acknowledged messages, as far as is known. */
  readonly isWarning: boolean
}

const ANSWER_MS = 2000

/** Never waits longer than two seconds. Throws NOT_DURABLE where `isStrict` and a power cut of one machine loses messages. */
export async function checkDurability(options: DurabilityOptions): Promise<DurabilityReport> {
  const sync = options.isSynced === true ? 'the operator says that every write is synced' : await readSync(options)
  const level = levelOf(options, sync)
  const text = `acknowledged messages survive ${SURVIVED[level]}: ${options.replicas} ${options.replicas === 1 ? 'copy' : 'copies'}, ${sync}`
  const isWarning = level === 'process-death'
  if (isWarning && options.isStrict === true) throw LinkErrors.NOT_DURABLE({ text })
  return { level, text, isWarning }
}

const SURVIVED: Readonly<Record<ServerDurability, string>> = {
  'process-death': 'the end of a NATS process, and no power cut',
  'one-machine': 'the loss of one machine, and no power cut of all of them',
  'power-cut': 'a power cut',
}

const SYNCED = 'every server syncs every write'

function levelOf({ replicas, isSynced }: DurabilityOptions, sync: string): ServerDurability {
  if (isSynced === true || sync === SYNCED) return 'power-cut'
  return replicas >= 3 ? 'one-machine' : 'process-death'
}

async function readSync({ monitors }: DurabilityOptions): Promise<string> {
  if (monitors === undefined || monitors === '') return 'whether they sync is not known (no monitoring address is set)'
  const servers = monitors.split(',').map((monitor) => monitor.trim())
  const answers = await Promise.allSettled(servers.map(isSynced))
  for (const [index, answer] of answers.entries()) {
    const server = servers[index] ?? ''
    if (answer.status === 'rejected') return `${server} does not tell whether it syncs (${errorText(answer.reason)})`
    if (!answer.value) return `${server} does not sync every write (sync_interval: always)`
  }
  return SYNCED
}

const JszSchema = z.object({ config: z.object({ sync_always: z.boolean().optional() }) })

async function isSynced(monitor: string): Promise<boolean> {
  const answer = await fetch(new URL('/jsz', monitor), { signal: AbortSignal.timeout(ANSWER_MS) })
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  return JszSchema.parse(await answer.json()).config.sync_always === true
}
