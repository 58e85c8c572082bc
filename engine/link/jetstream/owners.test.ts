/**
 * D2, O1, K1, K2 for the link alone: engines that join, leave, are killed and stopped, and a broker that is killed, while numbered messages of
 * twenty devices are published. Nothing acknowledged is lost, and each device's messages come in their order.
 */
import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { threadArguments } from '../../../model/thread-arguments.ts'
import { soleMember } from '../../cluster/membership.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { requireOwnServer, startNats, startNatsCluster } from '../../../test/support/servers/index.ts'
import { message } from '../testkit.ts'
import { newPrefix, openTestLink, type OpenTestLink } from './nats-testkit.ts'

const DEVICES = 20

class Engine {
  readonly name: string
  readonly process: ChildProcessWithoutNullStreams
  readonly ready: Promise<void>
  readonly events: string[] = []

  constructor(name: string, args: readonly string[], onLine: (engine: Engine, line: string) => void) {
    this.name = name
    const file = new URL('./engine-process.ts', import.meta.url).pathname
    this.process = spawn(process.execPath, [...threadArguments(), file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.process.stderr.pipe(process.stderr)
    this.ready = new Promise((resolve, reject) => {
      createInterface({ input: this.process.stdout }).on('line', (line) => {
        if (line === 'ready') resolve()
        else if (line.startsWith('e ')) this.events.push(line)
        else onLine(this, line)
      })
      this.process.once('exit', () => reject(new Error(`${name} ended before it was ready`)))
    })
  }

  async kill(): Promise<void> {
    const exit = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await exit
  }

  async close(): Promise<void> {
    const exit = once(this.process, 'exit')
    this.process.stdin.write('close\n')
    await exit
  }
}

/** Publishes one message a device at a time, as a device with one message in flight does, and keeps account. */
class Ledger {
  readonly acknowledged = new Set<string>()
  /** First deliveries by device, in the order in which they were told. */
  readonly first = new Map<number, number[]>()
  readonly deliveries = new Map<string, string[]>()
  /** Who delivered something for the first time. */
  readonly engines = new Set<string>()
  refused = 0
  /** The longest time between two first deliveries of one device. */
  longestPauseMs = 0
  private readonly lastMs = new Map<number, number>()
  private readonly publisher: OpenTestLink
  private readonly settled = new Set<string>()
  /** Acknowledged and not settled. */
  private readonly unsettled = new Set<string>()
  private isStopping = false
  private open = 0
  private whenQuiet: (() => void) | undefined
  private waiting: { readonly isDone: () => boolean; readonly resolve: () => void }[] = []

  constructor(publisher: OpenTestLink) {
    this.publisher = publisher
  }

  start(): void {
    for (let device = 0; device < DEVICES; device++) this.send(device, 0)
  }

  line(engine: Engine, line: string): void {
    const id = line.slice(2)
    if (line.startsWith('s ')) {
      this.settled.add(id)
      this.unsettled.delete(id)
    } else {
      const [device = 0, number = 0] = id.split('-').map(Number)
      const known = this.deliveries.get(id)
      if (known === undefined) {
        this.engines.add(engine.name)
        const now = systemClock.monotonic()
        this.longestPauseMs = Math.max(this.longestPauseMs, now - (this.lastMs.get(device) ?? now))
        this.lastMs.set(device, now)
        this.deliveries.set(id, [engine.name])
        const numbers = this.first.get(device)
        if (numbers === undefined) this.first.set(device, [number])
        else numbers.push(number)
      } else known.push(engine.name)
    }
    this.waiting = this.waiting.filter(({ isDone, resolve }) => !isDone() || void resolve())
  }

  until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push({ isDone, resolve }))
  }

  /** So many more messages were delivered for the first time. */
  more(count: number): Promise<void> {
    const goal = this.deliveries.size + count
    return this.until(() => this.deliveries.size >= goal)
  }

  async stop(): Promise<void> {
    this.isStopping = true
    if (this.open > 0) await new Promise<void>((resolve) => (this.whenQuiet = resolve))
    await this.until(() => this.unsettled.size === 0)
  }

  check(context: TestContext, least: number): void {
    const lost = [...this.acknowledged].filter((id) => !this.deliveries.has(id))
    let inversions = 0
    for (const numbers of this.first.values()) {
      numbers.forEach((number, index) => (inversions += number < (numbers[index - 1] ?? -1) ? 1 : 0))
    }
    const again = [...this.deliveries.values()].filter((names) => names.length > 1).length
    context.diagnostic(
      `acknowledged ${this.acknowledged.size}, lost ${lost.length}, out of order ${inversions}, delivered again ${again}, ` +
        `refused ${this.refused}, longest pause of a device ${Math.round(this.longestPauseMs)} ms`,
    )
    assert.deepEqual(lost, [])
    assert.equal(inversions, 0)
    assert.ok(this.acknowledged.size >= least, `${this.acknowledged.size} acknowledged`)
  }

