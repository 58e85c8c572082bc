/** Telemetry posted over HTTP at a rate, from this process. */
import { setTimeout as delay } from 'node:timers/promises'
import type { RunningMillrace } from './start-millrace.ts'

/** Below it a latency says more of the machine than of the neighbour. */
export const FLOOR_MS = 60

export interface PacedPosts {
  /** The access tokens of the devices are `name_0`, `name_1`, … */
  readonly name: string
  readonly devices: number
  readonly seconds: number
  /** Messages a second. */
  readonly rate: number
  /** The body of the nth post. */
  readonly body?: (number: number) => string
}

export interface PostsReport {
  readonly sent: number
  readonly acknowledged: number
  readonly refused: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The seconds in which an answer took longer than FLOOR_MS: one stall of all, or slow throughout? */
  readonly slowSeconds: readonly number[]
}

/** Posts at a rate, device after device, whether or not those before are answered. */
export async function pacedPosts(
  { url }: RunningMillrace,
  { name, devices, seconds, rate, body = (number) => `{"counter":${number}}` }: PacedPosts,
): Promise<PostsReport> {
  const counts = { sent: 0, acknowledged: 0, refused: 0 }
  const latencies: number[] = []
  const slowSeconds = new Set<number>()
  const post = async (number: number): Promise<void> => {
    const sentAt = performance.now()
    const response = await fetch(`${url}/api/v1/${name}_${number % devices}/telemetry`, {
      method: 'POST',
      body: body(number),
    })
    await response.arrayBuffer()
    const latency = performance.now() - sentAt
    latencies.push(latency)
    if (latency > FLOOR_MS) slowSeconds.add(Math.floor((sentAt - began) / 1000))
    if (response.status === 200) counts.acknowledged++
    else counts.refused++
  }
  const began = performance.now()
  const posts: Promise<void>[] = []
  while (performance.now() - began < seconds * 1000) {
    const due = ((performance.now() - began) * rate) / 1000
    while (counts.sent < due) posts.push(post(counts.sent++))
    await delay(5)
  }
  await Promise.all(posts)
  latencies.sort((one, other) => one - other)
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0
  return { ...counts, p50Ms: at(0.5), p99Ms: at(0.99), slowSeconds: [...slowSeconds].sort((one, other) => one - other) }
}
