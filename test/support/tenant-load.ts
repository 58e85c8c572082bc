/**
 * Load of tenants on the script workers: one that is paced (a neighbour that wants a part of what the pool can do) and one that is
 * hostile (endless scripts, as many messages as it gets rid of). For the noisy-tenant test and its benchmark.
 */
import type { JavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import { Message } from '../../model/message.ts'

export const FILTER =
  "return typeof msg.temperature === 'undefined' || (msg.temperature >= -40 && msg.temperature <= 80);"
const ENDLESS = 'for (;;);'

export function packOf(count: number): readonly Message[] {
  return Array.from(
    { length: count },
    (_, index) =>
      new Message({
        id: '0b1c2d3e-0000-4000-8000-000000000001',
        ts: index,
        type: 'POST_TELEMETRY_REQUEST',
        tenantId: 'tenant',
        originator: { entityType: 'DEVICE', id: '0b1c2d3e-0000-4000-8000-000000000002' },
        metadata: { deviceName: 'Thermometer', deviceType: 'default', ts: '1719915201000' },
        data: JSON.stringify({ temperature: (index % 160) - 50, humidity: 45.5, pressure: 1013 }),
      }),
  )
}

export function compileFor(
  workers: JavaScriptWorkers,
  tenantId: string,
  chain: string,
  body: string,
): Promise<CompiledScript<'filter'>> {
  return workers.compile({
    language: 'JS',
    kind: 'filter',
    body,
    tenantId,
    ownerId: `${tenantId} ${chain} node`,
    ruleChainId: `${tenantId} ${chain}`,
  })
}

export interface LoadResult {
  /** Messages that came out, a second. */
  readonly rate: number
  readonly failed: number
  /** From a pack's sending to its last message, ms. */
  readonly p50Ms: number
  readonly p99Ms: number
}

/** As fast as the pool takes them, `underWay` packs at a time. */
export async function fullLoad(
  script: CompiledScript<'filter'>,
  pack: readonly Message[],
  ms: number,
  underWay = 8,
): Promise<LoadResult> {
  const record = new Record()
  const startedAt = performance.now()
  const feed = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) await record.send(script, pack)
  }
  await Promise.all(Array.from({ length: underWay }, feed))
  return record.result(performance.now() - startedAt)
}

/** So many messages a second, sent when due whether or not those before are done. */
export async function pacedLoad(
  script: CompiledScript<'filter'>,
  pack: readonly Message[],
  rate: number,
  ms: number,
): Promise<LoadResult> {
  const record = new Record()
  const startedAt = performance.now()
  const sending: Promise<void>[] = []
  const everyMs = (pack.length / rate) * 1000
  for (let sent = 0; sent * everyMs < ms; sent++) {
    const due = startedAt + sent * everyMs
    while (performance.now() < due) await turn(due - performance.now())
    sending.push(record.send(script, pack))
  }
  // Only what came out in the time counts.
  const within = await Promise.race([
    Promise.all(sending).then(() => true),
    turn(Math.max(1, startedAt + ms - performance.now())).then(() => false),
  ])
  const result = record.result(Math.max(ms, performance.now() - startedAt))
  if (!within) await Promise.all(sending)
  return result
}

/** Endless scripts in several rule chains, each with packs under way all the time. Returns what ends it. */
export async function startHostileLoad(
  workers: JavaScriptWorkers,
  { chains, packsUnderWay }: { readonly chains: number; readonly packsUnderWay: number },
): Promise<() => Promise<number>> {
  const pack = packOf(100)
  let stopped = false
  let messages = 0
  const feed = async (script: CompiledScript<'filter'>): Promise<void> => {
    while (!stopped) {
      await script.runBatch(pack, { value: () => undefined, error: () => undefined })
      messages += pack.length
      await turn(0)
    }
  }
  const scripts = await Promise.all(
    Array.from({ length: chains }, (_, chain) => compileFor(workers, 'hostile', `chain ${chain}`, ENDLESS)),
  )
  const feeds = scripts.flatMap((script) => Array.from({ length: packsUnderWay }, () => feed(script)))
  return async () => {
    stopped = true
    await Promise.all(feeds)
    return messages
  }
}

class Record {
  private readonly latencies: number[] = []
  private done = 0
  private failed = 0

  async send(script: CompiledScript<'filter'>, pack: readonly Message[]): Promise<void> {
    const sentAt = performance.now()
    await script.runBatch(pack, { value: () => void this.done++, error: () => void this.failed++ })
    this.latencies.push(performance.now() - sentAt)
  }

  result(ms: number): LoadResult {
    const sorted = this.latencies.toSorted((a, b) => a - b)
    const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    return { rate: Math.round((this.done / ms) * 1000), failed: this.failed, p50Ms: at(0.5), p99Ms: at(0.99) }
  }
}

function turn(ms: number): Promise<void> {
  return new Promise((resolve) => (ms < 1 ? setImmediate(resolve) : setTimeout(resolve, ms)))
}