  private send(device: number, number: number): void {
    if (this.isStopping) return
    this.open++
    const id = `${device}-${number}`
    this.publisher.link.publish(message({ id, device }), {
      stored: () => {
        this.acknowledged.add(id)
        if (!this.settled.has(id)) this.unsettled.add(id)
        this.ended(device, number + 1)
      },
      refused: () => {
        // As a device does that was not answered: the next message comes a moment later.
        this.refused++
        systemClock.after(50, () => this.ended(device, number + 1))
      },
    })
  }

  private ended(device: number, number: number): void {
    this.open--
    // A pause, so that a slow machine is not the limit of the test.
    systemClock.after(2, () => this.send(device, number))
    if (this.open === 0 && this.isStopping) this.whenQuiet?.()
  }
}

interface Stage {
  readonly ledger: Ledger
  readonly engine: (name: string) => Promise<Engine>
}

async function onStage(servers: string, replicas: number, play: (stage: Stage) => Promise<void>): Promise<void> {
  const prefix = newPrefix()
  const membership = soleMember({ id: 'publisher', roles: ['transport'], startedAt: 0 })
  const publisher = await openTestLink({ servers, prefix, membership, settings: { partitions: 8, replicas } })
  const ledger = new Ledger(publisher)
  const engines: Engine[] = []
  try {
    await play({
      ledger,
      engine: async (name) => {
        const args = [servers, prefix, '8', String(replicas)]
        const engine = new Engine(name, args, (from, line) => ledger.line(from, line))
        engines.push(engine)
        await engine.ready
        return engine
      },
    })
  } finally {
    await publisher.close()
    for (const { process: child } of engines)
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  }
}

test('O1: engines that join, leave and are killed: nothing acknowledged is lost, the order of a device is kept', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const nats = await startNats({ syncInterval: 'always' })
  context.after(() => nats.stop())
  await onStage(nats.url, 1, async ({ ledger, engine }) => {
    const a = await engine('a')
    ledger.start()
    await ledger.more(500)
    const b = await engine('b')
    await ledger.until(() => ledger.engines.has('b'))
    await ledger.more(500)
    await a.kill()
    await ledger.more(1000)
    const c = await engine('c')
    await ledger.until(() => ledger.engines.has('c'))
    await b.close()
    await ledger.more(1000)
    await ledger.stop()
    await c.close()
    ledger.check(context, 3000)
  })
})

test('an engine that is stopped for five seconds is replaced, and delivers nothing that is another’s when it goes on', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const nats = await startNats({ syncInterval: 'always' })
  context.after(() => nats.stop())
  await onStage(nats.url, 1, async ({ ledger, engine }) => {
    const a = await engine('a')
    const b = await engine('b')
    ledger.start()
    await ledger.until(() => ledger.engines.size === 2)
    await ledger.more(300)
    a.process.kill('SIGSTOP')
    await ledger.more(300)
    await new Promise<void>((resolve) => void systemClock.after(5000, resolve))
    const before = new Map([...ledger.deliveries].map(([id, names]) => [id, names.length]))
    a.process.kill('SIGCONT')
    await ledger.more(1000)
    await ledger.stop()
    const secondHand = [...ledger.deliveries].filter(([id, names]) => {
      return names[0] === 'b' && names.slice(before.get(id) ?? 1).includes('a')
    })
    assert.deepEqual(secondHand, [], 'the stopped engine delivered what another had')
    assert.ok(
      a.events.some((event) => event.includes('slept')),
      a.events.join('\n'),
    )
    await Promise.all([a.close(), b.close()])
    ledger.check(context, 1500)
  })
})

test('NATS killed and started again amid publishing: nothing acknowledged is lost, all goes on by itself', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const nats = await startNats({ syncInterval: 'always' })
  context.after(() => nats.stop())
  await onStage(nats.url, 1, async ({ ledger, engine }) => {
    const a = await engine('a')
    ledger.start()
    for (let kill = 0; kill < 3; kill++) {
      await ledger.more(300)
      await nats.kill()
      await new Promise<void>((resolve) => void systemClock.after(500, resolve))
      await nats.restart()
    }
    await ledger.more(500)
    await ledger.stop()
    await a.close()
    ledger.check(context, 1400)
  })
})

test('a cluster of three loses its nodes one after the other: nothing acknowledged is lost', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const cluster = await startNatsCluster(3)
  context.after(() => cluster.stop())
  await onStage(cluster.url, 3, async ({ ledger, engine }) => {
    const a = await engine('a')
    const b = await engine('b')
    ledger.start()
    for (const node of cluster.nodes) {
      await ledger.more(200)
      await node.kill()
      await ledger.more(100)
      await node.restart()
    }
    await ledger.more(200)
    await ledger.stop()
    await Promise.all([a.close(), b.close()])
    ledger.check(context, 1000)
  })
})
